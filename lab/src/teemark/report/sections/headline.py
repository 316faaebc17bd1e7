# SPDX-License-Identifier: BSD-2-Clause
"""What was measured where, and what came out, in sentences and a few large figures."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from teemark import fmt
from teemark.model.verdicts import EMPTY_CALL, Verdict, confidence, main_algorithm, steady
from teemark.report.blocks import (
    Banner,
    Block,
    Code,
    Figures,
    Finding,
    Findings,
    Paragraph,
    Section,
    Strong,
    Text,
)
from teemark.report.subject import Subject, each


def headline(subjects: Sequence[Subject]) -> Section | None:
    return Section("headline", "In short", tuple(each(subjects, _of)))


def _of(subject: Subject) -> list[Block]:
    run = subject.run
    blocks: list[Block] = []
    if run.incomplete:
        blocks.append(
            Banner(
                "This run is incomplete",
                (f"{_sentence(run.incomplete)} What was measured until then is below.",),
            )
        )
    if subject.emulated:
        blocks.append(_emulated(subject))
    if run.fails:
        blocks.append(
            Banner(
                f"{fmt.plural(len(run.fails), 'case')} failed",
                ("A wrong output, or an error in mid-case: see ", Strong("Left out"), "."),
            )
        )
    blocks.append(Paragraph(_what(subject)))
    figures = _figures(subject)
    if figures:
        blocks.append(Figures(figures))
    findings = tuple(_finding(verdict) for verdict in subject.verdicts)
    if findings:
        blocks.append(Findings(findings))
    return blocks


def _sentence(text: str) -> str:
    return text[:1].upper() + text[1:] + ("" if text.endswith(".") else ".")


def _emulated(subject: Subject) -> Banner:
    if subject.icount:
        return Banner(
            "Emulated board: this counts instructions",
            (
                "One nanosecond is one executed instruction, the same at every boot. There are no "
                "cache misses and no latencies in it: good for finding and comparing work, not "
                "for predicting time on hardware.",
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
    return tuple(text)


def _day(started: str) -> str:
    """2026-01-02T03:04:05Z as people read it."""
    return started.replace("T", " ").replace("Z", " UTC")


def _figures(subject: Subject) -> tuple[tuple[str, str, str], ...]:
    models = subject.models
    made = []
    call = models.case(EMPTY_CALL)
    if call is not None:
        how = _marked("median", steady(call))
        made.append((fmt.duration(call.time.median), "an empty call into the TEE", how))
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
                    _marked(subject.run.backend(backend).title, confidence(cost)),
                )
            )
    return tuple(made)


def _marked(text: str, sure: Literal["high", "low"]) -> str:
    return text if sure == "high" else f"{text}, uncertain"


def _finding(verdict: Verdict) -> Finding:
    return Finding(
        claim=(verdict.claim,),
        evidence=(verdict.evidence,),
        advice=(verdict.advice,) if verdict.advice else (),
        caution=verdict.kind == "caution",
        unsure=verdict.confidence == "low",
    )
