# SPDX-License-Identifier: BSD-2-Clause
"""The virtual board's power is cut while everything writes: nothing half passes for whole.

Each cut comes at a random time, and hits all at once: an object that is stored again and again, a
list and a report of teehash, teebench's records on the board, and a run of `teemark run`. Then the
board boots with the data disk that it had. POWER_CUTS=100 (make torture) cuts so often.
"""

import json
import os
import random
import subprocess
import time
from concurrent.futures import Future, ThreadPoolExecutor
from functools import partial
from pathlib import Path

import pytest

from conftest import cut_power, reboot
from teemark.base import paths
from teemark.base.errors import ConnectionLost
from teemark.boards import VirtualBoard, open_board
from teemark.measure import runner
from teemark.plan.file import parse_plan
from teemark.run import reader
from waiting import until

CUTS = int(os.environ.get("POWER_CUTS", "8"))
# `make test` has no time for as many cuts as it takes to hit a moment that matters.
pytestmark = [
    pytest.mark.board,
    pytest.mark.exhaustive,
    pytest.mark.long(150),
    pytest.mark.timeout(300 + 90 * CUTS),
]

PLAN = parse_plan(
    'summary = "Long enough."\n[[cases]]\nworkload = "oneshot"\nalgorithms = ["sha256"]\n'
    'backends = ["c", "tee"]\nsizes = ["4KiB"]\nsamples = 100000\n',
    name="cut",
    file="cut.toml",
)

# All that survives is in /data; what it takes to run is put where it is looked for.
SET_UP = """\
mkdir -p /data/bin /data/files && cd /data/files || exit
for i in 1 2 3 4 5 6 7 8 9; do head -c "${i}0000" /dev/urandom >"file $i"; done
sha256sum -- * >/data/truth
"""
READY = """\
cp /data/bin/*.ta /lib/optee_armtz/ && mkdir -p /opt/teemark &&
cp /data/bin/teebench /opt/teemark/ && cd /data/files && sha256sum -c /data/truth
"""
STORE = """\
objects=/data/bin/objects
$objects create "kept-$1" 7000 && $objects create turn 7000 && sync || exit
"""
WRITE = """\
cd /data/files && rm -f /data/list || exit
(while :; do /data/bin/objects create turn 300; /data/bin/objects create turn 7000; done) &
(while :; do
  /data/bin/teehash -- * >>/data/list
  /data/bin/teehash --report=json -- * >/data/part && mv /data/part /data/report
  sync
done) &
(while :; do
  /data/bin/teebench --samples 3 -o /data/records oneshot/sha256/c/64 oneshot/sha256/tee/64
done) &
"""


@pytest.fixture
def board() -> VirtualBoard:
    """A board of this test's own, with what it runs on the disk that stays."""
    opened = open_board("qemu-v8")
    assert isinstance(opened, VirtualBoard)
    opened.keep = False
    return opened


TAS = (
    "0b7c9a52-31f4-4e0d-a866-5d902ce1743b",
    "5e5b2f0c-6d0a-4b57-9c1e-3a7f41d28860",
    "8d1f60c7-5b3e-4c92-b027-e4196a53cd08",
)
"""The TAs that are used while the power is cut."""


def put_programs(board: VirtualBoard) -> None:
    host = paths.root() / "host"
    subprocess.run(
        ["make", "--no-print-directory", "-C", host, "ARCH=aarch64", "tests"], check=True
    )
    built = paths.built_programs("aarch64")
    for program in (built / "tests/objects", built / "teehash", built / "teebench"):
        board.push(program, f"/data/bin/{program.name}", mode=0o755)
    for uuid in TAS:
        file = paths.built_tas() / f"{uuid}.ta"
        board.push(file, f"/data/bin/{file.name}", mode=0o444)


def check_kept(board: VirtualBoard, numbers: range) -> None:
    check = 'for n; do /data/bin/objects check "kept-$n" 7000 || { echo "$n"; exit 1; }; done'
    done = board.script(check, *map(str, numbers), check=False)
    assert done.status == 0, f"object {done.text} was stored and is lost: {done.complaint}"


