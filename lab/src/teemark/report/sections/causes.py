# SPDX-License-Identifier: BSD-2-Clause
"""Why calls cost what they cost: causes that the run shows, those it rules out, and those that it
can't tell, with what it lacks. `teemark explain` prints the same blocks."""

from __future__ import annotations

from collections.abc import Sequence

from teemark.base import fmt
from teemark.base.finding import Finding
from teemark.findings.cause_words import SaidCause
from teemark.findings.subject import Subject, section
from teemark.page.blocks import (
    Block,
    Bullets,
    Code,
    Findings,
    Fold,
    Inline,
    Section,
    Strong,
    Text,
)


def why(subjects: Sequence[Subject]) -> Section | None:
    """Of runs that call into the TEE."""
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
    found = [cause for cause in subject.causes if cause.claim is not None]
    blocks: list[Block] = []
    if found:
        blocks.append(Findings(tuple(_finding(cause) for cause in found)))
    others = tuple(_others(subject.causes))
    if others:
        blocks.append(Bullets(others))
    lacking: dict[str, list[str]] = {}
    for cause in subject.causes:
        if cause.lacks is not None:
            lacking.setdefault(cause.lacks, []).append(cause.key)
    if lacking:
        missing = tuple(
            (*_names(keys), f", for lack of {lacks}.") for lacks, keys in lacking.items()
        )
        number = fmt.plural(sum(map(len, lacking.values())), "cause")
        blocks.append(Fold("Not checked", number, (Bullets(missing),)))
    return blocks


def _finding(cause: SaidCause) -> Finding:
    return Finding(
        key=cause.key,
        topic="cause",
        claim=f"{cause.key}: {cause.claim}",
        evidence=cause.evidence,
        remedy=cause.advice or "",
        sure=cause.confidence == "high",
    )


def _others(causes: Sequence[SaidCause]) -> list[Text]:
    made: list[Text] = []
    absent = [cause.key for cause in causes if cause.status == "absent"]
    if absent:
        made.append((Strong("Checked, not the case"), ": ", *_names(absent), "."))
    made += [
        (Strong("Undecided"), ": ", Code(cause.key), f" ({cause.evidence}).")
        for cause in causes
        if cause.status == "undecided"
    ]
    return made


def _names(keys: Sequence[str]) -> list[Inline]:
    made: list[Inline] = []
    for key in keys:
        made += [", "] if made else []
        made.append(Code(key))
    return made
