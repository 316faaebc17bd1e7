# SPDX-License-Identifier: BSD-2-Clause
"""Runs on a made-up board: nothing that was measured is lost, and messages say what happened."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path

import msgspec
import pytest
from click.testing import CliRunner

import teemark.boards
from fake_board import FakeBoard, teebench
from synthetic import Synthetic
from teemark import cli, plan, runner
from teemark.errors import CommandFailed, ConnectionLost, DataError
from teemark.run import reader
from teemark.run.records import AnyRecord, Fail, Teehash
from teemark.run.writer import point_latest

PLAN = plan.parse(
    'summary = "Small."\n[[cases]]\nworkload = "invoke"\nbackends = ["tee"]\nsamples = 12\n',
    name="small",
    file="small.toml",
)


class Recorder:
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
    head, rest = outcome.file.read_bytes().split(b"\n", 1)
    assert rest == (board.programs / "output").read_bytes()
    header = json.loads(head)
    assert header["type"] == "run"
    assert (header["board"], header["plan"], header["cases"]) == ("fake", "small", 1)
    assert (board.programs / "cases").read_text() == "invoke/none/tee/none samples=12\n"
    assert len(watcher.records) == rest.count(b"\n")
    assert not watcher.was_quiet
    assert not (tmp_path / "run" / "run.ndjson.partial").exists()
    assert reader.read(outcome.file).incomplete is None


@pytest.mark.parametrize("deterministic", [False, True])
@pytest.mark.parametrize("rpmb", [False, True])
def test_rpmb_is_allowed_by_the_board_file_alone(
    board: FakeBoard, tmp_path: Path, *, deterministic: bool, rpmb: bool
) -> None:
    asked = FakeBoard(board.programs, deterministic=deterministic)
    asked.config = msgspec.structs.replace(asked.config, rpmb=rpmb)
    teebench(board.programs, f'echo "$@" >"{tmp_path}/said"\nexit 1\n')
    with pytest.raises((CommandFailed, DataError)):
        runner.measure(asked, PLAN, tmp_path / "run", Recorder())
    assert ("--allow-rpmb" in (tmp_path / "said").read_text().split()) is rpmb


def test_dropped_connection_keeps_what_came(board: FakeBoard, tmp_path: Path) -> None:
    teebench(board.programs, f'head -n 300 "{board.programs}/output"; printf \'{{"ty\'; exit 255')
    outcome = runner.measure(board, PLAN, tmp_path / "run", Recorder())
    assert isinstance(outcome.error, ConnectionLost)
    run = reader.read(outcome.file)
    assert run.incomplete == "cut off in the middle of line 302"
    assert run.cases


def test_program_that_dies(board: FakeBoard, tmp_path: Path) -> None:
    script = f'head -n 300 "{board.programs}/output"; echo Segmentation fault >&2; exit 139'
    teebench(board.programs, script)
    outcome = runner.measure(board, PLAN, tmp_path / "run", Recorder())
    assert isinstance(outcome.error, CommandFailed)
    assert outcome.error.message == (
        "fake: teebench ended with status 139 before its end record: Segmentation fault"
    )
    assert reader.read(outcome.file).incomplete == "cut off: there is no end record"


def test_program_that_is_not_there(board: FakeBoard, tmp_path: Path) -> None:
    teebench(board.programs, "echo teebench: not found >&2; exit 127")
    with pytest.raises(CommandFailed) as error:
        runner.measure(board, PLAN, tmp_path / "run", Recorder())
    assert error.value.hint == "install it with `teemark setup fake`"
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
    assert "run.ndjson:5: not JSON" in outcome.error.message
    assert outcome.file.read_bytes().endswith(b"nonsense\n")


def test_interrupted_run_is_whole_but_incomplete(board: FakeBoard, tmp_path: Path) -> None:
    end = '{"type":"end","complete":false,"reason":"interrupted"}'
    teebench(board.programs, f"head -n 300 \"{board.programs}/output\"; echo '{end}'; exit 130")
    outcome = runner.measure(board, PLAN, tmp_path / "run", Recorder())
    assert outcome.error is None
    assert reader.read(outcome.file).incomplete == "interrupted"


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
    assert run.run is not None
    assert run.run.icount
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


def test_runs_are_not_overwritten(board: FakeBoard, tmp_path: Path) -> None:
    runner.measure(board, PLAN, tmp_path / "run", Recorder())
    with pytest.raises(DataError, match="is there already"):
        runner.measure(board, PLAN, tmp_path / "run", Recorder())


def test_directory_that_cannot_be_made(board: FakeBoard, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(DataError, match="can't be written"):
        runner.measure(board, PLAN, tmp_path / "file" / "run", Recorder())


def test_default_directory() -> None:
    now = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
    found = runner.default_directory(Path("runs"), "qemu-v8", "quick", now)
    assert str(found) == "runs/20260102T030405Z-qemu-v8-quick"


def test_latest_is_replaced(tmp_path: Path) -> None:
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        point_latest(tmp_path / name)
        assert (tmp_path / "latest").resolve() == (tmp_path / name).resolve()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["latest", "one", "two"]


def test_progress_estimates() -> None:
    progress = runner.Progress.of(PLAN)
    assert progress.expected == 12
    assert progress.seconds_left(1.0) is None
    progress.began, progress.samples = 0.0, 20
    progress.asked["x"] = 28
    assert progress.seconds_left(10.0) == pytest.approx(10.0)


def test_progress_counts_hashed_files_apart() -> None:
    step = plan.Step(bytes=4096, runs=3)
    progress = runner.Progress.of(plan.Plan("files", "files alone", teehash=(step,)))
    assert (progress.hashed, progress.files_expected, progress.expected) == (0, 3, 0)
    progress.see(Teehash(case=step.key, seq=0, argv=(), report={}))
    assert (progress.hashed, progress.files_expected) == (1, 3)
    progress.see(Fail(case=step.key, reason="wrong"))
    assert progress.files_expected == 1


@pytest.fixture
def command(
    board: FakeBoard, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> tuple[FakeBoard, list[str]]:
    class Open(FakeBoard):
        def __enter__(self) -> Open:
            return self

    opened = Open(board.programs)
    monkeypatch.setattr(teemark.boards, "open_board", lambda _word: opened)
    monkeypatch.setattr(teemark.boards, "ensure_installed", lambda _board: [])
    args = ["run", "--board", "fake", "--plan", "quick", "--out", str(tmp_path / "out")]
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
    assert "there is a run in" in str(again.exception)


def test_run_command_text(command: tuple[FakeBoard, list[str]]) -> None:
    result = CliRunner().invoke(cli.cli, command[1], standalone_mode=False)
    assert result.return_value == 0
    assert "oneshot/sha256/ta-ce" in result.stdout
    assert "An empty call into the TEE takes" in result.stdout
    assert "report.html" in result.stdout


def test_run_command_after_a_drop(command: tuple[FakeBoard, list[str]], tmp_path: Path) -> None:
    board, args = command
    teebench(board.programs, f'head -n 500 "{board.programs}/output"; exit 255')
    result = CliRunner().invoke(cli.cli, args, standalone_mode=False)
    assert isinstance(result.exception, ConnectionLost)
    assert "the run is incomplete: cut off: there is no end record" in result.stderr
    assert "This run is incomplete" in (tmp_path / "out" / "report.html").read_text()
