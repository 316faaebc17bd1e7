# SPDX-License-Identifier: BSD-2-Clause
"""What was measured where, and what came out, in sentences and a few large figures."""

from __future__ import annotations

from collections.abc import Sequence

from teemark.base import fmt
from teemark.base.finding import Finding
from teemark.base.work import EMPTY_CALL
from teemark.findings.subject import Subject, each
from teemark.findings.verdict_words import Said
from teemark.findings.verdicts import Confidence, main_algorithm, sure
from teemark.page import figures
from teemark.page.blocks import (
    Banner,
    Block,
    Code,
    Figures,
    Findings,
    Heading,
    Paragraph,
    Section,
    Strong,
    Text,
)
from teemark.studies.answers import Answered, answers


def headline(subjects: Sequence[Subject]) -> Section | None:
    return Section("headline", "In short", tuple(each(subjects, _of)))


def _of(subject: Subject) -> list[Block]:
    blocks: list[Block] = []
    if subject.emulated:
        blocks.append(_emulated(subject))
    blocks.append(Paragraph(_what(subject)))
    large = _figures(subject)
    if large:
        blocks.append(Figures(large))
    answered = tuple(_answered(answer) for answer in answers(subject))
    if answered:
        blocks += [Heading("What the document concludes"), Findings(answered)]
    findings = tuple(_finding(verdict) for verdict in subject.verdicts)
    if findings:
        blocks += [Heading("What else the run shows")] if answered else []
        blocks.append(Findings(findings))
    return blocks


def _emulated(subject: Subject) -> Banner:
    if subject.icount:
        return Banner(
            "Emulated board: this counts instructions",
            (
                "One nanosecond is one executed instruction; two boots agree to within 0.2 %. "
                "There are no cache misses and no latencies in it: good for finding and comparing "
                "work, not for predicting time on hardware.",
            ),
        )
    return Banner(
        "Emulated board: timings are not those of silicon",
        (
            "The software is real (OP-TEE, Linux, the Trusted Application), the processor is "
            "emulated. What depends on the speed of particular instructions, on caches or on "
            "memory looks different on hardware.",
        ),
    )


def _what(subject: Subject) -> Text:
    run = subject.run
    samples = sum(len(case.samples) for case in run.sound)
    text: list[str | Code | Strong] = [
        Strong(fmt.plural(len(run.sound), "case")),
        " measured with ",
        Strong(fmt.plural(samples, "sample")),
        ", every one after its output had been verified",
    ]
    if run.skips:
        text.append(f"; {fmt.plural(len(run.skips), 'case')} can't run on this machine")
    text.append(".")
    if run.run is not None:
        text += [" Plan ", Code(run.run.plan), " on board ", Code(run.run.board)]
        text += [f", started {_day(run.run.started)}."]
    starts = max((len(case.starts) for case in run.sound), default=1)
    if starts > 1:
        text.append(f" Intervals hold what differs between its {starts} starts.")
    elif not subject.icount:
        text.append(
            " This is one start: what differs between starts can't be known from it, and is in no "
            "interval."
        )
    return tuple(text)


def _day(started: str) -> str:
    """2026-01-02T03:04:05Z as people read it."""
    return started.replace("T", " ").replace("Z", " UTC")


def _figures(subject: Subject) -> tuple[tuple[str, str, str], ...]:
    models = subject.models
    made = []
    call = models.case(EMPTY_CALL)
    if call is not None:
        how = _marked("median", sure(call))
        number = figures.cell(subject.run, call.estimate)
        unit = "instructions of " if call.estimate.exact else ""
        made.append((number, f"{unit}an empty call into the TEE", how))
    algorithm = main_algorithm(models, "tee") or main_algorithm(models)
    if algorithm is None:
        return tuple(made)
    name = subject.run.title(algorithm)
    for backend in ("tee", "ta-ce", "openssl", "c"):
        cost = models.cost(algorithm, backend)
        if cost is not None and cost.ns_per_byte > 0 and len(made) < 4:
            made.append(
                (
                    fmt.digits(cost.ns_per_byte)
                    + ("" if subject.icount else "\N{NO-BREAK SPACE}ns"),
                    f"{'instructions ' if subject.icount else ''}a byte of {name}",
                    _marked(subject.run.backend(backend).title, sure(cost)),
                )
            )
    return tuple(made)


def _marked(text: str, confidence: Confidence) -> str:
    return text if confidence == "high" else f"{text}, uncertain"


def _answered(answer: Answered) -> Finding:
    return Finding(
        key=answer.key,
        topic="conclusion",
        claim=answer.sentence,
        evidence=answer.evidence,
        remedy=answer.advice,
    )


def _finding(verdict: Said) -> Finding:
    return Finding(
        key=verdict.key,
        topic="answer",
        severity="caution" if verdict.kind == "caution" else "note",
        claim=verdict.claim,
        evidence=verdict.evidence,
        remedy=verdict.advice or "",
        sure=verdict.confidence == "high",
    )
