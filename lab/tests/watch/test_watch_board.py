# SPDX-License-Identifier: BSD-2-Clause
"""`watch --pid` on the real OP-TEE: a process that runs already, by the kernel's tracepoints."""

import re
import subprocess
from pathlib import Path

import pytest
from click.testing import CliRunner

from teemark.base.errors import BoardError
from teemark.boards import VirtualBoard
from teemark.cli import watch
from teemark.measure import watching
from teemark.report import program_page
from teemark.trace import names

pytestmark = pytest.mark.board

OS_TEST = "5b9e0e40-2636-11e1-ad9e-0002a5d5c51b"
OS_TEST_LIB = "ffd2bded-ab7d-4988-95ee-e4962fff7154"
XTEST = ("xtest", "4001")
PAST_LIBTEEC = """\
#include <fcntl.h>
#include <linux/tee.h>
#include <sys/ioctl.h>
int main(void) { int fd = open("/dev/tee0", O_RDWR);
  for (int i = 0; i < 3; i++) { /* no such TA: the TEE says so each time */
    struct tee_ioctl_open_session_arg arg = { .uuid = { 1 } };
    struct tee_ioctl_buf_data data = { (unsigned long)&arg, sizeof(arg) };
    if (ioctl(fd, TEE_IOC_OPEN_SESSION, &data) || !arg.ret) return 1; }
  return 0; }
"""
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
    seen = list(watching.legs((out / "events.txt").read_text().splitlines()))
    assert {leg.thread for leg in seen} == {int(pid)}
    assert {leg.program for leg in seen} == {"xtest"}
    calls, mine = (sum(leg.complete for leg in found) for found in (legs, seen))
    assert mine == calls > 10
    assert any(leg.rpc == "commands" for leg in seen)
    assert f"Process {pid} in " in done.output
    assert f"{mine} calls into the TEE took" in " ".join(done.output.split())
    assert not qemu_v8.script("ls /sys/kernel/tracing/instances").text.strip()


def test_a_death_has_its_command_its_code_and_its_call_stack(
    qemu_v8: VirtualBoard, tmp_path: Path
) -> None:
    """xtest 1007 lets a TA panic with code 0xbeef, and then calls it once more."""
    ran = watching.run(qemu_v8, watching.Program(("xtest", "1007")), tmp_path)
    (death,) = ran.deaths
    assert (death.ta, death.why) == (OS_TEST, "panic with code 0xbeef")
    assert [file for file, _ in death.stack] == [OS_TEST, OS_TEST_LIB, OS_TEST]
    made = program_page.sections(ran, names.read([names.KNOWN]), exact=False)
    text = program_page.write(made, "it", "a board", tmp_path).with_suffix(".md").read_text()
    assert "os\\_test: PANIC | TEE\\_ERROR\\_TARGET\\_DEAD: it ended the TA | TEE | 1" in text
    assert "os\\_test: INIT | TEE\\_ERROR\\_TARGET\\_DEAD: the TA had ended before | TEE" in text
    assert "os\\_test, 1 time: panic with code 0xbeef, in 5b9e0e40+0x" in text


def test_a_program_that_looks_libteec_up_is_watched_and_of_others_the_kernel_tells(
    qemu_v8: VirtualBoard, tmp_path: Path
) -> None:
    """teebench looks libteec up by dlsym(): watch once said that it called nothing in the TEE."""
    calls = "teebench --loops 10 --samples 2 --no-ta-counter invoke/none/tee/none"
    ran = watching.run(qemu_v8, watching.Program(tuple(calls.split())), tmp_path / "seen")
    assert sum(call.function == "invoke" for call in ran.watched.calls) >= 2 * 10
    (tmp_path / "past.c").write_text(PAST_LIBTEEC)
    argv = ("aarch64-linux-gnu-gcc", tmp_path / "past.c", "-o", tmp_path / "past")
    subprocess.run(argv, check=True)
    past = watching.Program(("past",), (tmp_path / "past",))
    ran = watching.run(qemu_v8, past, tmp_path / "hidden")
    assert (ran.status, ran.watched.calls) == (0, ())
    (section,) = program_page.sections(ran, names.Names(), exact=False)
    found = re.search(r"tracepoints count (\d+) calls? .*: .*?(\d+) by past", str(section))
    assert found is not None
    assert int(found[1]) >= int(found[2]) >= 3


def test_what_the_kernel_alone_counts_is_temporary_memory(
    qemu_v8: VirtualBoard, tmp_path: Path
) -> None:
    ran = watching.run(qemu_v8, watching.Program(XTEST), tmp_path)
    buffers = sum(
        param.kind.startswith("temporary")
        for call in ran.watched.calls
        for param in call.params
        if param.size
    )
    legs = program_page._by_call(ran, ran.legs or ())
    inside = sum(leg.complete for mine in legs.values() for leg in mine)
    assert inside - len(ran.watched.calls) == 2 * buffers > 100


def test_it_ends_when_the_time_is_over(qemu_v8: VirtualBoard, tmp_path: Path) -> None:
    pid = int(qemu_v8.script("sleep 100 >/dev/null 2>&1 & echo $!").text)
    ran = watching.attach(qemu_v8, pid, 1, tmp_path)
    assert (ran.watched.calls, ran.overrun) == ((), 0)
    qemu_v8.capture(["kill", str(pid)])
    with pytest.raises(BoardError, match=f"there is no process {pid}"):
        watching.attach(qemu_v8, pid, 1, tmp_path)
