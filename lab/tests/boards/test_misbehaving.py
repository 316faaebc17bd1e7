# SPDX-License-Identifier: BSD-2-Clause
"""Boards that talk too much, hang or lie: each is answered in one sentence, with the board's name,
in bounded memory and time.

All of them are met by one process that may have 300 MB of address space. Only where a board hangs
are the limits of time some seconds.
"""

import contextlib
import json
import os
import re
import resource
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fake_board import FakeBoard, teebench
from synthetic import Synthetic
from teemark.base import paths
from teemark.base.errors import BoardError, BoardHangs, CommandFailed, TeeHangs
from teemark.boards import VirtualBoard, answers, build, config, shell, tas
from teemark.boards.install import ensure_installed, remove
from teemark.boards.instances import LocalProcess, new_instance
from teemark.doctor import look
from teemark.measure import runner, silence, teehash_steps, watching
from teemark.plan.file import HashStep, parse_plan
from teemark.trace import calls

ADDRESS_SPACE = 300 << 20

PLAN = parse_plan(
    'summary = "Small."\n[[cases]]\nworkload = "invoke"\nbackends = ["tee"]\nsamples = 12\n'
    '[[cases]]\nworkload = "oneshot"\nalgorithms = ["sha256"]\nbackends = ["c"]\nsizes = [64]\n',
    name="small",
    file="small.toml",
)
DEEP = '{"a":' * 100_000 + "1" + "}" * 100_000


@dataclass(frozen=True)
class Board:
    """How one misbehaves: what its shell does before each command, and its programs."""

    name: str
    does: str
    """Says what is asked of it: a key of ACTS."""
    says: str
    """A pattern of the sentence; empty: nothing is wrong after all."""
    greeting: str = ""
    programs: Mapping[str, str] = field(default_factory=dict)

    @property
    def hangs(self) -> bool:
        """A limit of time is what finds it out; no other board may meet one on a busy machine."""
        return "took more than" in self.says or "doesn't answer" in self.says


def program(name: str, script: str) -> dict[str, str]:
    return {name: script}


def bench(script: str) -> dict[str, str]:
    """teebench: the first 40 records that are right, and then this."""
    return {"teebench": f'cat >/dev/null; head -n 40 "$HOME/output"; {script}'}


def head(script: str) -> dict[str, str]:
    """head: the beginning of a record of calls, and this for all of it."""
    return program("head", f'[ -z "$3" ] || exec dd bs=24 count=1 <"$HOME/calls"; {script}')


FLOOD = "head -c 20000000 /dev/zero | tr '\\0' x"

