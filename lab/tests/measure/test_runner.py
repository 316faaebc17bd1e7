# SPDX-License-Identifier: BSD-2-Clause
"""Runs on a made-up board: nothing that was measured is lost, and messages say what happened."""

import contextlib
import errno
import io
import json
import os
import re
import signal
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Any

import msgspec
import pytest
from click.testing import CliRunner

from fake_board import FakeBoard, teebench
from synthetic import Synthetic, write
from teemark.base import paths, shutdown
from teemark.base.errors import BootError, CommandFailed, ConnectionLost, DataError, UsageMistake
from teemark.base.work import Work
from teemark.boards import own_ta
from teemark.boards.shell import Process
from teemark.cli import main as cli
from teemark.cli import run as run_command
from teemark.measure import progress, runner, teehash_steps
from teemark.measure.progress import watching
from teemark.measure.runner import Starts
from teemark.plan.file import CaseLine, HashStep, Plan, load_plan, parse_plan
from teemark.run import reader
from teemark.run.records import AnyRecord, Fail, Sample, Start, Teehash
from teemark.run.records import Case as CaseRecord
from teemark.run.writer import RunWriter, directory_for, new_directory, point_latest
from teemark.wording import fmt

PLAN = parse_plan(
    'summary = "Small."\n[[cases]]\nworkload = "invoke"\nbackends = ["tee"]\nsamples = 12\n',
    name="small",
    file="small.toml",
)


class Recorder(runner.RunListener):
    def __init__(self) -> None:
        self.records: list[AnyRecord] = []
        self.was_quiet = False

    def record(self, record: AnyRecord) -> None:
        self.records.append(record)

    def quiet(self) -> None:
        self.was_quiet = True


@pytest.fixture
def board(tmp_path: Path) -> FakeBoard:
    programs = tmp_path / "programs"
    programs.mkdir()
    output = Synthetic(samples=6, algorithms=("sha256", "sha512")).lines()[
        1:
    ]  # what teebench writes
    (programs / "output").write_bytes(b"".join(output))
    teebench(programs, f'cat >"{programs}/cases"\ncat "{programs}/output"\n')
    return FakeBoard(programs)


def test_a_run_is_kept_byte_for_byte(board: FakeBoard, tmp_path: Path) -> None:
    watcher = Recorder()
    outcome = runner.measure(board, PLAN, tmp_path / "run", watcher)
    assert outcome.error is None
    assert outcome.file == tmp_path / "run" / "run.ndjson"
    head, start, rest = outcome.file.read_bytes().split(b"\n", 2)
    assert json.loads(start) == {"type": "start", "number": 1, "kind": "round"}
    assert rest == (board.programs / "output").read_bytes()
    header = json.loads(head)
    assert header["type"] == "run"
    assert (header["board"], header["plan"], header["cases"]) == ("fake", "small", 1)
    assert (board.programs / "cases").read_text() == "invoke/none/tee/none samples=12\n"
    assert len(watcher.records) == 1 + rest.count(b"\n")
    assert not watcher.was_quiet
    assert not (tmp_path / "run" / "run.ndjson.partial").exists()
    assert reader.read(outcome.file).incomplete is None


@pytest.mark.parametrize("deterministic", [False, True])
@pytest.mark.parametrize("rpmb", [False, True])
def test_rpmb_is_allowed_by_the_board_file_alone(
    board: FakeBoard, tmp_path: Path, *, deterministic: bool, rpmb: bool
) -> None:
    plan = FakeBoard(board.programs, deterministic=deterministic)
    plan.config = msgspec.structs.replace(plan.config, rpmb=rpmb)
    teebench(board.programs, f'echo "$@" >"{tmp_path}/said"\nexit 1\n')
    with pytest.raises((CommandFailed, DataError)):
        runner.measure(plan, PLAN, tmp_path / "run", Recorder())
    assert ("--allow-rpmb" in (tmp_path / "said").read_text().split()) is rpmb


def test_dropped_connection_keeps_what_came(board: FakeBoard, tmp_path: Path) -> None:
    teebench(board.programs, f'head -n 300 "{board.programs}/output"; printf \'{{"ty\'; exit 255')
    outcome = runner.measure(board, PLAN, tmp_path / "run", Recorder())
    assert isinstance(outcome.error, ConnectionLost)
    run = reader.read(outcome.file)
    assert run.incomplete == "fake: the connection broke"
    assert run.end is not None
    assert run.end.reason == "connection-lost"
    assert run.cases


def test_program_that_dies(board: FakeBoard, tmp_path: Path) -> None:
    script = f'head -n 300 "{board.programs}/output"; echo Segmentation fault >&2; exit 139'
    teebench(board.programs, script)
    outcome = runner.measure(board, PLAN, tmp_path / "run", Recorder())
    assert isinstance(outcome.error, CommandFailed)
    assert outcome.error.message == (
        "fake: teebench was killed by SIGSEGV before its end record: Segmentation fault"
    )
    assert reader.read(outcome.file).incomplete == outcome.error.message


def test_program_that_is_not_there(board: FakeBoard, tmp_path: Path) -> None:
    teebench(board.programs, "echo teebench: not found >&2; exit 127")
    with pytest.raises(CommandFailed) as error:
        runner.measure(board, PLAN, tmp_path / "run", Recorder())
    assert error.value.hint == "see `teemark setup fake`"
    assert not (tmp_path / "run").exists()


def test_silent_program(board: FakeBoard, tmp_path: Path) -> None:
    teebench(board.programs, "exit 0")
    with pytest.raises(CommandFailed, match="before its end record"):
        runner.measure(board, PLAN, tmp_path / "run", Recorder())
    assert not (tmp_path / "run").exists()