def look(board: VirtualBoard, truth: set[str]) -> dict[str, str]:
    """Is everything as it may be? Returns what was found of each thing, "" for none."""
    check = "/data/bin/objects check turn 300 || /data/bin/objects check turn 7000"
    turn = board.script(check, check=False)
    assert turn.status == 0, turn.complaint

    listed = board.script("cat /data/list 2>/dev/null || :").stdout
    lines = listed.decode(errors="replace").split("\n")
    assert set(lines[:-1]) <= truth, "a line that was never written"
    checked = board.script(
        "cd /data/files && /data/bin/teehash --check --strict /data/list", check=False
    )
    if lines[-1]:
        assert checked.status == 1, "half a line passed"

    report = board.script("cat /data/report 2>/dev/null || :").stdout
    if report:
        json.loads(report)
    records = board.script("cat /data/records 2>/dev/null || :").stdout
    if records:
        run = reader.parse(records.splitlines(keepends=True), file="records")
        assert run.incomplete is None
    cut = ", and a piece of one that teehash --check refuses" if lines[-1] else ""
    return {
        "list": f"{len(lines) - 1} whole lines{cut}" if listed else "",
        "report": "whole" if report else "",
        "records": "whole" if records else "",
    }


class Report:
    """Holds what was found, a line a cut as it comes: on stdout (make torture shows it), and
    kept."""

    def __init__(self, seed: int) -> None:
        self._file = paths.build() / "torture.txt"
        self._seed = seed

    def __enter__(self) -> "Report":
        self._file.write_text("")
        self.line(f"{CUTS} power cuts at random times, seed {self._seed}")
        return self

    def __exit__(self, kind: type[BaseException] | None, error: object, _trace: object) -> None:
        if kind is not None:
            self.line(f"FAILED: {error}")

    def line(self, text: str) -> None:
        print(text, flush=True)
        with self._file.open("a") as out:
            out.write(text + "\n")


def test_power_cuts(board: VirtualBoard, tmp_path: Path) -> None:
    seed = int(os.environ.get("POWER_CUT_SEED", "14"))
    chance = random.Random(seed)
    seen: dict[str, int] = {}
    half = 0
    with board, Report(seed) as report:
        board.script(SET_UP)
        put_programs(board)
        board.script("sync")
        truth = set(board.script("cat /data/truth").text.splitlines())
        board.script(READY)
        for n in range(CUTS):
            board.script(STORE, str(n))
            board.script(f"({WRITE}) >/dev/null 2>&1 </dev/null &")
            directory = tmp_path / f"run-{n}"
            with ThreadPoolExecutor(1) as other:
                run = other.submit(runner.measure, board, PLAN, directory, runner.RunListener())
                until("the run's first sample", partial(_begun, run, directory))
                wait = chance.uniform(0, 3)
                time.sleep(wait)
                cut_power(board)
                outcome = run.result(60)
            assert isinstance(outcome.error, ConnectionLost)
            run_cut = reader.read(outcome.file)
            assert run_cut.incomplete
            reboot(board)
            board.script(READY)
            check_kept(board, range(max(0, n - 2), n + 1))
            found = look(board, truth)
            for what, there in found.items():
                seen[what] = seen.get(what, 0) + bool(there)
            half += "piece" in found["list"]
            samples = sum(len(case.samples) for case in run_cut.cases.values())
            report.line(
                f"cut {n + 1:3}, {wait:.2f} s after a run's first sample: run incomplete, "
                f"{samples} samples kept; "
                + "; ".join(f"{what}: {there or 'none yet'}" for what, there in found.items())
            )
        check_kept(board, range(CUTS))
        report.line(
            f"{CUTS} power cuts: each of {CUTS} stored objects was still there at the end, whole, "
            "and the one that was written was the old one or the new one each time; "
            f"{seen['list']} lists ({half} ended in a piece, which was refused), "
            f"{seen['report']} reports and {seen['records']} records, none of them half; "
            f"{CUTS} runs, all incomplete and said so."
        )
    assert CUTS < 8 or all(seen.values()), f"never written in {CUTS} cuts: {seen}"


def _begun(run: Future[runner.Outcome], directory: Path) -> bool:
    return run.done() or _has_sample(directory)


def _has_sample(directory: Path) -> bool:
    return any(b'"type":"sample"' in path.read_bytes() for path in directory.glob("run.ndjson*"))
