# SPDX-License-Identifier: BSD-2-Clause
"""Advice in words."""

from __future__ import annotations

from teemark.base import fmt
from teemark.findings.advice import NEARLY, Advice
from teemark.page import figures
from teemark.run.reader import RunData


def sentence(run: RunData, advice: Advice) -> str:
    saved = fmt.share(advice.saves)
    interval = advice.saved
    known = figures.known(run, interval, f"{fmt.span(interval, 100.0)}{fmt.THIN}%")
    if advice.question == "pieces":
        algorithm, _, backend = advice.subject.partition("/")
        name = f"{run.title(algorithm)} by {backend}"
        if int(advice.choose) == advice.last:
            return (
                f"{name}: one call with {fmt.size(advice.last)} takes {saved} less than pieces of "
                f"{fmt.size(int(advice.over))}{known}."
            )
        return (
            f"{name}, in pieces: those of "
            f"{fmt.size(int(advice.choose))} take at most {fmt.percent(NEARLY, 1)} more than one "
            f"call with {fmt.size(advice.last)}, and {saved} less than those of "
            f"{fmt.size(int(advice.over))}{known}."
        )
    what = {
        "memory": f"Memory for a call ({advice.subject})",
        "backend": run.title(advice.subject),
        "backend-in-tee": f"{run.title(advice.subject)} inside the TEE",
    }[advice.question]
    where = (
        f"at {fmt.size(advice.first)}"
        if advice.first == advice.last
        else f"from {fmt.size(advice.first)} to {fmt.size(advice.last)}"
    )
    but = f", undecided at {', '.join(map(fmt.size, advice.undecided))}" if advice.undecided else ""
    leads = f"takes the fewest {figures.amount(run)}" if run.icount else "is fastest"
    return (
        f"{what}: {advice.choose} {leads} {where}{but}; at {fmt.size(advice.last)} it takes "
        f"{saved} less than {advice.over}{known}."
    )
