# SPDX-License-Identifier: BSD-2-Clause
"""teehash as a plan's steps: parsed strictly, run on a board, kept in the run."""

import hashlib
import json
import os
import re
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from fake_board import FakeBoard, teebench
from synthetic import Synthetic
from teemark.base.errors import ConfigError
from teemark.boards import VirtualBoard
from teemark.boards.shell import Process
from teemark.measure import runner, teehash_steps
from teemark.plan.file import HashStep, parse_plan
from teemark.run import reader
from teemark.run.records import AnyRecord, Fail, Skip, Teehash

# A teehash in Python: what the real one says, as far as the steps look at it.
TEEHASH = """\
#!/usr/bin/env python3
import hashlib, json, sys
option = dict(word[2:].split("=", 1) for word in sys.argv[1:-1] if "=" in word)
data = open(sys.argv[-1], "rb").read()
if option["backend"] == "ce":
    print("teehash: the CPU has no instructions for it", file=sys.stderr)
    sys.exit(1)
if option["backend"] == "nonsense":
    print("no JSON")
    sys.exit(0)
digest = hashlib.new(option["algorithm"], data).hexdigest()
if option["backend"] == "c":
    digest = "00" * 32
print(json.dumps({"schema": 1, "chunk": int(option["chunk"]),
    "files": [{"digest": digest, "error": None, "bytes": len(data)}],
    "host": {"total_time": {"value": 1000, "unit": "ns"}}}))
"""


