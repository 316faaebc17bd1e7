# SPDX-License-Identifier: BSD-2-Clause
"""What came out, in sentences, and what was measured where."""

from __future__ import annotations

from teemark.base import fmt
from teemark.findings.subject import Part, Subject
from teemark.page.blocks import (
    Banner,
    Block,
    Code,
    Findings,
    Fold,
    Heading,
    Paragraph,
    Strong,
    Text,
)
from teemark.studies.answers import answers


def _of(subject: Subject) -> list[Block]:
    board = subject.found("board")
    blocks: list[Block] = [
        Banner(one.claim.rstrip("."), (one.remedy,)) for one in board if one.key == "emulated"
    ]
    first = (*subject.found("answer"), *(one for one in board if one.key != "emulated"))
    answered = answers(subject)
    if answered:
        blocks += [Heading("What the document concludes"), Findings(answered)]
        blocks.append(Heading("What else the run shows"))
    if first:
        blocks.append(Findings(first))
    trust = subject.found("trust")
    doubts = tuple(one for one in trust if one.severity != "note")
    if doubts:
        blocks.append(Findings(doubts))
    blocks.append(Paragraph(_what(subject)))
    notes = tuple(one for one in trust if one.severity == "note")
    if notes:
        number = fmt.plural(len(notes), "check")
        blocks.append(Fold("How well the figures are known", number, (Findings(notes),)))
    return blocks


def _what(subject: Subject) -> Text:
    run = subject.run
    text: list[str | Code | Strong] = [
        Strong(fmt.plural(len(run.measured), "case")),
        " measured with ",
        Strong(fmt.plural(run.samples, "sample")),
        "; the output of each case was verified before it was timed, and that of each sample's "
        "last call",
    ]
    if run.skips:
        text.append(f"; {fmt.plural(len(run.skips), 'case')} can't run on this machine")
    text.append(".")
    if run.run is not None:
        text += [" Plan ", Code(run.run.plan), " on board ", Code(run.run.board)]
        day = run.run.started.replace("T", " ").replace("Z", " UTC")
        text += [f", started {day}."]
    starts = max((len(case.starts) for case in run.sound), default=1)
    if starts > 1:
        text.append(f" Intervals hold what differs between its {starts} starts.")
    elif not subject.icount:
        text.append(
            " This is one start: what differs between starts can't be known from it, and is in no "
            "interval."
        )
    return tuple(text)


headline = Part("headline", "In short", _of)
