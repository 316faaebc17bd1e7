# SPDX-License-Identifier: BSD-2-Clause
"""The title of a page, which says what was asked, where and when, and the lines at its foot, which
say how to cite and how to repeat it."""

from collections.abc import Sequence
from datetime import datetime

from teemark.page.blocks import Code, Inline, Text
from teemark.run.reader import RunData
from teemark.version import full_version
from teemark.wording import fmt

ASKED = "The cost of trusted execution"
"""Begins the title of a run whose plan has no title of its own."""


def day(iso: str) -> str:
    """Returns a day such as 26 November 2026; the text itself if it is no time."""
    try:
        at = datetime.fromisoformat(iso)
    except ValueError:
        return iso
    return f"{at.day} {at:%B %Y}"


def days(runs: Sequence[RunData]) -> str:
    """Returns the days from the first run's to the last's; "" if no run says when it began."""
    began = sorted(run.header.started for run in runs if run.header is not None)
    return " to ".join(dict.fromkeys(day(iso) for iso in began[:1] + began[-1:]))


def title(runs: Sequence[RunData], where: Sequence[str]) -> str:
    """Returns what the runs' plans ask, the boards' names `where`, and the days."""
    plans = [run.header.plan_title if run.header is not None else None for run in runs]
    question = fmt.listed(list(dict.fromkeys(plan or ASKED for plan in plans))) or ASKED
    boards = fmt.listed(list(dict.fromkeys(where)))
    if runs and all(run.without_tee for run in runs):
        question, boards = "What crypto costs", f"{boards}, without a TEE"
    return ", ".join(filter(None, (f"{question} on {boards}", days(runs))))


def footer(
    title: str, runs: Sequence[RunData] = (), again: str | None = None, source: str = ""
) -> tuple[Text, ...]:
    """Returns how to cite the page, the command that measures each run or is named by `again`, and
    how the page was made."""
    by = dict.fromkeys(run.header.teemark for run in runs if run.header is not None)
    measured = f", measured by teemark {fmt.listed(list(by))}" if by else ""
    commands = dict.fromkeys(filter(None, (*map(_command, runs), again)))
    lines: list[Text] = [(f"Cite as: “{title}”{measured}.",)]
    if commands:
        codes: list[Inline] = [part for line in commands for part in ("; ", Code(line))]
        lines.append(("Repeat: ", *codes[1:]))
    return (*lines, (f"Made by teemark {full_version()}{source and f' from {source}'}.",))


def _command(run: RunData) -> str | None:
    """Returns the command line that made the run; of an older run, its plan and board."""
    if (head := run.header) is None:
        return None
    return head.command or f"teemark run --plan {head.plan} --board {head.board}"