@pytest.fixture
def board(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> FakeBoard:
    programs = tmp_path / "programs"
    programs.mkdir()
    monkeypatch.setenv("HOME", str(tmp_path))
    (programs / "teehash").write_text(TEEHASH)
    (programs / "teehash").chmod(0o755)
    (programs / "output").write_bytes(b"".join(Synthetic(samples=6).lines()[1:]))
    teebench(programs, f'cat >/dev/null\ncat "{programs}/output"\n')
    return FakeBoard(programs)


def parse(text: str) -> tuple[HashStep, ...]:
    whole = f'summary = "S."\n[[cases]]\nworkload = "invoke"\n{text}'
    return parse_plan(whole, name="p", file="p.toml").teehash


def test_a_block_stands_for_every_combination() -> None:
    steps = parse(
        '[[teehash]]\nsizes = [1, "4KiB"]\nbackends = ["tee", "c"]\nmodes = ["stream", "oneshot"]\n'
        'caches = ["warm", "cold"]\nchunk = "64KiB"\nreader = "thread"\nruns = 3\n'
    )
    assert len(steps) == 16
    assert len({step.key for step in steps}) == 16
    assert HashStep(4096, "sha256", "c", "oneshot", "cold", 65536, "thread", 3) in steps
    assert parse("") == ()


def test_defaults_are_the_published_way() -> None:
    (step,) = parse("[[teehash]]\nsizes = [4488896]\n")
    assert step.key == "teehash/sha256/tee/stream/warm/4488896/1048576/inline"
    assert step.argv("f")[0] == "teehash"
    assert "--cold" not in step.argv("f")
    assert step.argv("f")[-1] == "f"
    cold = HashStep(5, mode="oneshot", cache="cold").argv("f")
    assert "--cold" in cold
    assert "--oneshot-limit=5" in cold


def test_on_a_board_that_counts_instructions_the_wire_falls_silent_first(
    board: FakeBoard, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The same command and record, once the packets of this very connection are through."""
    quiet = FakeBoard(board.programs, deterministic=True)
    ran: list[list[str]] = []

    def spied(self: FakeBoard, argv: Sequence[str], **options: Any) -> Process:
        ran.append(list(argv))
        return start(self, argv, **options)

    start = FakeBoard.start
    monkeypatch.setattr(FakeBoard, "start", spied)
    step = HashStep(4096, runs=1)
    (loud,), (silent,) = (list(teehash_steps.records(one, (step,), 60)) for one in (board, quiet))
    assert isinstance(loud, Teehash)
    assert isinstance(silent, Teehash)
    assert silent.argv[:-1] == loud.argv[:-1]
    assert silent.report["files"] == loud.report["files"]
    before, after = (argv for argv in ran if "teehash" in argv)
    assert before[0] == "teehash"
    assert after[:2] == ["sh", "-c"]
    assert after[-len(before) + 1 : -1] == before[1:-1]


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("teehash = 3\n", "must be a list"),
        ("[[teehash]]\n", "sizes: missing"),
        ("[[teehash]]\nsizes = []\n", "sizes: must be a list with something in it"),
        ('[[teehash]]\nsizes = ["big"]\n', "'big' is no size"),
        ("[[teehash]]\nsizes = [-1]\n", "-1 is no size"),
        ("[[teehash]]\nsizes = [true]\n", "True is no size"),
        ('[[teehash]]\nsizes = [1]\nmodes = ["fast"]\n', "'fast' isn't known"),
        ('[[teehash]]\nsizes = [1]\ncaches = "warm"\n', "must be a list"),
        ('[[teehash]]\nsizes = [1]\nreader = "me"\n', "'me' isn't known"),
        ("[[teehash]]\nsizes = [1]\nruns = 0\n", "from 1 on, not 0"),
        ("[[teehash]]\nsizes = [1]\ncolour = 1\n", "colour: no such key"),
        ("[[teehash]]\nsizes = [1]\n[[teehash]]\nsizes = [1]\n", "is there twice"),
    ],
)
def test_mistakes_are_named(text: str, why: str) -> None:
    case = '[[cases]]\nworkload = "invoke"\n'
    with pytest.raises(ConfigError) as caught:
        parse_plan(f'summary = "S."\n{text}\n{case}', name="p", file="p.toml")
    assert why in caught.value.message
    assert re.match(r"p.toml:\d+: teehash", caught.value.message)


@pytest.mark.parametrize("size", [0, 1, 7, 8, 4096, (1 << 20) + 3])
def test_the_expected_digest_is_that_of_the_file(size: int) -> None:
    data = (b"teemark\n" * (size // 8 + 1))[:size]
    assert teehash_steps.expected_digest("sha256", size) == hashlib.sha256(data).hexdigest()


def test_expected_digests_know_sha3() -> None:
    assert teehash_steps.expected_digest("sha3-256", 0) == hashlib.sha3_256(b"").hexdigest()


def run(board: FakeBoard, *steps: HashStep) -> list[AnyRecord]:
    return list(teehash_steps.records(board, steps, 60))


def test_runs_take_turns_and_are_kept(board: FakeBoard) -> None:
    a, b = HashStep(1000, runs=3), HashStep(70000, runs=2)
    records = run(board, a, b)
    assert [(r.case, r.seq) for r in records if isinstance(r, Teehash)] == [
        (a.key, 0),
        (b.key, 0),
        (a.key, 1),
        (b.key, 1),
        (a.key, 2),
    ]
    first = records[0]
    assert isinstance(first, Teehash)
    assert first.report["files"][0]["bytes"] == 1000
    assert first.argv[-1].endswith("/1000")


def test_nothing_is_left_on_the_board(board: FakeBoard) -> None:
    records = run(board, HashStep(1000, runs=1))
    assert isinstance(records[0], Teehash)
    assert not Path(records[0].argv[-1]).parent.exists()


def test_a_wrong_digest_fails(board: FakeBoard) -> None:
    (record,) = run(board, HashStep(1000, backend="c", runs=3))
    assert isinstance(record, Fail)
    assert record.reason.startswith("wrong digest: 0000")


def test_what_cannot_run_is_a_skip_with_its_reason(board: FakeBoard) -> None:
    (record,) = run(board, HashStep(1000, backend="ce", runs=3))
    assert isinstance(record, Skip)
    assert "the CPU has no instructions for it" in record.reason
    (record,) = run(board, HashStep(1000, backend="nonsense", runs=3))
    assert isinstance(record, Skip)


def test_no_room_is_a_skip(board: FakeBoard) -> None:
    (record,) = run(board, HashStep(1 << 60))
    assert isinstance(record, Skip)
    assert record.code == "no-room"


def test_a_folder_in_which_nothing_can_be_made_is_passed_over(tmp_path: Path) -> None:
    """For root, BusyBox's `test -w` says yes on a read-only file system, too."""
    tools = tmp_path / "tools"
    tools.mkdir()
    real = shutil.which("mktemp")
    refuse = f'case $2 in /var/tmp/*) exit 1;; esac\nexec {real} "$@"\n'
    for name, text in (("mktemp", refuse), ("df", "echo /dev/disk 9 0 9999999 0 /\n")):
        (tools / name).write_text(f"#!/bin/sh\n{text}")
        (tools / name).chmod(0o755)
    env = {"PATH": f"{tools}:{os.environ['PATH']}", "HOME": str(tmp_path)}
    argv = ["sh", "-c", teehash_steps._FOLDER, "sh", "1000"]
    said = subprocess.check_output(argv, env=env, text=True)
    assert said == f"disk {tmp_path}\n"
    assert sorted(tmp_path.iterdir()) == [tools], "the trial is taken away again"


def test_steps_are_part_of_a_run(board: FakeBoard, tmp_path: Path) -> None:
    class Counting(runner.RunListener):
        seen = 0

        def record(self, record: AnyRecord) -> None:
            self.seen += isinstance(record, Teehash)

    plan = parse_plan(
        'summary = "S."\n[[cases]]\nworkload = "invoke"\nbackends = ["tee"]\n'
        "[[teehash]]\nsizes = [1000]\nruns = 2\n",
        name="p",
        file="p.toml",
    )
    watcher = Counting()
    outcome = runner.measure(board, plan, tmp_path / "run", watcher)
    assert outcome.error is None
    assert watcher.seen == 2
    data = reader.read(outcome.file)
    assert data.incomplete is None
    assert [record.seq for record in data.teehash] == [0, 1]
    lines = outcome.file.read_bytes().splitlines()
    assert json.loads(lines[-1])["type"] == "end"
    assert json.loads(lines[-2])["type"] == "teehash"


def test_a_run_that_was_interrupted_skips_the_steps(board: FakeBoard, tmp_path: Path) -> None:
    records = [json.loads(line) for line in Synthetic(samples=6).lines()[1:]]
    records[-1] |= {"complete": False, "reason": "interrupted"}
    text = "".join(json.dumps(record) + "\n" for record in records)
    (board.programs / "output").write_text(text)
    plan = parse_plan(
        'summary = "S."\n[[cases]]\nworkload = "invoke"\n[[teehash]]\nsizes = [1000]\n',
        name="p",
        file="p.toml",
    )

    outcome = runner.measure(board, plan, tmp_path / "run", runner.RunListener())
    data = reader.read(outcome.file)
    assert data.incomplete == "interrupted (Ctrl-C, SIGINT)"
    assert data.teehash == ()


@pytest.mark.board
def test_steps_on_the_real_thing(qemu_v8: VirtualBoard) -> None:
    """In the TEE and in the normal world, from a warm and from a cold cache."""
    steps = (
        HashStep(300_000, chunk=65536, runs=2),
        HashStep(300_000, chunk=65536, cache="cold", runs=2),
        HashStep(300_000, mode="oneshot", runs=1),
        HashStep(300_000, backend="c", runs=1),
    )
    records = list(teehash_steps.records(qemu_v8, steps, 60))
    runs = [record for record in records if isinstance(record, Teehash)]
    assert len(runs) == len(records) == 6
    by_case = {record.case: record.report for record in runs}
    streamed, cold, oneshot, normal = (by_case[step.key] for step in steps)
    assert streamed["tee"]["invoke_count"]["value"] == 5 + 1
    assert oneshot["tee"]["invoke_count"]["value"] == 1
    assert streamed["host"]["disk_read"]["value"] < 300_000 <= cold["host"]["disk_read"]["value"]
    assert normal["tee"]["rpc_count"]["reason"]


@pytest.mark.parametrize(("cache", "done"), [("warm", ["read", "hash"]), ("cold", ["hash"])])
def test_a_file_that_is_to_be_warm_is_read_before(cache: str, done: list[str]) -> None:
    made: list[str] = []

    def capture(*_: object, **__: object) -> SimpleNamespace:
        made.append("hash")
        return SimpleNamespace(status=1, stdout=b"", complaint="no such file")

    board: Any = SimpleNamespace(
        name="b",
        deterministic=False,
        script=lambda *_, **__: made.append("read"),
        capture=capture,
    )
    step = HashStep(5, mode="oneshot", cache=cache)
    record = teehash_steps._once(board, step, "f", "00", seq=0, limit_s=9.0)
    assert isinstance(record, Skip)
    assert made == done
