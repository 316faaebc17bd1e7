# SPDX-License-Identifier: BSD-2-Clause
"""`watch --pid` on the real OP-TEE: a process that runs already, by the kernel's tracepoints."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from teemark.base.errors import BoardError
from teemark.boards import VirtualBoard
from teemark.cli import watch
from teemark.measure import watching
from teemark.report import program_page

pytestmark = [pytest.mark.board, pytest.mark.timeout(300)]

XTEST = ("xtest", "4001")
LATER = """\
(
  until grep -q 1 /sys/kernel/tracing/instances/teemark-*/events/optee/enable; do sleep 0.1; done
  exec "$@"
) >/dev/null 2>&1 &
echo $!
"""


def test_as_many_calls_as_of_a_program_that_is_watched_from_its_start(
    qemu_v8: VirtualBoard, lent: VirtualBoard, tmp_path: Path
) -> None:
    whole = watching.run(qemu_v8, watching.Program(XTEST), tmp_path / "whole")
    threads = {call.thread for call in whole.watched.calls}
    assert whole.legs is not None
    legs = [leg for leg in whole.legs if leg.thread in threads]

    pid = qemu_v8.script(LATER, *XTEST).text.strip()
    out = tmp_path / "attached"
    done = CliRunner().invoke(watch.command, ["--pid", pid, "--out", str(out)])
    assert done.exit_code == 0, done.output
    seen = list(watching.legs((out / "events.txt").read_text()))
    assert {leg.thread for leg in seen} == {int(pid)}
    assert {leg.program for leg in seen} == {"xtest"}
    calls, mine = (sum(leg.complete for leg in found) for found in (legs, seen))
    assert mine == calls > 10
    assert any(leg.rpc == "commands" for leg in seen)
    assert f"Process {pid} in " in done.output
    assert f"{mine} calls into the TEE took" in " ".join(done.output.split())
    assert json.loads((out / program_page.TIMELINE).read_text())["traceEvents"]
    assert not qemu_v8.script("ls /sys/kernel/tracing/instances").text.strip()


def test_it_ends_when_the_time_is_over(qemu_v8: VirtualBoard, tmp_path: Path) -> None:
    pid = int(qemu_v8.script("sleep 100 >/dev/null 2>&1 & echo $!").text)
    ran = watching.attach(qemu_v8, pid, 1, tmp_path)
    assert (ran.watched.calls, ran.overrun) == ((), 0)
    qemu_v8.capture(["kill", str(pid)])
    with pytest.raises(BoardError, match=f"there is no process {pid}"):
        watching.attach(qemu_v8, pid, 1, tmp_path)