BOARDS = (
    Board("greets", "setup", "", "echo 'Welcome to Poky!';"),
    Board("greets without a line's end", "setup", "", "printf 'machine aarch64';"),
    Board("greets when files are fetched", "pull", "", "echo 'Welcome to Poky!';"),
    Board("greets when all is taken away", "remove", "", "echo 'Welcome to Poky!';"),
    Board("says goodbye", "setup", "", "trap 'echo; echo machine sparc' EXIT;"),
    Board("lets nobody in", "setup", "isn't run by the shell there", "echo no account; exit 1;"),
    Board("greets without end", "setup", "took more than 2 s", "yes;"),
    Board("complains without end", "setup", "took more than 2 s", "yes >&2;"),
    Board("greets for 20 MB", "setup", "took more than|^$", f"{FLOOD};"),
    Board("never answers", "setup", "took more than 2 s", "sleep 60;"),
    Board("is a poet", "setup", "understood", programs=program("uname", "echo O machine; echo 2")),
    Board("has no name", "setup", "understood", programs=program("uname", "echo")),
    Board("steers terminals", "setup", "understood", programs=program("uname", r"printf '\033c'")),
    Board("is no text", "setup", "understood", programs=program("uname", r"printf '\377\376'")),
    Board(
        "answers for 20 MB",
        "setup",
        "more than 16 MiB|took more than 2 s",
        programs=program("uname", FLOOD),
    ),
    Board(
        "hashes oddly", "setup", "understood|didn't arrive", programs=program("sha256sum", "echo x")
    ),
    Board("has odd modes", "pull", "understood", programs=program("stat", "echo rwxrwxrwx")),
    Board("sends a line without end", "run", "a line of more than 4 MiB", programs=bench(FLOOD)),
    Board(
        "complains for 20 MB",
        "run",
        "before its end record",
        programs=bench(f"{FLOOD} >&2; exit 1"),
    ),
    Board(
        "sends records without end",
        "run",
        "many more records",
        programs=bench('while cat "$HOME/sample"; do :; done'),
    ),
    Board("sends deep JSON", "run", "nested too deep", programs=bench('cat "$HOME/deep record"')),
    Board(
        "sends no UTF-8",
        "run",
        "not JSON|not a record",
        programs=bench(r"printf '{\"type\":\"\377\"}\n'"),
    ),
    Board(
        "sends strangers",
        "run",
        "not a record of teemark",
        programs=bench('echo \'{"type":"cake"}\''),
    ),
    Board(
        "sends no number", "run", "not JSON", programs=bench('echo \'{"type":"sample","ns":NaN}\'')
    ),
    Board(
        "sends a huge number",
        "run",
        "not a record|not JSON",
        programs=bench('echo \'{"type":"skip","case":1e999}\''),
    ),
    Board("ends at once", "run", "before its end record", programs=program("teebench", ":")),
    Board("crashes", "run", "was killed by SIGSEGV", programs=bench("kill -s SEGV $$")),
    Board(
        "colours its complaint",
        "run",
        "before its end record: .\\[31mred",
        programs=bench(r"printf '\033[31mred\n' >&2; exit 1"),
    ),
    Board(
        "falls silent", "run", "the board doesn't answer any more", "sleep 60 &&", bench("sleep 60")
    ),
    Board(
        "has a TEE that hangs",
        "run",
        "the TEE doesn't answer: no record came",
        programs=program(
            "teebench",
            "case $1 in --open-tas) sleep 60;; esac\n"
            'grep -q tee && { head -n 40 "$HOME/output"; sleep 60; }\n'
            'cat "$HOME/normal"',
        ),
    ),
    Board(
        "has a TEE that never opens",
        "open",
        "the TEE doesn't answer: no session",
        programs=program("teebench", "sleep 60"),
    ),
    Board(
        "opens TAs in rhyme",
        "open",
        "understood",
        programs=program("teebench", "echo roses are red"),
    ),
    Board(
        "opens TAs deeply",
        "open",
        "nested too deep",
        programs=program("teebench", 'cat "$HOME/deep"'),
    ),
    Board(
        "makes folders nowhere",
        "quiet run",
        "understood",
        programs=program("mktemp", "echo rm -rf"),
    ),
    Board(
        "keeps no records", "quiet run", "before its end record", programs=program("teebench", ":")
    ),
    Board(
        "has a deep digest",
        "hash",
        "ended with status 0",
        programs=program("teehash", 'cat "$HOME/deep"'),
    ),
    Board(
        "hashes to a list", "hash", "ended with status 0", programs=program("teehash", "echo '[1]'")
    ),
    Board(
        "has disks of rubber",
        "hash",
        "understood|no folder|Illegal|expr|number",
        programs=program("df", "echo a b c d; echo a b c d"),
    ),
    Board("watches nothing", "watch", "no process of prog could be watched"),
    Board("keeps calls in rhyme", "watch", "understood", programs=program("head", "echo rose")),
    Board(
        "counts calls without end",
        "watch",
        "no record of a program's calls",
        programs=program("head", r"printf 'TWATCH1\000\377\377\377\377\377\377\377\37701234567'"),
    ),
    Board(
        "keeps calls of no kind",
        "watch",
        "no kind that is known",
        programs=head('cat "$HOME/calls"'),
    ),
    Board(
        "has fewer calls than it says",
        "watch",
        "its end is missing",
        programs=head('dd bs=100 count=1 <"$HOME/calls"'),
    ),
    Board(
        "sends calls without end",
        "watch",
        "sends more than 4 MiB",
        programs=head("dd if=/dev/zero bs=1000000 count=20"),
    ),
    Board("makes no folder", "watch", "understood", programs=program("mktemp", "echo a b c")),
    Board(
        "is a machine of its own kind",
        "machine",
        "understood",
        programs=program("teebench", "echo '{\"tee\": 7}'"),
    ),
    Board(
        "is a deep machine",
        "machine",
        "nested too deep",
        programs=program("teebench", 'cat "$HOME/deep"'),
    ),
)


