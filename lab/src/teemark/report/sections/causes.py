# SPDX-License-Identifier: BSD-2-Clause
"""Why calls cost what they cost: the causes that the run shows, the dearest first, the causes that
it rules out, and the causes that it can't check, with the command that would; advice on choices;
and the words of a page. `teemark explain` prints the same blocks."""

import tomllib
from collections.abc import Iterator, Sequence
from importlib.resources import files

from teemark.base.finding import Finding, ranked
from teemark.findings.subject import Subject
from teemark.page import blocks as page
from teemark.page.section import RunSection

CAUSES: dict[str, str] = tomllib.loads(
    files("teemark.findings").joinpath("causes.toml").read_text(encoding="utf-8")
)
"""Sentences that say what a cause is, by its key in JSON. A test compares the glossary."""
HELP = 2  # Dearest causes whose remedies stand on the first screen of a report


def causes_of(subject: Subject, most: int | None = None, first: int = 0) -> list[page.Block]:
    """Returns the `most` dearest causes that were found, without the `first` ones; for a run that
    calls into the TEE, also the other causes."""
    findings = tuple(finding for finding in subject.findings if finding.topic == "cause")
    called = subject.breakdowns or subject.trace
    dearest = ranked(findings)[:most]
    others = tuple(_others(findings, dearest)) if called else ()
    shown = dearest[first:]
    blocks: list[page.Block] = [page.Findings(shown)] if shown else []
    return [*blocks, page.Bullets(others)] if others else blocks


def _others(findings: Sequence[Finding], above: Sequence[Finding]) -> Iterator[page.Text]:
    """Yields a line for each cause that wasn't found, or for all of one status. A command that a
    claim in `above` names already isn't repeated."""
    out, open_, unknown = (
        [finding for finding in findings if finding.status == status]
        for status in ("ruled out", "undecided", "not checked")
    )
    silent = [finding for finding in out if not finding.claim]
    if silent:
        yield page.Strong("Ruled out"), ": ", *_names(silent), "."
    for finding in open_:
        if not finding.claim:
            yield page.Strong("Undecided"), ": ", term(finding.key), f" ({finding.evidence})."
    for finding in (*out, *open_, *unknown):
        if finding.claim:
            remedy = f" {finding.remedy}" * (finding.status == "undecided")
            yield ((finding.claim + remedy).strip(),)
    for command in filter(None, dict.fromkeys(finding.remedy for finding in unknown)):
        these = [finding for finding in unknown if finding.remedy == command]
        repeated = any(command in finding.claim for finding in above)
        by = "the command above" if repeated else page.Code(command)
        yield page.Strong("Not checked"), ": ", *_names(these), ". To check: ", by, "."
    for finding in unknown:
        if not finding.remedy:
            yield (
                page.Strong("Can't be checked here"),
                ": ",
                term(finding.key),
                f", for lack of {finding.lacks}.",
            )


def _names(findings: Sequence[Finding]) -> list[page.Inline]:
    parts: list[page.Inline] = [part for finding in findings for part in ("; ", term(finding.key))]
    return parts[1:]


def term(key: str) -> page.Term:
    """Returns a cause in words, which leads to its entry among the page's words."""
    return page.Term(CAUSES.get(key, key), key)


def _choices(subject: Subject) -> list[page.Block]:
    findings = subject.found("choice")
    return [page.Findings(findings)] if findings else []


causes = RunSection(
    "causes",
    "Why it costs that",
    lambda subject: causes_of(subject, first=HELP),
    "Each known cause of lost time has a signature that a run shows or doesn't. A signature is no "
    "proof: another cause may leave the same one.",
    "what was ruled out, and what wasn't checked",
)
choices = RunSection(
    "choices",
    "What to choose",
    _choices,
    "Memory and backends are compared at sizes that were measured, pieces of a message by the "
    "models; only what is at least 1 % better is advised. teemark's own code outside of the TEE "
    "(c, ce) is never advised.",
    "kind of memory, size of pieces, backend",
)


def words(subjects: Sequence[Subject]) -> page.Section | None:
    """Returns the section that says what each backend and cause means; others link to it."""
    means = {case.work.backend: "" for subject in subjects for case in subject.run.sound}
    means |= {b.name: b.title for subject in subjects for b in subject.run.machine.backends}
    rows = [((page.Term(slug, slug, entry=True),), text) for slug, text in (means | CAUSES).items()]
    table = page.Table(page.left("slug", "meaning"), rows)
    return page.Section("words", "Words", (table,), "the slugs of JSON and commands")