def test_nonsense_in_the_stream_is_named_and_kept(board: FakeBoard, tmp_path: Path) -> None:
    script = f'head -n 3 "{board.programs}/output"; echo nonsense; exit 0'
    teebench(board.programs, script)
    outcome = runner.measure(board, PLAN, tmp_path / "run", Recorder())
    assert isinstance(outcome.error, DataError)
    assert "run.ndjson:6: not JSON" in outcome.error.message
    assert outcome.file.read_bytes().endswith(b"nonsense\n")


def test_interrupted_run_is_whole_but_incomplete(board: FakeBoard, tmp_path: Path) -> None:
    end = '{"type":"end","complete":false,"reason":"interrupted"}'
    teebench(board.programs, f"head -n 300 \"{board.programs}/output\"; echo '{end}'; exit 130")
    outcome = runner.measure(board, PLAN, tmp_path / "run", Recorder())
    assert outcome.error is None
    assert reader.read(outcome.file).incomplete == "interrupted (Ctrl-C, SIGINT)"


def test_quiet_board_is_asked_afterwards(board: FakeBoard, tmp_path: Path) -> None:
    quiet = FakeBoard(board.programs, deterministic=True)
    teebench(
        board.programs,
        "while [ $# -gt 0 ]; do case $1 in --cases) c=$2;; --output) o=$2;; esac; shift; done\n"
        f'cp "$c" "{board.programs}/cases"; cp "{board.programs}/output" "$o"\n',
    )
    watcher = Recorder()
    outcome = runner.measure(quiet, PLAN, tmp_path / "run", watcher)
    assert outcome.error is None
    assert watcher.was_quiet
    run = reader.read(outcome.file)
    assert run.header is not None
    assert run.header.icount
    assert run.incomplete is None
    assert (board.programs / "cases").read_text() == "invoke/none/tee/none samples=12\n"


def test_quiet_board_leaves_a_partial_file(board: FakeBoard, tmp_path: Path) -> None:
    quiet = FakeBoard(board.programs, deterministic=True)
    teebench(
        board.programs,
        "while [ $# -gt 0 ]; do case $1 in --output) o=$2;; esac; shift; done\n"
        f'head -n 300 "{board.programs}/output" >"$o.partial"; exit 139\n',
    )
    outcome = runner.measure(quiet, PLAN, tmp_path / "run", Recorder())
    assert isinstance(outcome.error, CommandFailed)
    assert reader.read(outcome.file).incomplete


