# SPDX-License-Identifier: BSD-2-Clause
"""Renders sections as Markdown (GitHub's flavour). Text that came from a board is escaped."""

import re
from collections.abc import Sequence

from teemark.base.finding import Finding
from teemark.page import blocks as kind
from teemark.wording import fmt

_SPACE = re.compile(rf"[^\S\u00a0{fmt.THIN}]+")
"""Matches spaces, but not those that hold a number's groups, or a number and its unit, together."""
_SPECIAL = re.compile(r"([\\`*_{}\[\]<>#|~])")
_LINE_START = re.compile(r"^(\s*)([-+]|\d+[.)])(\s)", re.M)


def escape(text: str) -> str:
    """Escapes text, so that Markdown shows it unchanged; returns it on one line."""
    flat = _SPACE.sub(" ", text).strip()
    return _LINE_START.sub(r"\1\\\2\3", _SPECIAL.sub(r"\\\1", flat).replace("&", "&amp;"))


def code(text: str) -> str:
    """Returns a code span; its fence is longer than any run of backticks in it."""
    flat = " ".join(text.split()).replace("|", "\\|")
    longest = max((len(run) for run in re.findall(r"`+", flat)), default=0)
    fence = "`" * (longest + 1)
    pad = " " if flat.startswith("`") or flat.endswith("`") else ""
    return f"{fence}{pad}{flat}{pad}{fence}"


def text(parts: kind.Text) -> str:
    texts = []
    for part in parts:
        match part:
            case kind.Strong() | kind.Mark():
                texts.append(f"{' ' * part.text[:1].isspace()}**{escape(part.text)}**")
            case kind.Code():
                texts.append(code(part.text))
            case kind.Term(entry=False) if part.slug != part.text:
                texts.append(f"{escape(part.text)} ({code(part.slug)})")
            case kind.Quiet() | kind.Term():
                texts.append(_keeping_ends(part.text))
            case _:
                texts.append(_prose(part))
    return "".join(texts)


def _keeping_ends(part: str) -> str:
    """Escapes text, but keeps a blank at either end, which separates it from its neighbours."""
    if not part.strip():
        return " " if part else ""
    return " " * part[0].isspace() + escape(part) + " " * part[-1].isspace()


def cell(value: kind.Cell) -> str:
    if isinstance(value, kind.Bar):
        return escape(value.text)
    return escape(value) if isinstance(value, str) else text(value).strip()


def table(value: kind.Table) -> str:
    heads = [
        escape(column.title) + (f" ({escape(column.unit)})" if column.unit else "")
        for column in value.columns
    ]
    rules = ["---" if column.align == "left" else "--:" for column in value.columns]
    lines = [heads, rules, *([cell(part) for part in row] for row in value.rows)]
    grid = "\n".join("| " + " | ".join(line) + " |" for line in lines)
    caption = ". ".join(escape(part) for part in (value.caption, value.note) if part)
    return f"{caption}\n\n{grid}" if caption else grid


def block(value: kind.Block, level: int) -> str:  # noqa: PLR0911 - one branch a kind
    match value:
        case kind.Paragraph():
            return text(value.text)
        case kind.Bullets():
            return "\n".join(f"- {text(item)}" for item in value.items)
        case kind.Findings():
            return "\n".join(_finding(item) for item in value.items)
        case kind.Banner():
            return f"> **{escape(value.title)}.** {text(value.text)}"
        case kind.Facts():
            rows = (f"| {escape(name)} | {text(value_).strip()} |" for name, value_ in value.rows)
            return "\n".join(["| | |", "|---|---|", *rows])
        case kind.Table():
            return table(value)
        case kind.Chart():
            title = f"{'#' * (level + 1)} {escape(value.title)}"
            shown = f"{title}\n\n{text(value.caption)}"
            return f"{shown}\n\n{table(value.data)}" if value.data is not None else shown
        case kind.Fold():
            inner = "\n\n".join(block(part, level + 1) for part in value.blocks)
            note = f" ({escape(value.note)})" if value.note else ""
            return f"{'#' * (level + 1)} {escape(value.title)}{note}\n\n{inner}"
        case kind.Heading():
            return f"{'#' * (level + 1)} {escape(value.text)}"


def _finding(item: Finding) -> str:
    mark = "Caution: " if item.severity != "note" else ""
    mark += "" if item.sure else "Uncertain: "
    bullet = f"- **{mark}{_prose(item.claim)}** {_prose(item.evidence)}".rstrip()
    return f"{bullet}\n  *{_prose(item.advice)}*" if item.advice else bullet


def _prose(text: str) -> str:
    """Returns sentences; what stands between backticks, such as a command, is code."""
    parts = text.split("`")
    if not len(parts) % 2:
        return escape(text)
    return "".join(code(p) if n % 2 else _keeping_ends(p) for n, p in enumerate(parts))


def render(
    title: str,
    subtitle: str,
    sections: Sequence[kind.Section],
    footer: Sequence[kind.Text],
    notices: Sequence[kind.Block] = (),
) -> str:
    parts = [f"# {escape(title)}", *(block(part, 1) for part in notices), escape(subtitle)]
    for section in sections:
        parts.append(f"## {escape(section.title)}")
        inner = [block(part, 2) for part in section.blocks]
        if section.lead:
            lead = f"<details><summary>{escape(section.lead)}</summary>"
            inner = [lead, *inner, "</details>"]
        parts += inner
    parts += ["---", *map(text, footer)]
    return "\n\n".join(part for part in parts if part) + "\n"
