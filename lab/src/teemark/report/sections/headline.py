# SPDX-License-Identifier: BSD-2-Clause
"""The answer in sentences; what was measured on which board, and how far to trust it."""

from collections import Counter

from teemark.base.finding import ranked
from teemark.findings.subject import Subject
from teemark.model.stats import WANDER, rarest
from teemark.page import blocks as page
from teemark.page.section import RunSection
from teemark.report.sections.causes import HELP
from teemark.studies.answers import answers, table
from teemark.wording import fmt


def _of(subject: Subject) -> list[page.Block]:
    blocks: list[page.Block] = []
    board = (finding for finding in subject.found("board") if finding.key != "emulated")
    first = (*subject.found("answer"), *board)
    answered = answers(subject)
    if answered:
        checked = tuple(finding for finding in answered if finding.status != "not checked")
        holds = sum(finding.status == "found" for finding in checked)
        here = f": {holds} of {len(checked)} hold here" if checked else ""
        blocks.append(page.Heading(f"What the document concludes{here}"))
        if checked:
            fold = page.Fold("Why they hold or not", "figure by figure", (page.Findings(checked),))
            blocks += [table(subject), fold]
        others = [finding for finding in answered if finding.status == "not checked"]
        reasons = Counter(finding.evidence for finding in others)
        shared = [why for why, number in reasons.items() if number > 1]
        for why in (*shared, *[""] * (len(shared) < len(reasons))):
            these = [one for one in others if one.evidence * (one.evidence in shared) == why]
            items = tuple((one.claim if why else f"{one.claim} {one.evidence}",) for one in these)
            title = f"{fmt.plural(len(these), 'conclusion')} not measured here"
            note = why or "with the reason"
            blocks.append(page.Fold(title, note, (page.Bullets(items),)))
    if first:
        blocks += [page.Heading("What else the run shows")] * bool(answered)
        blocks.append(page.Findings(first, brief=True))
    if dearest := ranked(subject.found("cause"))[:HELP]:
        blocks += [page.Heading("What would help"), page.Findings(dearest, brief=True)]
    return blocks


def _measured(subject: Subject) -> list[page.Block]:
    emulated = (finding for finding in subject.found("board") if finding.key == "emulated")
    blocks: list[page.Block] = [
        page.Banner(finding.claim.rstrip("."), (finding.remedy,)) for finding in emulated
    ]
    blocks.append(page.Paragraph(_what(subject)))
    trust = subject.found("trust")
    doubts, notes = (
        tuple(check for check in trust if (check.severity == "note") is note)
        for note in (False, True)
    )
    blocks += [page.Findings(doubts)] if doubts else []
    if notes:
        number = fmt.plural(len(notes), "check")
        blocks.append(page.Fold("How well the figures are known", number, (page.Findings(notes),)))
    return blocks


def _what(subject: Subject) -> page.Text:
    run = subject.run
    starts = run.starts_a_case
    text: list[page.Inline] = [
        page.Strong(fmt.plural(len(run.measured), "case")),
        " measured with ",
        page.Strong(fmt.plural(run.samples, "sample")),
        "; the output of each case was verified before it was timed, and that of each sample's "
        "last call",
        f", but for {fmt.plural(run.unverified, 'case')}" if run.unverified else "",
        f"; {fmt.plural(len(run.skips), 'case')} can't run on this machine." if run.skips else ".",
    ]
    if run.header is not None:
        day = run.header.started.replace("T", " ").replace("Z", " UTC")
        plan, board = page.Code(run.header.plan), page.Code(run.header.board)
        text += [" Plan ", plan, " on board ", board, f", started {day}."]
    if starts > 1:
        text.append(
            f" Intervals hold what differs between its {starts} starts. What happens in fewer than "
            f"{fmt.percent(rarest(starts))} of all starts may not have happened in these {starts}: "
            f"if one start in ten is slow, {fmt.percent(0.9**starts)} of such runs met none, and "
            "their intervals miss the mean of all starts."
        )
    elif not subject.run.icount:
        text.append(
            " The programs were started once: no interval includes what differs between starts."
        )
    if starts < 2 and subject.models.sampling.dependence.neighbours > WANDER:
        text.append(
            " Each sample is much like the one before, as where a level wanders slowly: intervals "
            f"that say {fmt.LEVEL} then hold the truth in 56 to 97 of 100 such runs."
        )
    return tuple(text)


headline = RunSection("headline", "In short", _of)
measured = RunSection("measured", "What was measured", _measured)