def _run(board: FakeBoard, folder: Path) -> str:
    outcome = runner.measure(board, PLAN, folder / "run", runner.RunListener(), limit_s=60)
    return str(outcome.error.message) if outcome.error else ""


def _quiet(board: FakeBoard, folder: Path) -> str:
    quiet = FakeBoard(board.programs, deterministic=True)
    quiet.ssh = board.ssh
    return _run(quiet, folder)


def _hash(board: FakeBoard, _folder: Path) -> str:
    found = list(teehash_steps.records(board, (HashStep(4096, runs=1),), 5))
    return " ".join(str(getattr(record, "reason", "")) for record in found)


def _pull(board: FakeBoard, folder: Path) -> str:
    board.pull(str(folder / "a file"), folder / "back")
    assert (folder / "back").read_bytes() == (folder / "a file").read_bytes()
    return ""


def _remove(board: FakeBoard, _folder: Path) -> str:
    gone, _ = remove(board)
    assert gone, "something was there"
    assert not any("Poky" in name for name in gone)
    return ""


def _watch(board: FakeBoard, folder: Path) -> str:
    watching.run(board, watching.Program(("prog",)), folder / "watched")
    return ""


def _open(board: FakeBoard, _folder: Path) -> str:
    tas.open_each(board)
    return ""


ACTS: dict[str, Callable[[FakeBoard, Path], str]] = {
    "setup": lambda board, _: str(ensure_installed(board) and ""),
    "remove": _remove,
    "pull": _pull,
    "run": _run,
    "quiet run": _quiet,
    "hash": _hash,
    "open": _open,
    "watch": _watch,
    "machine": lambda board, _: str(look.machine(board) and ""),
}


def meet(board: Board, folder: Path) -> str:
    """Returns what teemark says of it."""
    folder.mkdir()
    (folder / "a file").write_bytes(b"a\0file")
    programs = folder / "programs"
    programs.mkdir()
    lines = Synthetic(samples=6, algorithms=("sha256",)).lines()[1:]
    (folder / "output").write_bytes(b"".join(lines))
    (folder / "normal").write_bytes(b"".join(one for one in lines if b"/t" not in one))
    sample = next(line for line in lines if b'"type": "sample"' in line)
    (folder / "sample").write_bytes(sample * 1000)
    (folder / "deep").write_text(DEEP + "\n")
    record = bytearray(calls.HEAD.itemsize) + b"\xff" * calls.CALL.itemsize
    record[:8], record[8], record[16], record[24] = calls.MAGIC + b"\0", 9, 1, 1
    (folder / "calls").write_bytes(record)
    begun = '{"type":"teehash","case":"a/b/c/d","seq":0,"argv":[],"report":'
    (folder / "deep record").write_text(begun + DEEP + "}\n")
    for name, script in board.programs.items():
        teebench(programs, script)
        if name != "teebench":
            (programs / "teebench").rename(programs / name)
    os.environ["HOME"] = str(folder)
    assert shell.Shell.capture.__kwdefaults__
    shell.Shell.capture.__kwdefaults__["timeout"] = 2.0 if board.hangs else 100.0
    silence.SILENCE_S = silence.ANSWER_S = 1.0 if board.hangs else 100.0
    tas.HANGS_S = 2.0 if board.hangs else 100.0
    fake = FakeBoard(programs)
    fake.shell.greeting = board.greeting
    if board.name == "falls silent":  # it hangs once teebench runs
        fake.shell.greeting = f'if [ -e "{folder}/hangs" ]; then sleep 60; fi; : >"{folder}/hangs";'
    try:
        return ACTS[board.does](fake, folder)
    except BoardError as error:
        return error.message


