# SPDX-License-Identifier: BSD-2-Clause
"""Makes reports of runs. `make` is pure: the same runs give the same bytes. `write` stores them."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from teemark.base.files import write_whole
from teemark.base.finding import ranked
from teemark.findings.notices import notices
from teemark.findings.subject import Subject, subjects
from teemark.page import html, markdown
from teemark.page.blocks import Banner, Section
from teemark.report import heading
from teemark.report.comparing import origin
from teemark.report.sections import SECTIONS
from teemark.report.sections.causes import HELP
from teemark.run.reader import RunData
from teemark.studies.answers import answers as concluded
from teemark.trace.profile import Trace

HTML = "report.html"
MARKDOWN = "report.md"


@dataclass(frozen=True, slots=True)
class Report:
    html: str
    markdown: str
    subjects: tuple[Subject, ...]


def make(
    runs: Sequence[RunData], traces: Sequence[Trace | None] = (), against: Trace | None = None
) -> Report:
    """Makes the report. `traces` has the trace of each run, or None; `against` is the trace that
    they are compared with."""
    about = subjects(runs, traces, against)
    banners = [
        Banner(f"{subject.label}: " * (len(about) > 1) + notice.title, (notice.text,))
        for subject in about
        for notice in notices(subject.run)
    ]
    sections = [section for function in SECTIONS if (section := function(about)) is not None]
    plan = about[0].run.plan if about else ""
    answers = _answering(sections, plan, concludes=any(map(concluded, about)))
    if not any(ranked(subject.found("cause"))[HELP:] for subject in about):
        answers.remove("causes")
    sections = [replace(s, lead="") if s.key in answers else s for s in sections]
    sections.sort(key=lambda s: answers.index(s.key) if s.key in answers else len(answers))
    title = heading.title([subject.run for subject in about], [s.label for s in about])
    summaries = (
        subject.run.header.board_summary for subject in about if subject.run.header is not None
    )
    boards = list(dict.fromkeys(filter(None, summaries)))
    subtitle = "; ".join(
        [", ".join(origin(subject.run)) for subject in about if len(about) < 3] + boards
    )
    foot = heading.footer(title, [subject.run for subject in about], source="run.ndjson")
    return Report(
        html=html.render(title, subtitle, sections, foot, banners),
        markdown=markdown.render(title, subtitle, sections, foot, banners),
        subjects=about,
    )


FIRST = ["trace", "published", "keys", "comparison", "throughput", "breakdown", "calls"]
"""Keys of sections; the first that a run has is the section that answers it."""


def _answering(sections: Sequence[Section], plan: str, *, concludes: bool) -> list[str]:
    """Returns the keys of the sections that come first and are open: the short answer, the section
    that shows it, the causes, and sections without a lead. Boards beside each other, and a run of
    `trace`, come before the answer. `concludes` admits the tables of a document."""
    keys = [section.key for section in sections if concludes or section.key != "published"]
    shown = [key for key in ("boards", plan, *FIRST) if key in keys][:1]
    leads = shown in (["boards"], ["comparison"]) or shown == ["trace"] == [plan]
    first = [*shown, "headline"] if leads else ["headline", *shown]
    return [*first, "causes", *(section.key for section in sections if not section.lead)]


def write(report: Report, directory: Path) -> Path:
    """Writes the HTML and the Markdown file, each replaced at once; returns the HTML's path."""
    write_whole(directory / HTML, report.html)
    write_whole(directory / MARKDOWN, report.markdown)
    return directory / HTML
