# SPDX-License-Identifier: BSD-2-Clause
"""Renders sections as one HTML file without external references; only SVG of ours isn't escaped."""

from collections.abc import Sequence

from teemark.page.bars import NARROW, WIDE
from teemark.page.blocks import Block, Section
from teemark.page.charts import is_palette_name


def render(
    title: str,
    subtitle: str,
    sections: Sequence[Section],
    generator: str,
    notices: Sequence[Block] = (),
) -> str:
    import jinja2

    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("teemark.page", "templates"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.tests["block"] = lambda value, name: type(value).__name__ == name
    environment.filters["known_colour"] = is_palette_name
    environment.globals |= {"wide": WIDE, "narrow": NARROW}
    template = environment.get_template("report.html.j2")
    return template.render(
        title=title, subtitle=subtitle, notices=notices, sections=sections, generator=generator
    )
