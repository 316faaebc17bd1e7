# SPDX-License-Identifier: BSD-2-Clause
"""README and docs are short, and so are their sentences: a reader reads each of them once."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from teemark.base import paths

PAGES = [paths.root() / "README.md", *sorted((paths.root() / "docs").glob("*.md"))]

SENTENCE = 40
"""Words that a sentence has at most."""

ALL = 25_500
"""Words that docs/ has at most, tables and code included."""

APART = re.compile(r"<!--.*?-->|^(```).*?^\1$|^(?: {4,}|\t)[^\n]*$|^[|>][^\n]*$", re.S | re.M)
"""Comments, code, tables and quotes."""

UNIT = re.compile(r"\n\s*\n|\n(?=\s*(?:[-*•+]|\d+\.|#+) )|(?<=[^\n])\n(?=#)")
"""Between paragraphs, items of lists and headings."""

END = re.compile(r"(?<=[.!?])[*_)”\"]*\s+|(?<=[.!?][*_)”\"])\s+")


def sentences(text: str) -> Iterator[str]:
    """Yields the sentences of a Markdown text. Code within one is a word, a link is its text."""
    text = re.sub(r"`[^`\n]+`", "CODE", APART.sub("\n\n", text))
    text = re.sub(r"!?\[([^\]]*)\]\([^)]*\)", r"\1", text)
    for unit in UNIT.split(text):
        if not unit.lstrip().startswith("#"):
            yield from filter(None, (" ".join(one.split()) for one in END.split(unit)))


def words(sentence: str) -> int:
    """Returns how many words a sentence has; a dash or a sign alone is none."""
    return sum(any(map(str.isalnum, word)) for word in sentence.split())


def long(text: str) -> list[str]:
    """Returns the sentences of `text` that have more than SENTENCE words."""
    return [one for one in sentences(text) if words(one) > SENTENCE]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_no_sentence_is_long(page: Path) -> None:
    assert long(page.read_text(encoding="utf-8")) == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_a_long_sentence_is_noticed_on_each_page(page: Path) -> None:
    """Whatever stands above: an unclosed block of code would hide the rest of a page."""
    planted = " ".join(["word"] * (SENTENCE + 1)) + "."
    text = page.read_text(encoding="utf-8")
    assert long(f"{text}\n\nA short one. {planted} Another.\n") == [planted]


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("one two\nthree. Four `a b c` five.", [3, 3]),
        ("- one two:\n- three\n\nfour - five", [2, 1, 2]),
        ("one\n\n    code of a line\n\n| a | table |\n> quoted\n\ntwo [a link](b.md).", [1, 3]),
        ("```toml\na = 1\n\nb = 2\n```\n**One.** Two (three.) Four", [1, 2, 1]),
        ("# A heading\n\nVersion 4.5 has 2.5 times 1,000.", [6]),
    ],
)
def test_what_counts(text: str, count: list[int]) -> None:
    assert [words(one) for one in sentences(text)] == count


def test_docs_are_short() -> None:
    text = " ".join(page.read_text(encoding="utf-8") for page in PAGES if page.name != "README.md")
    assert len(text.split()) <= ALL
