# SPDX-License-Identifier: BSD-2-Clause
"""A reader sees this without opening a fold: five screens of a report of `quick`, README in a
minute."""

import re
import shutil
from pathlib import Path

import pytest

import browser
from synthetic import Synthetic
from teemark.base import paths
from teemark.report import run_page

WORDS, HEIGHT = 2500, 5000
"""Words, and pixels at 1440 pixels' width, that a reader gets without asking for more."""


@pytest.mark.skipif(shutil.which("chromium") is None, reason="there is no chromium")
@pytest.mark.timeout(300)
@pytest.mark.parametrize("width", [390, 1440])
def test_a_report_is_read_at_a_glance(
    chromium: browser.Browser, tmp_path: Path, width: int
) -> None:
    run = Synthetic(identical=True, counter=1.01, page=190).run()
    page = run_page.write(run_page.make([run]), tmp_path)
    chromium.show(page, width=width)
    words = chromium.evaluate("document.body.innerText.split(/\\s+/).length")
    assert 200 < words <= WORDS
    size = "document.documentElement"
    assert chromium.evaluate(f"{size}.scrollWidth") <= width
    if width == 1440:
        assert chromium.evaluate(f"{size}.scrollHeight") <= HEIGHT
    chromium.evaluate("document.querySelectorAll('details').forEach(fold => fold.open = true)")
    assert chromium.evaluate("document.body.innerText.split(/\\s+/).length") > 2 * words


def test_readme_has_600_words() -> None:
    text = (paths.root() / "README.md").read_text(encoding="utf-8")
    text = re.sub(r"<!--.*?-->", "", text, flags=re.S)
    assert sum(bool(re.search("[A-Za-z]", word)) for word in text.split()) <= 600
