# SPDX-License-Identifier: BSD-2-Clause
"""The rule on a run of the plan broker: what a message costs."""

from teemark.base.finding import Finding
from teemark.findings.ground import Ground, is_known
from teemark.model.stats import Estimate
from teemark.wording import fmt

CASES = ("1/tee/64", "1/plain/64", "8/tee/64", "1/tee/1024", "1/tee/65536")


def message(ground: Ground) -> Finding | None:
    """Says what a message to one reader costs the broker, and a further byte and reader."""

    def cost(figure: Estimate) -> str:
        # On a board that counts, CPU time is always instructions, even if something else waits.
        brackets = ground.interval_in_brackets(
            figure, fmt.instructions if ground.run.icount else fmt.duration
        )
        return fmt.cost(ground.run, figure.value) + brackets

    cases = [case for key in CASES if (case := ground.models.case(f"broker/cpu-{key}"))]
    if len(cases) < len(CASES):
        return None
    sealed, plain, eight, short, long = (case.estimate for case in cases)
    extra = sealed - plain
    byte = (long - short).scaled(1 / (65536 - 1024))
    reader = (eight - sealed).scaled(1 / 7)
    return Finding(
        key="message",
        topic="answer",
        claim=f"A message of 64 B costs the broker {cost(sealed)}, of which {cost(extra)} are for "
        f"sealing it anew in the TEE; a byte costs {cost(byte)}, and each further reader "
        f"{cost(reader)}.",
        evidence="Its CPU time for one reader, at the median. A byte is the slope from 1 to 64 KiB "
        "and a reader the one from 1 to 8.",
        remedy="`teemark trace broker/cpu-1/tee/64` takes it apart to the function.",
        figures=(ground.figure("a message", sealed), ground.figure("sealing anew", extra)),
        sure=all(map(is_known, (sealed, extra, byte, reader))),
    )
