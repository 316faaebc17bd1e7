# SPDX-License-Identifier: BSD-2-Clause
"""A comparison as a page of its own, or as a comment on a merge request."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from teemark.model.compare import Limit
from teemark.page import html, markdown
from teemark.page.blocks import Banner, Facts, Section
from teemark.report import comparing
from teemark.report.comparing import Compared
from teemark.report.sections.comparison import verdicts
from teemark.version import __version__


def render(
    found: Sequence[Compared],
    obstacles: Sequence[str],
    limit: Limit | None,
    form: Literal["markdown", "html"],
) -> str:
    """`obstacles` are why the runs should not have been compared."""
    titles = [" → ".join(comparing.pair_names(one.base.run, one.other.run)) for one in found]
    sections = []
    for number, (one, title) in enumerate(zip(found, titles, strict=True), 1):
        runs = (("base", one.base.run), ("new", one.other.run))
        facts = Facts(tuple((word, (comparing.names(run),)) for word, run in runs))
        section = "What changed" if len(found) == 1 else title
        sections.append(Section(f"comparison-{number}", section, (*verdicts(one, limit), facts)))
    title = titles[0] if len(found) == 1 else f"Against {comparing.name(found[0].base.run)}"
    banners = [Banner("Compared by force", (f"{why}.",)) for why in obstacles]
    how = html.render if form == "html" else markdown.render
    return how(title, "", sections, f"Made by teemark {__version__}.", banners)
