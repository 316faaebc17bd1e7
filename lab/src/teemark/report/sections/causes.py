# SPDX-License-Identifier: BSD-2-Clause
"""Why calls cost what they cost: the causes that the run shows, the dearest first, the causes that
it rules out, and the causes that it can't check, with the command that would; and advice on
choices. `teemark explain` prints the same blocks."""

from collections.abc import Iterator, Sequence

from teemark.base.finding import Finding, ranked
from teemark.findings.subject import Part, Subject
from teemark.page.blocks import Block, Bullets, Code, Findings, Inline, Strong, Text


def causes_of(subject: Subject, most: int | None = None) -> list[Block]:
    """Returns the `most` dearest causes that were found; for a run that calls into the TEE, also
    the other causes."""
    findings = tuple(one for one in subject.findings if one.topic == "cause")
    called = subject.breakdowns or subject.trace
    found = ranked(findings)[:most]
    others = tuple(_others(findings, found)) if called else ()
    blocks: list[Block] = [Findings(found)] if found else []
    return [*blocks, Bullets(others)] if others else blocks


def _others(findings: Sequence[Finding], above: Sequence[Finding]) -> Iterator[Text]:
    """Yields a line for each cause that wasn't found, or for all of one status. A command that a
    claim in `above` names already isn't repeated."""
    out, open_, unknown = (
        [one for one in findings if one.status == status]
        for status in ("ruled out", "undecided", "not checked")
    )
    silent = [one for one in out if not one.claim]
    if silent:
        yield Strong("Ruled out"), ": ", *_names(silent), "."
    for one in open_:
        if not one.claim:
            yield Strong("Undecided"), ": ", Code(one.key), f" ({one.evidence})."
    for one in (*out, *open_, *unknown):
        if one.claim:
            yield (" ".join((one.claim, one.remedy * (one.status == "undecided"))).strip(),)
    for command in filter(None, dict.fromkeys(one.remedy for one in unknown)):
        these = [one for one in unknown if one.remedy == command]
        said = any(command in one.claim for one in above)
        by = "the command above" if said else Code(command)
        yield Strong("Not checked"), ": ", *_names(these), "; ", by, " tells."
    for one in unknown:
        if not one.remedy:
            yield (
                Strong("Can't be checked here"),
                ": ",
                Code(one.key),
                f", for lack of {one.lacks}.",
            )


def _names(findings: Sequence[Finding]) -> list[Inline]:
    parts: list[Inline] = [part for one in findings for part in (", ", Code(one.key))]
    return parts[1:]


def _choices(subject: Subject) -> list[Block]:
    found = subject.found("choice")
    return [Findings(found)] if found else []


causes = Part(
    "causes",
    "Why it costs that",
    causes_of,
    "Each known cause of lost time has a signature that a run shows or doesn't. A signature is no "
    "proof: another cause may leave the same one.",
    "no cause was found; what was ruled out, and what wasn't checked",
)
choices = Part(
    "choices",
    "What to choose",
    _choices,
    "Memory and backends are compared at sizes that were measured, pieces of a message by the "
    "models; nothing is advised that isn't better by 1 %. Our own code outside of the TEE (c, ce) "
    "is no choice. “teemark predict” gives a figure for sizes in between.",
    "kind of memory, size of pieces, backend",
)
