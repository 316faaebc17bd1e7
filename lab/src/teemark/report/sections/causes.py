# SPDX-License-Identifier: BSD-2-Clause
"""Why calls cost what they cost: the causes that the run shows, the dearest first, those that it
rules out, and those that it can't tell, with the command that would. `teemark explain` prints the
same blocks."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from teemark.base.finding import Finding, ranked
from teemark.findings.subject import Subject, section
from teemark.page.blocks import Block, Bullets, Code, Findings, Inline, Section, Strong, Text


def why(subjects: Sequence[Subject]) -> Section | None:
    """Shows runs that call into the TEE."""
    called = [subject for subject in subjects if subject.breakdowns or subject.trace]
    return section(
        "causes",
        "Why it costs that",
        "Each known cause of lost time has a signature that a run shows or doesn't. A signature is "
        "no proof: another cause may leave the same one.",
        called,
        told,
    )


def told(subject: Subject) -> list[Block]:
    causes = tuple(one for one in subject.findings if one.topic == "cause")
    found = ranked(causes)
    blocks: list[Block] = [Findings(found)] if found else []
    others = tuple(_others(causes))
    return [*blocks, Bullets(others)] if others else blocks


def _others(causes: Sequence[Finding]) -> Iterator[Text]:
    out, open_, unknown = (
        [one for one in causes if one.status == status]
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
            told = one.remedy if one.status == "undecided" else ""
            yield (" ".join(part for part in (one.claim, told) if part),)
    for command in dict.fromkeys(one.remedy for one in unknown):
        these = [one for one in unknown if one.remedy == command]
        if command:
            yield Strong("Not checked"), ": ", *_names(these), "; ", Code(command), " tells."
            continue
        for one in these:
            yield (
                Strong("Can't be checked here"),
                ": ",
                Code(one.key),
                f", for lack of {one.lacks}.",
            )


def _names(findings: Sequence[Finding]) -> list[Inline]:
    made: list[Inline] = []
    for one in findings:
        made += [", "] if made else []
        made.append(Code(one.key))
    return made
