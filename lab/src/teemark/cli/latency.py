# SPDX-License-Identifier: BSD-2-Clause
"""`teemark latency`: how long calls into the TEE hold off interrupts, seen from outside."""

import click

from teemark.base.console import terminal, working
from teemark.base.errors import UsageMistake
from teemark.cli import common
from teemark.cli.common import argument, option, several, subcommand
from teemark.cli.remote import reached
from teemark.exact import record
from teemark.measure import latency
from teemark.page.terminal import show
from teemark.report import latency_page


@subcommand("latency", cls=common.WithProgram)
def command(
    *,
    board: str = common.board_option("qemu-v8-icount", "Any board; the thread needs root there."),
    cases: tuple[str, ...] = several("--while CASE", "Calls to make meanwhile."),
    cpu: int = option("--cpu N", "The thread's CPU.", kind=click.IntRange(0), default=0),
    load_cpu: int | None = option(
        "--load-cpu N",
        "Make the calls on this CPU. [default: the thread's]",
        kind=click.IntRange(0),
    ),
    samples: int = option("--samples N", "Wake-ups beside each load.", default=3000),
    period: int = option("--period N", "Microseconds from one to the next.", default=1000),
    stop_above: int | None = option(
        "--stop-above N", "Stop at the first wake-up so many ns late, and name its call."
    ),
    as_json: bool = option("--json", "All delays, as JSON."),
    rest: tuple[str, ...] = argument(nargs=-1, metavar="[-- PROGRAM [ARG]...]"),
) -> int:
    """Say how late a thread of the highest priority wakes up while calls into the TEE are made on
    its CPU, as cyclictest does: beside an empty loop first, then beside each CASE or PROGRAM.

    Where the board counts instructions, delays are instructions. PROGRAM has to run longer than
    the wake-ups take; it is ended then.

    Exit status: 0 fine; 1 if the thread can't be measured or a wake-up was beyond --stop-above.
    """
    argv = click.get_current_context().meta["program"]
    if rest or bool(argv) == bool(cases):
        raise UsageMistake(
            "name the calls, or one program",
            hint="--while invoke/none/tee/none, or: teemark latency -- PROGRAM [ARG]…",
        )
    lines = record.plan_of(cases, 1).cases[1:] if cases else ()
    loads = {case.key: latency.calls(case) for case in lines} or {" ".join(argv): argv}
    options = latency.Options(
        cpu, cpu if load_cpu is None else load_cpu, samples, period, stop_ns=stop_above or 0
    )
    delays = list[latency.Delays]()
    with reached(board) as target:
        try:
            for load, words in {latency_page.EMPTY_LOOP: (), **loads}.items():
                with working(f"waking up beside {load} on {target.name} …"):
                    delays.append(latency.measure(target, options, load, words))
        finally:  # what was measured is shown, also where a later load fails
            if len(delays) > 1 and as_json:
                common.put_json({"exact": target.deterministic, "delays": delays})
            elif len(delays) > 1:
                show(terminal(120), latency_page.blocks(delays, exact=target.deterministic))
    return 1 if any(load.stopped for load in delays) else 0
