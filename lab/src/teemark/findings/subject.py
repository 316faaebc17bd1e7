# SPDX-License-Identifier: BSD-2-Clause
"""A subject of a report is a run with its models and findings."""

from collections.abc import Sequence
from dataclasses import dataclass

from teemark.base.finding import Finding, Topic
from teemark.base.work import ONESHOT
from teemark.findings.ground import Ground
from teemark.findings.rules import judge
from teemark.run.reader import RunData
from teemark.trace.profile import Trace
from teemark.wording import fmt

OF_MESSAGES = {
    "first": "The broker's CPU time for the first message",
    "cpu": "The broker's CPU time for a message",
    "latency": "A message from its publisher to its reader",
}


@dataclass(frozen=True, slots=True)
class Subject(Ground):
    findings: tuple[Finding, ...] = ()
    label: str = ""  # The run's name in a report of several
    against: Trace | None = None  # The trace that this run's trace is compared with

    def found(self, *topics: Topic) -> tuple[Finding, ...]:
        """Returns the findings on these topics, found and undecided ones."""
        claims = (finding for finding in self.findings if finding.topic in topics and finding.claim)
        return tuple(finding for finding in claims if finding.status in ("found", "undecided"))

    @property
    def doubts(self) -> tuple[Finding, ...]:
        """Returns the findings that make figures of the run less certain than they seem."""
        return tuple(doubt for doubt in self.found("board", "trust") if doubt.severity != "note")

    @property
    def caveat(self) -> str:
        """Returns a caption's remark for an emulated board; otherwise an empty string."""
        if self.run.icount:
            return "Emulated: instructions counted, 1 ns each"
        return "Emulated timings" if self.run.emulated else ""

    def curve(self, workload: str, algorithm: str) -> str:
        """Returns the name of a curve over sizes; the workload of one-shots isn't named."""
        measure, _, readers = algorithm.partition("-")
        if workload == "broker" and measure in OF_MESSAGES and readers.isdigit():
            return f"{OF_MESSAGES[measure]}, {fmt.plural(int(readers), 'reader')}"
        name = self.run.title(algorithm)
        return name if workload == ONESHOT.name else f"{name}, {workload}"


def subjects(
    runs: Sequence[RunData], traces: Sequence[Trace | None] = (), against: Trace | None = None
) -> tuple[Subject, ...]:
    """Returns each run fitted and judged; labels tell runs of the same board apart."""
    judged = []
    names = [run.name for run in runs]
    for number, run in enumerate(runs, 1):
        label = run.name if names.count(run.name) == 1 else f"{run.name} ({number})"
        trace = traces[number - 1] if traces else None
        ground = Ground.of(run, trace)
        fields = (run, ground.models, ground.breakdowns, trace)
        judged.append(Subject(*fields, findings=judge(ground), label=label, against=against))
    return tuple(judged)
