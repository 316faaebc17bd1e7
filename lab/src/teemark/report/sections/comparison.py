# SPDX-License-Identifier: BSD-2-Clause
"""Several runs side by side: a section of their report, a page of its own, or a comment on a merge
request."""

from collections.abc import Sequence
from typing import Literal

from teemark.base import fmt
from teemark.findings.subject import Subject
from teemark.model.compare import Limit, obstacles
from teemark.page import blocks as page
from teemark.page import html, markdown
from teemark.report import comparing
from teemark.report.comparing import Compared, compared
from teemark.version import __version__


def comparison(subjects: Sequence[Subject]) -> page.Section | None:
    """Returns None for a single run. The first is what the others are compared with."""
    blocks: list[page.Block] = []
    for other in subjects[1:]:
        blocks.append(page.Heading(f"{other.label} against {subjects[0].label}"))
        words = "; ".join(obstacles(subjects[0].run, other.run))
        for word, one in (("BASE", subjects[0]), ("NEW", other)):
            words = words.replace(word, one.label)
        not_compared = page.Paragraph((page.Strong("Not compared"), f": {words}."))
        blocks += [not_compared] if words else _verdicts(compared(subjects[0], other))
    return page.Section("comparison", "Side by side", tuple(blocks)) if blocks else None


def _verdicts(of: Compared, limit: Limit | None = None) -> list[page.Block]:
    """Returns the answer and what changed; folded, every case and how it was judged."""
    blocks = comparing.blocks(of, limit, "see “Every case”")
    if of.found.pairs:
        cases = fmt.plural(len(of.found.verdicts()), "case")
        table = comparing.case_table(of, of.found.worst_first)
        blocks.append(page.Fold("Every case", f"{cases}, the worst first", (table,)))
    method = page.Bullets(tuple((sentence,) for sentence in comparing.method(of)))
    return [*blocks, page.Fold("How this was judged", "", (method,))] if method.items else blocks


def render(
    found: Sequence[Compared],
    obstacles: Sequence[str],
    limit: Limit | None,
    form: Literal["markdown", "html"],
) -> str:
    """Returns a page of comparisons; `obstacles` are why they should not have been made."""
    titles = [" → ".join(comparing.pair_names(one.base.run, one.other.run)) for one in found]
    sections = []
    for number, (one, title) in enumerate(zip(found, titles, strict=True), 1):
        runs = (("base", one.base.run), ("new", one.other.run))
        facts = page.Facts(tuple((word, (comparing.names(run),)) for word, run in runs))
        head = "What changed" if len(found) == 1 else title
        blocks = (*_verdicts(one, limit), facts)
        sections.append(page.Section(f"comparison-{number}", head, blocks))
    title = titles[0] if len(found) == 1 else f"Against {comparing.name(found[0].base.run)}"
    run = found[0].base.run.run
    subtitle = f"{run.plan} on {run.board}" if run is not None else ""
    banners = [page.Banner("Compared by force", (f"{why}.",)) for why in obstacles]
    how = html.render if form == "html" else markdown.render
    return how(title, subtitle, sections, f"Made by teemark {__version__}.", banners)
