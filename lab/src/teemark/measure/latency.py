# SPDX-License-Identifier: BSD-2-Clause
"""How late a thread of the highest priority wakes up beside calls into the TEE: a small program of
ours, host/src/latency/teelate.c, sleeps on the CPU on which the calls are made."""

from collections.abc import Sequence
from dataclasses import replace

import msgspec
import numpy as np

from teemark.base import work
from teemark.base.errors import BoardError
from teemark.base.sanitize import harmless_line
from teemark.boards import answers
from teemark.boards.board import Board
from teemark.measure.watching import EVENT, built_for
from teemark.plan.file import CaseLine

PROGRAM = "teelate"

_LOOPS = "64"
"""Calls that teebench makes in a row: so many are made before it ends after a signal."""

_SAMPLES = 1_000_000  # More than any measurement waits for
_SAMPLES_RNG = 20_000
"""Samples of random numbers: teebench skips a source that would need a minute for all of them."""

_TRACED = """\
t=/sys/kernel/tracing
cd "$t" && [ -e events/optee/enable ] || exit 3
echo 0 >tracing_on; echo >trace; echo 1 >events/optee/enable; echo 1 >tracing_on
"$@"
s=$?
echo
tail -n 40 trace
echo 0 >events/optee/enable; echo >trace; echo 1 >tracing_on
exit $s
"""
"""Runs $@ under the kernel's tracepoints of OP-TEE, then prints the end of their trace."""


class Options(msgspec.Struct, frozen=True):
    cpu: int = 0  # where the thread wakes up
    load_cpu: int = 0  # where the load runs
    samples: int = 3000
    period_us: int = 1000
    settle_ms: int = 300  # CPU time after which the load is under way; an empty loop is at once
    stop_ns: int = 0  # 0: nothing stops it


class Delays(msgspec.Struct, frozen=True):
    """The delays of the wake-ups beside one load, in nanoseconds, or in instructions on a board
    that counts them."""

    load: str
    late: tuple[int, ...]  # in their order
    stopped: bool = False
    events: str = ""  # the end of the kernel's trace, if the limit stopped it

    def quantile(self, share: float) -> int:
        return int(np.quantile(self.late, share, method="inverted_cdf"))

    @property
    def most(self) -> int:
        return max(self.late)

    @property
    def culprit(self) -> str:
        """Returns the thread that was in the secure world when the trace was stopped, or that left
        it last; "" if no trace names one."""
        events = [event for line in self.events.splitlines() if (event := EVENT.match(line))]
        return harmless_line(f"{events[-1][1]} (thread {events[-1][2]})") if events else ""


class _Answer(msgspec.Struct):
    late_ns: tuple[int, ...]
    stopped: bool
    ended: int | None = None


def calls(case: CaseLine) -> tuple[str, ...]:
    """Returns the command that repeats a case until it is told to end."""
    samples = _SAMPLES_RNG if case.work.row is work.RNG else _SAMPLES
    endless = replace(case, samples=samples, min_us=0)
    options = ("--loops", _LOOPS, "--no-evidence", "--no-ta-counter")
    return ("teebench", *options, endless.line)


def measure(board: Board, options: Options, load: str, argv: Sequence[str]) -> Delays:
    """Measures the delays beside a load; no `argv` is an empty loop, which nothing stops. The board
    must be open. Raises BoardError if the load ends too early."""
    given = options if argv else msgspec.structs.replace(options, settle_ms=10, stop_ns=0)
    numbers = [getattr(given, name) for name in Options.__struct_fields__]
    with board.folder("/tmp") as place:
        program = f"{place}/{PROGRAM}"
        board.push(built_for(board, PROGRAM), program, mode=0o755)
        words = [program, *map(str, numbers), *argv]
        limit = 600.0 + 20 * options.samples * options.period_us / 1e6
        if options.stop_ns and argv:
            done = board.script(_TRACED, *words, check=False, timeout=limit)
        else:
            done = board.capture(words, check=False, timeout=limit)
    if done.status == 3:
        raise BoardError(
            f"{board.name}: the kernel's tracepoints of OP-TEE can't be used",
            hint="--stop-above takes root, tracefs and the optee driver",
        )
    data, _, events = done.stdout.partition(b"\n")
    if done.status:
        raise BoardError(f"{board.name}: {answers.last_line(done.complaint)}")
    about = "delays"
    text = answers.from_json(board.name, about, data)
    answer = answers.typed(board.name, about, text, _Answer)
    if answer.ended is not None or not answer.late_ns:
        raise BoardError(
            f"{board.name}: {load} ended with status {answer.ended} after "
            f"{len(answer.late_ns)} wake-ups: {answers.last_line(done.complaint)}",
            hint="it has to run longer than the measurement: fewer --samples, or a loop around it",
        )
    kept = events.decode(errors="replace") if answer.stopped else ""
    return Delays(load, answer.late_ns, answer.stopped, kept)
