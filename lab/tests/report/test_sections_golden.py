# SPDX-License-Identifier: BSD-2-Clause
"""Sections as a whole, word by word: titles, captions, explanations, order of columns.

After a change that is meant: UPDATE_GOLDEN=1, and read the difference before it is committed."""

import os
from pathlib import Path

import pytest

from synthetic import Synthetic, run_of
from teemark.findings.subject import Subject, subjects
from teemark.page import markdown
from teemark.page.section import SectionFunction
from teemark.report.comparing import comparison_section
from teemark.report.sections.costs import costs

SECTIONS: dict[str, SectionFunction] = {
    "costs": costs,
    "comparison": comparison_section,
}
GOLDEN = Path(__file__).parent / "golden"


@pytest.fixture(scope="module")
def made() -> tuple[Subject, ...]:
    """One that counts instructions, and one that scatters."""
    exact = Synthetic(identical=True, counter=1.01, algorithms=("sha256",), page=190)
    noisy = Synthetic(seed=2, board="noisy", counter=0.9, algorithms=("sha256",), noise=0.01)
    streams = {"stream/sha256/c/65536/4096": [9e5] * 8, "stream/sha256/c/65536/65536": [1e6] * 8}
    whole = {f"oneshot/sha256/c/{n}": [500 + 15.0 * n] * 8 for n in (0, 64, 1024, 4096, 65536)}
    runs = [one.run() for one in (exact, noisy)]
    return subjects([*runs, run_of(whole | streams, icount=True)])


@pytest.mark.parametrize("name", SECTIONS)
def test_section(made: tuple[Subject, ...], name: str) -> None:
    function: SectionFunction = SECTIONS[name]
    section = function(made)
    assert section is not None
    text = markdown.render("", "", [section], ())
    file = GOLDEN / f"{name}.md"
    if os.environ.get("UPDATE_GOLDEN"):
        file.write_text(text)
    assert text == file.read_text()
