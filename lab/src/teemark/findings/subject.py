# SPDX-License-Identifier: BSD-2-Clause
"""A subject of a report: a run with its models and findings; and how sections are made of it."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from teemark.base import fmt
from teemark.base.finding import Finding, Topic
from teemark.base.work import ONESHOT
from teemark.findings.ground import Ground
from teemark.findings.rules import judge
from teemark.page.blocks import Block, Heading, Paragraph, Section, Strong, Text
from teemark.run.reader import RunData
from teemark.trace.profile import Trace

OF_MESSAGES = {
    "first": "The broker's CPU time for the first message",
    "cpu": "The broker's CPU time for a message",
    "latency": "A message from its publisher to its reader",
}


@dataclass(frozen=True, slots=True)
class Subject(Ground):
    findings: tuple[Finding, ...] = ()
    label: str = ""  # The run's name in a report of several
    against: Trace | None = None  # The trace that this one is compared with

    def found(self, *topics: Topic) -> tuple[Finding, ...]:
        """Returns what is said of these topics: what is found, and what is undecided."""
        asked = (finding for finding in self.findings if finding.topic in topics and finding.claim)
        return tuple(finding for finding in asked if finding.status in ("found", "undecided"))

    @property
    def doubts(self) -> tuple[Finding, ...]:
        """Returns what makes figures of the run mean less than they seem to."""
        return tuple(doubt for doubt in self.found("board", "trust") if doubt.severity != "note")

    @property
    def caveat(self) -> str:
        """Returns a caption's remark on an emulated board."""
        if self.run.icount:
            return "Emulated: instructions counted, 1 ns each"
        return "Emulated timings" if self.run.emulated else ""

    @property
    def remark(self) -> Text:
        """Returns the caveat as it stands behind the caption of a chart."""
        return (Strong(f" {self.caveat}."),) if self.caveat else ()

    def curve(self, workload: str, algorithm: str) -> str:
        """Names what is drawn or fitted over sizes: one-shots need no word."""
        measure, _, readers = algorithm.partition("-")
        if workload == "broker" and measure in OF_MESSAGES and readers.isdigit():
            return f"{OF_MESSAGES[measure]}, {fmt.plural(int(readers), 'reader')}"
        name = self.run.title(algorithm)
        return name if workload == ONESHOT.name else f"{name}, {workload}"


def subjects(
    runs: Sequence[RunData], traces: Sequence[Trace | None] = (), against: Trace | None = None
) -> tuple[Subject, ...]:
    """Fits and judges every run; labels tell runs of the same board apart."""
    made = []
    names = [run.name for run in runs]
    for number, run in enumerate(runs, 1):
        label = run.name if names.count(run.name) == 1 else f"{run.name} ({number})"
        trace = traces[number - 1] if traces else None
        ground = Ground.of(run, trace)
        fields = (run, ground.models, ground.breakdowns, trace)
        made.append(Subject(*fields, findings=judge(ground), label=label, against=against))
    return tuple(made)


SectionFunction = Callable[[Sequence[Subject]], Section | None]


@dataclass(frozen=True, slots=True)
class Part:
    """A section of a report. `blocks` makes those of a run; `intro` is what comes before them, made
    of all runs or always the same; `lead` says in a line what is inside while it is closed."""

    key: str
    title: str
    blocks: Callable[[Subject], Sequence[Block]]
    intro: str | Callable[[Sequence[Subject]], Block] = ""
    lead: str = ""

    def __call__(self, subjects: Sequence[Subject]) -> Section | None:
        """Returns the blocks of every subject, under its name when there are several; None where no
        subject has any."""
        made: list[Block] = []
        for subject in subjects:
            its = self.blocks(subject)
            if its and len(subjects) > 1:
                made.append(Heading(subject.label))
            made += its
        if made and self.intro:
            intro = self.intro
            made.insert(0, Paragraph((intro,)) if isinstance(intro, str) else intro(subjects))
        return Section(self.key, self.title, tuple(made), self.lead) if made else None
