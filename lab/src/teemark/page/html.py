# SPDX-License-Identifier: BSD-2-Clause
"""Renders sections as one HTML file without external references; only its own SVG isn't escaped."""

import base64
import hashlib
from collections.abc import Mapping, Sequence
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING

from teemark.page.bars import NARROW, WIDE
from teemark.page.blocks import Block, Section, Text
from teemark.page.charts import is_palette_name

if TYPE_CHECKING:
    from jinja2 import Environment


@cache
def environment(*rooms: str) -> "Environment":
    """Returns the Jinja environment of these subpackages' templates; if two have the same name, the
    first counts. It escapes everything that isn't marked as safe."""
    import jinja2

    return jinja2.Environment(
        loader=jinja2.ChoiceLoader(
            [jinja2.PackageLoader(f"teemark.{room}", "templates") for room in rooms]
        ),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )


def render(
    title: str,
    subtitle: str,
    sections: Sequence[Section],
    footer: Sequence[Text],
    notices: Sequence[Block] = (),
) -> str:
    env = environment("page")
    env.tests["block"] = lambda value, name: type(value).__name__ == name
    env.filters["known_colour"] = is_palette_name
    env.globals |= {"wide": WIDE, "narrow": NARROW}
    template = env.get_template("report.html.j2")
    return template.render(
        title=title, subtitle=subtitle, notices=notices, sections=sections, footer=footer
    )


def index(
    title: str,
    answer: str,
    groups: Sequence[Mapping[str, object]],
    data: str,
    footer: Sequence[str],
) -> str:
    """Returns a page of many runs. Its one script, index.js, is named by its digest in the page's
    policy; `data` is JSON without "<"."""
    script = files("teemark.page").joinpath("templates/index.js").read_text(encoding="utf-8")
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    template = environment("page").get_template("index.html.j2")
    return template.render(
        title=title, answer=answer, groups=groups, data=data, footer=footer, script=script,
        digest=digest,
    )  # fmt: skip