def test_a_terminated_teemark_fetches_what_a_quiet_board_measured(
    board: FakeBoard, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """SIGTERM after half an hour loses nothing."""
    quiet = FakeBoard(board.programs, deterministic=True)
    teebench(
        board.programs,
        "while [ $# -gt 0 ]; do case $1 in --output) o=$2;; esac; shift; done\n"
        f'head -n 300 "{board.programs}/output" >"$o.partial"; exit 143\n',
    )
    waited: list[float | None] = []
    wait = Process.wait

    def ended_once(process: Process, timeout: float | None = None) -> int:
        if "--cases" in process.argv:
            waited.append(timeout)
            if len(waited) == 1:
                raise SystemExit(143)
        return wait(process, timeout)

    monkeypatch.setattr(Process, "wait", ended_once)
    with pytest.raises(SystemExit):
        runner.measure(quiet, PLAN, tmp_path / "run", Recorder())
    run = reader.read(tmp_path / "run")
    assert run.incomplete == "teemark was ended by a signal"
    assert run.cases


def test_runs_are_not_overwritten(board: FakeBoard, tmp_path: Path) -> None:
    runner.measure(board, PLAN, tmp_path / "run", Recorder())
    with pytest.raises(UsageMistake, match="there is a run already"):
        runner.measure(board, PLAN, tmp_path / "run", Recorder())


def test_what_a_killed_run_left_is_not_overwritten(board: FakeBoard, tmp_path: Path) -> None:
    (tmp_path / "run").mkdir()
    partial = tmp_path / "run" / "run.ndjson.partial"
    partial.write_bytes(b"measured\n")
    with pytest.raises(UsageMistake, match="what a killed run left"):
        runner.measure(board, PLAN, tmp_path / "run", Recorder())
    assert partial.read_bytes() == b"measured\n"
    assert list((tmp_path / "run").iterdir()) == [partial]


def test_of_runs_at_the_same_moment_each_gets_a_folder(tmp_path: Path) -> None:
    wanted = tmp_path / "runs" / "20260102T030405Z-fake-small"
    with ThreadPoolExecutor(8) as pool:
        made = list(pool.map(lambda _: new_directory(wanted), range(8)))
    assert len(set(made)) == 8
    assert wanted in made
    assert wanted.with_name(f"{wanted.name}-8") in made


def test_starts_are_measured_one_after_the_other(board: FakeBoard, tmp_path: Path) -> None:
    booted = []
    watcher = Recorder()
    starts = runner.Starts(3, "boot", again=lambda: booted.append(len(watcher.records)))
    outcome = runner.measure(board, PLAN, tmp_path / "run", watcher, starts)
    assert outcome.error is None
    each = (board.programs / "output").read_bytes().count(b"\n") + 1
    assert booted == [each, 2 * each]
    run = reader.read(outcome.file)
    assert run.incomplete is None
    assert [(start.number, start.kind) for start in run.starts] == [(n, "boot") for n in (1, 2, 3)]
    samples = run.cases["invoke/none/tee/none"].starts
    assert [len(start) for start in samples] == [6, 6, 6]


def test_a_resumption_takes_the_boot_that_was_made_for_it(board: FakeBoard, tmp_path: Path) -> None:
    first = runner.measure(board, PLAN, tmp_path / "one", Recorder())
    booted: list[int] = []
    starts = runner.Starts(1, "boot", again=lambda: booted.append(1))
    more = runner.measure(board, PLAN, tmp_path / "two", Recorder(), starts, before=first.file)
    assert booted == []
    assert [start.number for start in reader.read(more.file).starts] == [1, 2]


def test_a_board_that_does_not_come_up_again(board: FakeBoard, tmp_path: Path) -> None:
    def again() -> None:
        raise BootError("fake: it didn't boot")

    starts = runner.Starts(3, "boot", again=again)
    outcome = runner.measure(board, PLAN, tmp_path / "run", Recorder(), starts)
    assert isinstance(outcome.error, BootError)
    run = reader.read(outcome.file)
    assert run.incomplete == "fake: it didn't boot (in start 2 of 3)"
    assert run.cases


def test_a_start_that_is_interrupted_is_the_last(board: FakeBoard, tmp_path: Path) -> None:
    def again() -> None:
        raise KeyboardInterrupt

    starts = runner.Starts(3, "boot", again=again)
    outcome = runner.measure(board, PLAN, tmp_path / "run", Recorder(), starts)
    assert outcome.error is None
    assert reader.read(outcome.file).incomplete == "interrupted (Ctrl-C, SIGINT) (in start 2 of 3)"


def test_a_terminated_teemark_leaves_a_run_that_says_so(board: FakeBoard, tmp_path: Path) -> None:
    class Killed(Recorder):
        def record(self, record: AnyRecord) -> None:
            super().record(record)
            if len(self.records) == 400:
                raise SystemExit(143)

    with pytest.raises(SystemExit):
        runner.measure(board, PLAN, tmp_path / "run", Killed())
    assert reader.read(tmp_path / "run").incomplete == "teemark was ended by a signal"


@pytest.mark.parametrize("lines", [0, 300])
def test_a_program_that_ctrl_c_killed_is_no_failure(
    board: FakeBoard, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, lines: int
) -> None:
    """teebench may be killed before it takes signals, as while the board is slow. Where it measured
    something, the run is kept as interrupted. Killed by a signal that nobody sent it has failed."""
    teebench(board.programs, f'head -n {lines} "{board.programs}/output"; exit 130')
    with contextlib.suppress(CommandFailed):
        failed = runner.measure(board, PLAN, tmp_path / "failed", Recorder())
        assert lines
        assert isinstance(failed.error, CommandFailed)
    state = shutdown._State()
    state.signum = signal.SIGINT
    monkeypatch.setattr(shutdown, "_state", state)
    monkeypatch.setattr(shutdown, "_set_timer", lambda *_: None)
    with contextlib.suppress(KeyboardInterrupt):
        interrupted = runner.measure(board, PLAN, tmp_path / "run", Recorder())
        assert lines
        assert interrupted.error is None
        assert reader.read(tmp_path / "run").incomplete == "interrupted (Ctrl-C, SIGINT)"
    assert (tmp_path / "run").exists() == bool(lines)


@pytest.mark.parametrize(
    ("problem", "says"),
    [
        (KeyboardInterrupt(), "interrupted (Ctrl-C, SIGINT)"),
        (ConnectionLost("fake: gone"), "fake: gone"),
        (OSError(errno.ENOSPC, "No space left on device", "/tmp/x"), "/tmp/x: can't be written"),
    ],
)
def test_what_teebench_counted_stays_where_only_teehash_was_broken_off(
    board: FakeBoard,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    problem: BaseException,
    says: str,
) -> None:
    def broken(*_args: object) -> None:
        raise problem

    monkeypatch.setattr(teehash_steps, "records", broken)
    runner.measure(board, PLAN, tmp_path / "run", Recorder())
    run = reader.read(tmp_path / "run")
    assert run.incomplete is not None
    assert run.incomplete.startswith(says)
    assert run.end is not None
    assert run.end.duration_ns


def test_full_disk_here(board: FakeBoard, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The last whole line stays, and the end record gets the room that was held back."""
    room = 20_000

    class Full(io.FileIO):
        def write(self, data: Any, /) -> int:
            there = Path(self.name).stat().st_size
            held = (tmp_path / "run" / ".run.ndjson.room").exists()
            left = room + (0 if held else 4096) - there
            if left <= 0:
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            return super().write(bytes(data)[:left])

    monkeypatch.setattr(Path, "open", lambda path, mode, **_: Full(path, mode.replace("b", "")))
    outcome = runner.measure(board, PLAN, tmp_path / "run", Recorder())
    monkeypatch.undo()
    assert outcome.error is not None
    assert outcome.error.message.endswith("can't be written: No space left on device")
    run = reader.read(outcome.file)
    assert run.incomplete == outcome.error.message
    assert run.cases
    assert sorted(path.name for path in (tmp_path / "run").iterdir()) == ["run.ndjson"]


def test_full_disk_on_the_board(board: FakeBoard, tmp_path: Path) -> None:
    quiet = FakeBoard(board.programs, deterministic=True)
    teebench(
        board.programs,
        "while [ $# -gt 0 ]; do case $1 in --output) o=$2;; esac; shift; done\n"
        f'head -n 300 "{board.programs}/output" >"$o.partial"\n'
        'echo "teebench: cannot write to /tmp/x: No space left on device" >&2\n'
        'echo "teebench: hint: make room" >&2; exit 1\n',
    )
    outcome = runner.measure(quiet, PLAN, tmp_path / "run", Recorder())
    incomplete = reader.read(outcome.file).incomplete
    assert incomplete is not None
    assert incomplete.endswith("cannot write to /tmp/x: No space left on device")


def test_directory_that_cannot_be_made(board: FakeBoard, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(DataError, match="can't be written"):
        runner.measure(board, PLAN, tmp_path / "file" / "run", Recorder())


def test_a_new_folder_says_when_where_and_what(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(paths, "runs", lambda: tmp_path)
    found = directory_for(None, "qemu-v8", "quick")
    assert re.fullmatch(r"\d{8}T\d{6}Z-qemu-v8-quick", found.name)
    assert found.is_dir()
    assert directory_for(tmp_path / "mine", "qemu-v8", "quick") == tmp_path / "mine"


def test_latest_is_replaced(tmp_path: Path) -> None:
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        point_latest(tmp_path / name)
        assert (tmp_path / "latest").resolve() == (tmp_path / name).resolve()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["latest", "one", "two"]


def test_progress_estimates() -> None:
    counts = progress.Progress(PLAN)
    assert counts.expected == 12
    assert counts.ahead(1.0) is None
    counts.began, counts.samples = 0.0, 20
    counts.asked["x"] = 28
    assert counts.ahead(10.0) == pytest.approx((0.5, 10.0))


def test_progress_of_a_quiet_board_learns_from_its_first_start(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Samples of two starts say nothing before each ends: the first goes by the guess, the second
    by the first."""
    now = 100.0
    monkeypatch.setattr("time.monotonic", lambda: now)
    counts = progress.Progress(PLAN, Starts(2, guess_s=40.0))
    counts.record(Start(number=1, kind="boot"))
    counts.quiet()
    assert counts.ahead(110.0) == pytest.approx((0.125, 70.0))
    assert counts.ahead(500.0) == pytest.approx((0.5, 40.0))
    now = 180.0
    counts.record(Start(number=2, kind="boot"))
    counts.quiet()
    assert counts.ahead(200.0) == pytest.approx((0.625, 60.0))


@pytest.mark.parametrize("quiet", [False, True])
def test_without_a_terminal_each_tenth_has_a_line(
    quiet: bool, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    now = 0.0
    monkeypatch.setattr("time.monotonic", lambda: now)
    with watching(PLAN, "a plan", Starts(guess_s=50.0)) as watcher:
        if quiet:
            watcher.quiet()
        for number in range(200):
            now += 0.25
            if quiet:
                watcher.waiting()
            else:
                watcher.asked = {"x": 200}
                watcher.record(
                    Sample(case="x", seq=number, repeat=1, loops=1, ns=5, source="client-clock")
                )
    lines = capsys.readouterr().err.splitlines()
    tenths = [line for line in lines if " left" in line]
    assert [line.split()[2] for line in tenths] == [f"{share}0%," for share in range(1, 10)]
    assert "0:05 left" in tenths[-1]
    assert all(("at a guess" in line) is quiet for line in tenths)


def test_progress_counts_hashed_files_apart() -> None:
    step = HashStep(bytes=4096, runs=3)
    counts = progress.Progress(Plan("files", "files alone", teehash=(step,)))
    assert (counts.hashed, counts.files_expected, counts.expected) == (0, 3, 0)
    counts.record(Teehash(case=step.key, seq=0, argv=(), report={}))
    assert (counts.hashed, counts.files_expected) == (1, 3)
    counts.record(Fail(case=step.key, reason="wrong"))
    assert counts.files_expected == 1


@pytest.fixture
def command(
    board: FakeBoard, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> tuple[FakeBoard, list[str]]:
    monkeypatch.setattr(run_command, "open_board", lambda _word: FakeBoard(board.programs))
    monkeypatch.setattr(own_ta, "ensure_installed", lambda _board, **_: [])
    file = tmp_path / "fake.toml"
    file.write_text('kind = "ssh"\naddress = "fake"\n')
    args = ["run", "--board", str(file), "--plan", "quick", "--out", str(tmp_path / "out")]
    return board, args


def test_run_command(command: tuple[FakeBoard, list[str]], tmp_path: Path) -> None:
    result = CliRunner().invoke(cli.cli, [*command[1], "--json"], standalone_mode=False)
    assert result.return_value == 0, result.output
    summary = json.loads(result.stdout)
    assert summary["complete"]
    assert summary["measured"] == 74
    assert summary["skipped"] == 12
    for name in ("run.ndjson", "report.html", "report.md"):
        assert (tmp_path / "out" / name).exists()
    again = CliRunner().invoke(cli.cli, command[1], standalone_mode=False)
    assert again.exception is not None
    assert "there is a run already" in str(again.exception)


def test_run_command_text(command: tuple[FakeBoard, list[str]]) -> None:
    result = CliRunner().invoke(cli.cli, command[1], standalone_mode=False)
    assert result.return_value == 0
    table = re.search(r"\n SHA-256\b.*?\n\n", re.sub(" +\n", "\n", result.stdout), re.S)
    assert table
    assert re.search(
        r"TEE +TEE API .*\n(.*\n)* Linux +C, normal world .*\n(.*\n)* +OpenSSL ", table[0]
    )
    assert len(result.stdout.splitlines()) <= 50
    assert max(map(len, result.stdout.partition("report:")[0].splitlines())) <= 80
    assert "A call into the TEE costs" in result.stdout
    assert "report.html" in result.stdout


def test_run_command_after_a_drop(command: tuple[FakeBoard, list[str]], tmp_path: Path) -> None:
    board, args = command
    teebench(board.programs, f'head -n 500 "{board.programs}/output"; exit 255')
    result = CliRunner().invoke(cli.cli, args, standalone_mode=False)
    assert result.return_value == 1
    assert "hint: look at the cable" in result.stderr
    assert "This run is incomplete. fake: the connection broke." in result.stderr
    assert "This run is incomplete" in (tmp_path / "out" / "report.html").read_text()


REFUSED: dict[str, object] = {
    "code": "ta-rejected",
    "hint": "sign it",
    "reason": "cannot open: TEE_ERROR_SECURITY",
}
ABSENT: dict[str, object] = {"code": "no-tee", "hint": None, "reason": "there is no /dev/tee0"}


def without_the_tee(board: FakeBoard, why: dict[str, object]) -> None:
    """Every case of the TEE is skipped."""
    records = Synthetic(samples=6, algorithms=("sha256",)).records()[1:]
    left = []
    for record in records:
        if "/t" not in str(record.get("case")):
            left.append(record)
        elif record["type"] == "case":
            left.append({"type": "skip", "case": record["case"], **why})
    text = "".join(json.dumps(record) + "\n" for record in left)
    (board.programs / "output").write_text(text)


def test_a_tee_that_could_not_be_used_is_no_success(
    command: tuple[FakeBoard, list[str]], tmp_path: Path
) -> None:
    without_the_tee(command[0], REFUSED)
    result = CliRunner().invoke(cli.cli, command[1], standalone_mode=False)
    assert result.return_value == 1
    said = "The TEE couldn't be used. It is there, but 19 of "
    assert said in result.stderr
    assert "Cannot open: TEE_ERROR_SECURITY. Sign it." in result.stderr
    assert re.search(r"TAs that the vendor signs add 19 cases \(tee, ", result.stderr)
    first, second = (tmp_path / "out" / "report.md").read_text().splitlines()[0:3:2]
    assert first.startswith("# ")
    assert second.startswith("> **The TEE couldn't be used.**")
    assert (
        CliRunner()
        .invoke(cli.cli, ["report", str(tmp_path / "out")], standalone_mode=False)
        .return_value
        == 1
    )


def test_a_machine_without_a_tee_is_fine_and_named_so(
    command: tuple[FakeBoard, list[str]], tmp_path: Path
) -> None:
    without_the_tee(command[0], ABSENT)
    result = CliRunner().invoke(cli.cli, command[1], standalone_mode=False)
    assert result.return_value == 0
    assert "This machine has no TEE." in result.stderr
    title = (tmp_path / "out" / "report.md").read_text().splitlines()[0]
    assert title.startswith("# What crypto costs on fake, without a TEE, ")


def test_how_long_is_told_before_anything_is_measured(
    command: tuple[FakeBoard, list[str]],
) -> None:
    result = CliRunner().invoke(cli.cli, [*command[1], "--rounds", "2"], standalone_mode=False)
    assert result.return_value == 0
    first = result.stderr.splitlines()[0]
    assert re.fullmatch(r"quick on fake: \d+ cases, 2 times: about .* at a guess", first)


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (["--boots", "2"], "no virtual board"),
        (["--boots", "0"], "0 is not in the range"),
        (["--boots", "2", "--rounds", "2"], "exclude each other"),
    ],
)
def test_starts_that_make_no_sense(
    command: tuple[FakeBoard, list[str]], options: list[str], says: str, tmp_path: Path
) -> None:
    result = CliRunner().invoke(cli.cli, [*command[1], *options], standalone_mode=False)
    assert says in str(result.exception)
    assert not (tmp_path / "out").exists()


def test_ways_of_saying_how_long() -> None:
    assert [fmt.roughly_minutes(s) for s in (3, 42, 100, 130, 4000, 9000)] == [
        "a few seconds",
        "about 40 seconds",
        "about 100 seconds",
        "about 2 minutes",
        "about 67 minutes",
        "about 2 hours",
    ]


def test_progress_counts_the_drivers_that_a_board_has() -> None:
    asked = CaseLine(Work.of("oneshot/sha256/afalg:*/64"), samples=5)
    counts = progress.Progress(Plan("drivers", "each", cases=(asked,)))
    for driver in ("sha256-ce", "sha256-generic"):
        counts.record(
            CaseRecord(
                case=f"oneshot/sha256/afalg:{driver}/64",
                workload="oneshot",
                algorithm="sha256",
                backend=f"afalg:{driver}",
                parameters="64",
                bytes=64,
                verified=True,
                samples=5,
                repeat=(1,),
                loops=(1,),
            )
        )
    assert (counts.cases, counts.expected) == (2, 10)


def test_what_the_last_whole_run_took(board: FakeBoard, tmp_path: Path) -> None:
    """It is of the same cases on the same board, started as often; nothing is guessed from
    others."""
    runs = tmp_path / "runs"

    def took(starts: int = 1, plan: Plan = PLAN) -> float | None:
        return runner.took_before(runs, "fake", plan, starts, events=False)

    assert took() is None
    for day, seconds in (("01", 40), ("02", 50)):
        folder = runs / f"202610{day}T000000Z-fake-{PLAN.name}"
        file = runner.measure(board, PLAN, folder, Recorder()).file
        began = datetime.fromisoformat(json.loads(file.read_text().splitlines()[0])["started"])
        os.utime(file, (0, began.timestamp() + seconds))
    assert took() == 50
    assert took(starts=2) is None
    assert took(plan=replace(PLAN, cases=PLAN.cases[:-1])) is None
    assert runner.took_before(runs, "fake", PLAN, 1, events=True) is None
    text = file.read_text().splitlines(keepends=True)
    file.write_text("".join(text[:-1]))  # broken off
    assert took() == 40


def test_the_guess_knows_of_traced_calls() -> None:
    """The exact board took 52 s of CPU for `explain`, 86 with --trace-events. Cases of
    the normal world are not traced."""
    plan = load_plan("explain")
    took = {False: 52, True: 86}
    for events, truth in took.items():
        guess = runner.seconds(plan, deterministic=True, events=events)
        assert truth / 1.5 < guess < truth * 1.5
    outside = replace(plan, cases=tuple(c for c in plan.cases if c.work.backend == "openssl"))
    assert outside.cases
    without = runner.seconds(outside, deterministic=True)
    assert runner.seconds(outside, deterministic=True, events=True) == without


@pytest.mark.parametrize(
    ("name", "took"),
    [
        ("quick", 54),
        ("asymmetric", 82),
        ("pkcs11", 40),
        ("rpi3-secure-hash", 177),
        ("api-vs-custom", 65),
        ("mqtt-tz-blocks", 250),
        ("beaglebone-hw-crypto", 246),
        ("gate", 16),
        ("trace", 10.7),
    ],
)
def test_the_guess_is_right_within_a_factor_of_one_and_a_half(name: str, took: float) -> None:
    """CPU seconds of the exact board from its first case on, and 8 ms of waiting a sample."""
    guess = runner.seconds(load_plan(name), deterministic=True)
    assert took / 1.5 < guess < took * 1.5


def test_the_guess_of_a_locked_tee_is_a_few_seconds() -> None:
    """It took 8.4 s of CPU, and 18 s by the clock of a machine at a load of 11."""
    guess = runner.seconds(load_plan("locked"), deterministic=False)
    assert fmt.roughly_minutes(guess) == "a few seconds"


def test_the_guess_traces_as_many_calls_as_teebench() -> None:
    source = (paths.root() / "host/src/teebench/bench.c").read_text(encoding="utf-8")
    names = {"MOST": runner._TRACED_MOST, "LEAST": runner._TRACED_LEAST}
    names["NS"] = int(runner._TRACED_S * 1e9)
    for name, value in names.items():
        (there,) = re.findall(rf"TRACED_{name}(?: =)? (\d+)", source)
        assert int(there) == value


def test_a_signal_beside_the_file_leaves_no_partial_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It may come when only the header is written, or while the file gets its name."""
    with contextlib.suppress(KeyboardInterrupt), RunWriter(tmp_path / "begun") as writer:
        writer.line(b"{}\n")
        raise KeyboardInterrupt
    assert not (tmp_path / "begun").exists()

    def fsync(_fd: int) -> None:
        shutdown._hear(signal.SIGINT, None)

    monkeypatch.setattr(shutdown, "_state", shutdown._State())
    monkeypatch.setattr("os.fsync", fsync)
    try:
        with RunWriter(tmp_path / "ending") as writer:
            writer.line(b"{}\n")
            file = writer.finish()
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
    assert file.read_bytes() == b"{}\n"
    assert shutdown.signalled() == signal.SIGINT


@pytest.mark.parametrize("signum", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("told", [False, True])
def test_a_signal_while_a_board_explains_a_lost_connection_seals_the_run(
    board: FakeBoard,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    signum: signal.Signals,
    told: bool,  # whether an earlier signal was told to teebench, and raised nothing
) -> None:
    teebench(board.programs, f'cat "{board.programs}/output"; exit 255')
    monkeypatch.setattr(shutdown, "_state", shutdown._State())
    monkeypatch.setattr(shutdown, "_set_timer", lambda *_: None)
    monkeypatch.setattr(Process, "signal", lambda *_: None)

    class First(Recorder):
        def record(self, record: AnyRecord) -> None:
            super().record(record)
            if told and len(self.records) == 300:
                shutdown._hear(signum, None)

    def consoles_last() -> str:
        shutdown._hear(signum, None)
        raise AssertionError("the signal raised nothing")

    monkeypatch.setattr(board, "consoles_last", consoles_last)
    ending: type[BaseException] = SystemExit if signum == signal.SIGTERM else KeyboardInterrupt
    with contextlib.suppress(ending):
        runner.measure(board, PLAN, tmp_path / "run", First())
    assert not (tmp_path / "run" / reader.PARTIAL_FILE).exists()
    incomplete = reader.read(tmp_path / "run").incomplete
    assert incomplete in ("interrupted (Ctrl-C, SIGINT)", "teemark was ended by a signal")


@pytest.mark.parametrize("when", ["begun", "sealed"])
def test_a_signal_beside_a_start_neither_loses_nor_doubles_its_end(
    board: FakeBoard, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, when: str
) -> None:
    """It comes while a start's first or last record is written, and is raised after that."""
    monkeypatch.setattr(shutdown, "_state", shutdown._State())
    monkeypatch.setattr(shutdown, "_set_timer", lambda *_: None)
    record, line = RunWriter.record, RunWriter.line

    def starts(writer: RunWriter, written: AnyRecord) -> None:
        if when == "begun" and isinstance(written, Start) and written.number == 2:
            shutdown._hear(signal.SIGINT, None)
        record(writer, written)

    def ends(writer: RunWriter, raw: bytes) -> None:
        line(writer, raw)
        if when == "sealed" and b'"end"' in raw and not shutdown.signalled():
            shutdown._hear(signal.SIGINT, None)

    monkeypatch.setattr(RunWriter, "record", starts)
    monkeypatch.setattr(RunWriter, "line", ends)
    runner.measure(board, PLAN, tmp_path / "run", Recorder(), Starts(2))
    text = (tmp_path / "run" / reader.RUN_FILE).read_bytes()
    assert (text.count(b'"type":"start"'), text.count(b'"end"')) == (2, 2)
    assert reader.read(tmp_path / "run").incomplete == (
        "interrupted (Ctrl-C, SIGINT) (in start 2 of 2)"
    )


def test_a_bar_has_room_for_the_time_that_is_left(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """On 80 columns “nothing on the wire until i… 0:53 left, at …” left no bar at all."""
    for name, value in (("COLUMNS", "80"), ("TERM", "xterm"), ("TTY_COMPATIBLE", "1")):
        monkeypatch.setenv(name, value)
    monkeypatch.setattr("sys.stderr.isatty", lambda: True)
    title = "beaglebone-hw-crypto on qemu-v8-icount"
    with progress._bar(title) as draw:
        what = ": measuring; nothing on the wire until it is done"
        draw(what, 0.1, "4:10 left, at a guess", "")
    lines = re.split(r"[\r\n]", re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", capfd.readouterr().err))
    last = next(line.rstrip() for line in reversed(lines) if "left" in line)
    assert re.fullmatch(rf"\S {title}: measuring [━╺╸]{{12}} 4:10 left", last)


@pytest.mark.parametrize("unreached", [False, True])
def test_a_run_that_lacks_cases_is_resumed(
    command: tuple[FakeBoard, list[str]],
    tmp_path: Path,
    unreached: bool,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The connection broke; what is missing is measured, and stands in one run with the rest. After
    a TEE that hung, a second start may not have reached the board. What the TA takes, though, is
    asked of all cases."""
    board, args = command
    output = (board.programs / "output").read_bytes()
    teebench(board.programs, f'head -n 500 "{board.programs}/output"; exit 255')
    typed_first = [*args, "--label", "by=me"]
    CliRunner().invoke(cli.cli, typed_first, standalone_mode=False, obj=typed_first)
    with (tmp_path / "out" / "run.ndjson").open("a") as file:
        for record in (
            {"type": "start", "number": 2, "kind": "round"},
            {"type": "end", "complete": False, "reason": "connection-lost"},
        ) * unreached:
            file.write(json.dumps(record) + "\n")
    first = reader.read(tmp_path / "out")
    lacking = {missing.case for missing in first.missing}
    assert first.incomplete
    assert lacking
    # This board measures whatever is asked of it
    rest = [line for line in output.splitlines(keepends=True) if asked(line, lacking)]
    (board.programs / "output").write_bytes(b"".join(rest))
    teebench(board.programs, f'cat >"{board.programs}/cases"\ncat "{board.programs}/output"\n')
    more = ["run", "--resume", str(tmp_path / "out"), "--out", str(tmp_path / "again")]
    more += args[1:3]
    plans: list[Plan] = []
    monkeypatch.setattr(run_command, "_ta_memory", lambda _board, _ta, plan: plans.append(plan))
    result = CliRunner().invoke(cli.cli, more, standalone_mode=False)
    assert [plan.cases for plan in plans] == [load_plan("quick").cases]
    typed = (board.programs / "cases").read_text().splitlines()
    assert {line.split()[0] for line in typed} <= lacking
    again = reader.read(tmp_path / "again")
    assert again.incomplete is None, result.output
    assert again.header is not None
    assert again.header.command == f"teemark run --board {args[2]} --plan quick --label by=me"
    assert again.labels == {"by": "me"}
    (tmp_path / "1-fake-quick").symlink_to(tmp_path / "again")  # Its time is that of a part
    assert runner.took_before(tmp_path, "fake", load_plan("quick"), 1, events=False) is None
    had = {json.loads(line).get("case") for line in output.splitlines()}
    assert {case.key for case in again.sound} >= lacking & had
    assert all(len(case.starts) == 1 for case in again.sound)
    whole = (tmp_path / "again" / "run.ndjson").read_bytes().splitlines()
    kept = (tmp_path / "out" / "run.ndjson").read_bytes().splitlines()[1:]
    assert whole[1 : len(kept) + 1] == kept
    again_and_again = ["run", "--resume", str(tmp_path / "again"), *args[1:3]]
    nothing = CliRunner().invoke(cli.cli, again_and_again, standalone_mode=False)
    assert "lacks no case of quick" in str(nothing.exception)


def asked(line: bytes, keys: set[str]) -> bool:
    """Says whether a teebench that is asked for these cases would write the line."""
    case = json.loads(line).get("case")
    return case is None or case in keys


def test_a_case_that_failed_is_replaced_by_its_resumption() -> None:
    records = Synthetic(samples=6, algorithms=("sha256",)).records()
    key = "oneshot/sha256/c/64"
    mine = [record for record in records if record.get("case") == key]
    fail: dict[str, object] = {"type": "fail", "case": key, "reason": "wrong output"}
    end = {"type": "end", "complete": False, "reason": "interrupted"}
    one: list[dict[str, object]] = [records[0] | {"schema": 4}]
    one.append({"type": "start", "number": 1, "kind": "round"})
    one += [*records[1:-1], fail, end]
    two = [{"type": "start", "number": 2, "kind": "round", "resumes": True}, records[1], *mine]
    broken = reader.parse([json.dumps(record).encode() + b"\n" for record in one], file="x")
    assert key not in {case.key for case in broken.sound}
    lines = [json.dumps(record).encode() + b"\n" for record in (*one, *two, records[-1])]
    whole = reader.parse(lines, file="x")
    assert whole.incomplete is None
    assert whole.fails == ()
    assert len(whole.cases[key].samples) == sum(record["type"] == "sample" for record in mine)
    cut_off = reader.parse(lines[:-1], file="x")
    assert cut_off.incomplete is not None


def test_a_resumption_replaces_all_that_there_is_of_a_case() -> None:
    """A first call stands before the case; a step of teehash has no case record."""
    key, step = "oneshot/sha256/c/64", "teehash/sha256/c/stream/warm/64/64/inline"
    begun, machine, *rest, end = Synthetic(samples=6, algorithms=("sha256",)).records()
    cut = {"type": "end", "complete": False, "reason": "interrupted"}
    failed: list[dict[str, object]] = [
        {"type": "fail", "case": step, "reason": "wrong digest"},
        {"type": "fail", "case": key, "reason": "old"},
    ]

    def of(ns: int) -> list[dict[str, object]]:
        first = {"type": "first", "case": key, "what": "call", "ns": ns}
        mine = [r for r in rest if r.get("case") == key and r["type"] != "first"]
        report: dict[str, object] = {"files": [], "ns": ns}
        return [first, *mine, {"type": "teehash", "case": step, "seq": 0, "argv": [],
                               "report": report}]  # fmt: skip

    one = {"type": "start", "number": 1, "kind": "round"}
    two = {"type": "start", "number": 2, "kind": "round", "resumes": True}
    records = [begun | {"schema": 4}, one, machine, *of(1), *failed, cut, two, machine, *of(2), end]
    whole = reader.parse([json.dumps(record).encode() + b"\n" for record in records], file="x")
    assert [record.ns for record in whole.cases[key].first] == [2]
    assert [record.report["ns"] for record in whole.teehash] == [2]
    assert whole.as_asked
    assert (len(whole.starts), whole.starts_a_case) == (2, 1)
    still = [
        *records[: records.index(two) + 2],
        {"type": "fail", "case": key, "reason": "new"},
        end,
    ]
    lines = [json.dumps(record).encode() + b"\n" for record in still]
    reasons = {fail.case: fail.reason for fail in reader.parse(lines, file="x").fails}
    assert reasons == {key: "new", step: "wrong digest"}


def test_a_run_is_resumed_on_its_own_board(
    command: tuple[FakeBoard, list[str]], tmp_path: Path
) -> None:
    write(Synthetic(samples=6, board="other").records()[:-9], tmp_path / "of")
    args = ["run", "--resume", str(tmp_path / "of"), *command[1][1:]]
    result = CliRunner().invoke(cli.cli, args, standalone_mode=False)
    assert isinstance(result.exception, UsageMistake)
    assert "is of other, not of" in str(result.exception)


def test_a_run_of_several_starts_is_not_resumed(
    command: tuple[FakeBoard, list[str]], tmp_path: Path
) -> None:
    write(Synthetic(samples=6, starts=2).records(), tmp_path / "two")
    args = ["run", "--resume", str(tmp_path / "two"), *command[1][1:3]]
    result = CliRunner().invoke(cli.cli, args, standalone_mode=False)
    assert isinstance(result.exception, UsageMistake)
    assert "several starts can't be resumed" in str(result.exception)


def test_a_dry_run_says_what_would_be_done_and_does_nothing(
    command: tuple[FakeBoard, list[str]], tmp_path: Path
) -> None:
    board, args = command
    (board.programs / "teebench").unlink()
    result = CliRunner().invoke(cli.cli, [*args, "--dry-run"], standalone_mode=False)
    assert result.return_value == 0, result.output
    assert re.search(r"quick on fake: \d+ cases", result.stdout)
    assert str(board.programs) in result.stdout
    assert "--remove` takes them away" in result.stdout
    assert not (tmp_path / "out").exists()


def test_an_option_that_is_there_twice_is_a_mistake(
    command: tuple[FakeBoard, list[str]], tmp_path: Path
) -> None:
    """Only the last plan was measured, without a word about the first."""
    args = [*command[1], "--plan", "asymmetric"]
    result = CliRunner().invoke(cli.cli, args, standalone_mode=False)
    assert isinstance(result.exception, UsageMistake)
    assert "--plan is there 2 times: quick and asymmetric" in str(result.exception)
    assert not (tmp_path / "out").exists()


def test_tracepoints_that_traced_nothing_are_said(
    command: tuple[FakeBoard, list[str]], tmp_path: Path
) -> None:
    legs = {
        "type": "legs", "case": "invoke/none/tee/none", "seq": 0, "repeat": 1, "ns": None,
        "legs": None, "resolution_ns": 0, "source": "tracepoints",
        "reason": "tracefs is for root only",
    }  # fmt: skip
    lines = (command[0].programs / "output").read_bytes().splitlines(keepends=True)
    lines.insert(-1, json.dumps(legs).encode() + b"\n")
    (command[0].programs / "output").write_bytes(b"".join(lines))
    result = CliRunner().invoke(cli.cli, command[1], standalone_mode=False)
    assert "The kernel's tracepoints traced no call" in result.stderr
    assert "Tracefs is for root only" in result.stderr


def test_a_run_keeps_its_command_line(command: tuple[FakeBoard, list[str]], tmp_path: Path) -> None:
    line = [*command[1], "--rounds", "1", "--label", "a=b c"]
    CliRunner().invoke(cli.cli, line, standalone_mode=False, obj=line)
    header = reader.read(tmp_path / "out").header
    assert header is not None
    words = ["run", *line[1:5], "--rounds 1 --label 'a=b c'"]  # not where it is written
    assert header.command == f"teemark {' '.join(words)}"
    assert header.plan_title == "What a call into the TEE and a digest cost"