def main(folder: Path) -> None:
    """In a process of its own: a line of JSON for each board."""
    resource.setrlimit(resource.RLIMIT_AS, (ADDRESS_SPACE, ADDRESS_SPACE))
    built = folder / "built"
    built.mkdir()
    for name in ("teebench", "teehash", watching.LIBRARY):
        (built / name).write_text("#!/bin/sh\necho built\n")
    (folder / "tas").mkdir()
    (folder / "tas" / "0b7c9a52-31f4-4e0d-a866-5d902ce1743b.ta").write_bytes(b"TA")
    paths.built_programs = lambda kind: built  # noqa: ARG005
    paths.built_tas = lambda: folder / "tas"
    build.step = lambda *_: None
    FakeBoard.tas = folder / "tas"  # type: ignore[assignment, method-assign]
    runner._TICK_S = 0.2
    watching.FETCHED_MAX = 4 << 20
    for number, board in enumerate(BOARDS):
        said = meet(board, folder / str(number))
        print(json.dumps([board.name, said]), flush=True)


@pytest.fixture(scope="module")
def met(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    folder = tmp_path_factory.mktemp("boards")
    try:
        done = subprocess.run(
            [sys.executable, __file__, str(folder)],
            env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
            timeout=380,
        )
    finally:
        end_those_at_home_in(folder)
    assert done.returncode == 0, done.stderr[-3000:]
    return dict(map(json.loads, done.stdout.splitlines()))


def end_those_at_home_in(folder: Path) -> None:
    """Boards that talk without end do so when nobody listens any more, too."""
    home = f"\0HOME={folder}/".encode()
    for process in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            if home in b"\0" + (process / "environ").read_bytes():
                os.kill(int(process.name), signal.SIGKILL)


@pytest.mark.parametrize("board", BOARDS, ids=lambda board: board.name)
def test_it_is_answered_in_a_sentence(met: dict[str, str], board: Board) -> None:
    said = met[board.name]
    if not board.says:
        assert said == ""
    assert re.search(board.says, said), said
    assert "\n" not in said
    assert len(said) < 600
    assert not re.search("[\x00-\x1f\x7f-\x9f]", said)
    assert not said or board.does == "hash" or "fake" in said or "run.ndjson" in said


def test_cases_without_a_tee_go_on_after_one_that_hangs(
    met: dict[str, str], tmp_path: Path
) -> None:
    assert "the TEE doesn't answer" in met["has a TEE that hangs"]
    rest = runner.without_tee(PLAN)
    assert rest is not None
    assert [case.key for case in rest.cases] == ["oneshot/sha256/c/64"]
    assert runner.without_tee(rest) is None


def test_a_hang_names_the_threads_that_sleep_where_the_console_tells(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Thread 1 was woken again; a run, and opening the TAs, both tell of thread 0."""
    log = b"D/TC:0 0 wq_rpc:68 sleep thread 0\nsleep thread 1\nwake  thread 1\n"
    told = "OP-TEE's thread 0 sleeps, by its log"
    programs = tmp_path / "programs"
    programs.mkdir()
    teebench(programs, "sleep 60")
    monkeypatch.setattr(tas, "HANGS_S", 1.0)
    monkeypatch.setattr(tas, "built", lambda _: {"5e5b": "digest"})
    monkeypatch.setattr(silence, "ANSWER_S", 1.0)
    monkeypatch.setattr(silence, "SILENCE_S", 0.0)
    with FakeBoard(programs) as board:
        monkeypatch.setenv("PATH", f"{programs}:{os.environ['PATH']}")
        monkeypatch.setattr(board, "secure_log", lambda _: (len(log), log))
        for act in (lambda: tas.open_each(board), lambda: silence.Silence(board, 60).look()):
            with pytest.raises(TeeHangs) as caught:
                act()
            assert caught.value.message.endswith(f"; {told}")


def test_a_board_that_waits_for_this_machines_cpus_has_more_time_to_answer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ten virtual boards on two cores: each has a CPU a fifth of the time."""
    teebench(tmp_path, "sleep 2")
    monkeypatch.setattr(silence, "ANSWER_S", 0.5)
    monkeypatch.setattr(silence, "SILENCE_S", 0.0)
    with FakeBoard(tmp_path) as board:
        monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
        for waited, hangs in ((90.0, False), (1.0, True)):
            spent = iter([(1.0, 1.0), (11.0, 1.0 + waited)])
            monkeypatch.setattr(board, "cpu_seconds", lambda spent=spent: next(spent))
            watch = silence.Silence(board, 60)
            with pytest.raises(TeeHangs) if hangs else contextlib.nullcontext():
                watch.look()


THREAD = """
import sys, threading
worked, end = threading.Event(), threading.Event()
worker = threading.Thread(target=lambda: (sum(range(1_000_000)), worked.set(), end.wait()))
worker.start(), worked.wait(), print("worked", flush=True), sys.stdin.readline()
end.set(), worker.join(), print("ended", flush=True), sys.stdin.readline()
"""


def test_a_boards_cpu_time_never_falls() -> None:
    """QEMU ends threads that it needs no more. Their time was missed: a busy board then had to
    answer at once, and was called hung."""
    virtual = VirtualBoard(config.find("qemu-v8"))
    with subprocess.Popen(
        [sys.executable, "-c", THREAD], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as qemu:
        assert qemu.stdin is not None
        assert qemu.stdout is not None
        virtual._process = LocalProcess.of(qemu.pid)
        assert qemu.stdout.readline() == b"worked\n"
        before = virtual.cpu_seconds()
        qemu.stdin.write(b"\n")
        qemu.stdin.flush()
        assert qemu.stdout.readline() == b"ended\n"
        after = virtual.cpu_seconds()
        qemu.stdin.close()
    assert all(old <= new for old, new in zip(before, after, strict=True))


def test_a_run_on_a_board_that_hangs_ends_with_the_consoles_last_lines(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In the hint that is printed; the run's record keeps the one sentence."""
    logs = tmp_path / "console.log", tmp_path / "secure.log"
    logs[0].write_bytes(b"".join(b"line %d\r\n" % number for number in range(40)) + b"Oops")
    logs[1].write_bytes(b"E/TC:1 Panic\n")
    virtual = VirtualBoard(config.find("qemu-v8"))
    assert virtual.consoles_last() == ""  # not booted
    virtual.instance = new_instance(virtual.name, kept=False)
    virtual.instance.qemu_log.write_bytes(b"Bail out!\n")
    monkeypatch.setattr(virtual, "consoles", lambda: logs)
    programs = tmp_path / "programs"
    programs.mkdir()
    (tmp_path / "lines").write_bytes(b"".join(Synthetic(samples=6).lines()[1:40]))
    teebench(programs, f"cat {tmp_path}/lines; exec sleep 60")
    fake = FakeBoard(programs)
    monkeypatch.setattr(fake, "consoles_last", virtual.consoles_last)
    outcome = runner.measure(fake, PLAN, tmp_path / "run", runner.RunListener(), limit_s=0.5)
    shutil.rmtree(virtual.instance.directory)
    last = "\n".join(f"line {number}" for number in range(29, 40))
    said = f"-- QEMU, last lines of {virtual.instance.qemu_log}:\nBail out!\n"
    said += f"-- console, last lines of {logs[0]}:\n{last}\nOops\n"
    said += f"-- secure console, last lines of {logs[1]}:\nE/TC:1 Panic"
    assert isinstance(outcome.error, BoardHangs)
    assert (outcome.error.hint or "").endswith(f"\n{said}")
    assert b"Oops" not in outcome.file.read_bytes()
    virtual.explain(outcome.error)  # as when the board is left
    assert (outcome.error.hint or "").count("Oops") == 1
    failed = CommandFailed("a program of its own failed", hint="why")
    fake.explain(failed)
    assert failed.hint == "why"


FORM = {"machine": r"[\w.-]+", "tee": "", "file": "[0-9a-f]{64}/.+"}


@given(st.text())
def test_any_answer_becomes_values_or_an_error_with_the_boards_name(text: str) -> None:
    def ask() -> None:
        found = answers.parse("fake", "itself", text, FORM)
        found.one("machine")
        found.only()

    message = complaint(ask)
    assert message.startswith(
        ("", "fake: its answer about itself can't be understood")[message > ""]
    )
    assert "\n" not in message


def complaint(ask: Callable[[], object]) -> str:
    """Returns what is said of an answer; empty if it is understood. Nothing but a BoardError may
    come."""
    try:
        ask()
    except BoardError as error:
        return error.message
    return ""


@given(st.binary())
def test_any_json_becomes_a_value_or_an_error(data: bytes) -> None:
    def ask(kind: Any) -> object:
        return answers.typed("fake", "itself", answers.from_json("fake", "itself", data), kind)

    for kind in (dict[str, int], teehash_steps._Report):
        message = complaint(partial(ask, kind))
        assert not message or message.startswith("fake: ")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
