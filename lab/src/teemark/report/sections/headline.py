# SPDX-License-Identifier: BSD-2-Clause
"""The answer in sentences; what was measured on which board, and how far to trust it."""

from teemark.base import fmt
from teemark.findings.subject import Part, Subject
from teemark.model.stats import rarest
from teemark.page import blocks as page
from teemark.studies.answers import answers, table


def _of(subject: Subject) -> list[page.Block]:
    blocks: list[page.Block] = []
    board = (one for one in subject.found("board") if one.key != "emulated")
    first = (*subject.found("answer"), *board)
    answered = answers(subject)
    if answered:
        known = tuple(one for one in answered if one.status != "not checked")
        holds = sum(one.status == "found" for one in known)
        here = f": {holds} of {len(known)} hold here" if known else ""
        blocks.append(page.Heading(f"What the document concludes{here}"))
        if known:
            said = page.Fold("What decides", "each figure in a sentence", (page.Findings(known),))
            blocks += [table(subject), said]
        others = [one for one in answered if one.status == "not checked"]
        for why in dict.fromkeys(one.evidence for one in others):
            these = tuple((one.claim,) for one in others if one.evidence == why)
            title = f"{fmt.plural(len(these), 'conclusion')} not measured here"
            blocks.append(page.Fold(title, why, (page.Bullets(these),)))
        blocks.append(page.Heading("What else the run shows"))
    if first:
        blocks.append(page.Findings(first))
    return blocks


def _measured(subject: Subject) -> list[page.Block]:
    emulated = (one for one in subject.found("board") if one.key == "emulated")
    blocks: list[page.Block] = [
        page.Banner(one.claim.rstrip("."), (one.remedy,)) for one in emulated
    ]
    blocks.append(page.Paragraph(_what(subject)))
    trust = subject.found("trust")
    doubts, notes = (
        tuple(one for one in trust if (one.severity == "note") is note) for note in (False, True)
    )
    blocks += [page.Findings(doubts)] if doubts else []
    if notes:
        number = fmt.plural(len(notes), "check")
        blocks.append(page.Fold("How well the figures are known", number, (page.Findings(notes),)))
    return blocks


def _what(subject: Subject) -> page.Text:
    run = subject.run
    starts = max((len(case.starts) for case in run.sound), default=1)
    text: list[page.Inline] = [
        page.Strong(fmt.plural(len(run.measured), "case")),
        " measured with ",
        page.Strong(fmt.plural(run.samples, "sample")),
        "; the output of each case was verified before it was timed, and that of each sample's "
        "last call",
        f", but for {fmt.plural(run.unverified, 'case')}" if run.unverified else "",
        f"; {fmt.plural(len(run.skips), 'case')} can't run on this machine." if run.skips else ".",
    ]
    if run.run is not None:
        day = run.run.started.replace("T", " ").replace("Z", " UTC")
        plan, board = page.Code(run.run.plan), page.Code(run.run.board)
        text += [" Plan ", plan, " on board ", board, f", started {day}."]
    if starts > 1:
        text.append(
            f" Intervals hold what differs between its {starts} starts. What happens in fewer than "
            f"{fmt.percent(rarest(starts))} of all starts may not have happened in these {starts}."
        )
    elif not subject.run.icount:
        text.append(
            " This is one start: what differs between starts can't be known from it, and is in no "
            "interval."
        )
    return tuple(text)


headline = Part("headline", "In short", _of)
measured = Part("measured", "What was measured", _measured)
