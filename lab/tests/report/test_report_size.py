# SPDX-License-Identifier: BSD-2-Clause
"""A reader sees this without opening a fold: five screens of a report of `quick`, README in a
minute."""

import re
import shutil
from pathlib import Path

import pytest

import browser
from synthetic import Synthetic, run_from
from teemark.base import paths
from teemark.report import run_page

WORDS, HEIGHT = 2500, 5000
"""Words, and pixels at 1440 pixels' width, that a reader gets without asking for more."""


@pytest.mark.skipif(shutil.which("chromium") is None, reason="there is no chromium")
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


LEAVES = """(() => {
  document.querySelectorAll('details').forEach(fold => fold.open = true);
  const found = [];
  for (const drawing of document.querySelectorAll('svg')) {
    const room = drawing.getBoundingClientRect();
    for (const text of room.width ? drawing.querySelectorAll('text') : []) {
      const box = text.getBoundingClientRect();
      if (box.right > room.right + 1 || box.left < room.left - 1) found.push(text.textContent);
    }
  }
  return found;
})()"""
"""Says which words of charts stand outside of their picture, where nobody sees them."""


@pytest.mark.skipif(shutil.which("chromium") is None, reason="there is no chromium")
@pytest.mark.parametrize("width", [390, 1440])
def test_no_word_of_a_chart_leaves_its_picture(
    chromium: browser.Browser, tmp_path: Path, width: int
) -> None:
    """Drivers' names did, in a fold that nobody opened."""
    records = Synthetic(identical=True, algorithms=("sha256",)).records()
    long = "afalg:sha256-arm64-neon"
    for record in records:
        if str(record.get("case", "")).startswith("oneshot/sha256/ce/"):
            record["case"] = str(record["case"]).replace("/ce/", f"/{long}/")
    page = run_page.write(run_page.make([run_from(records)]), tmp_path)
    chromium.show(page, width=width)
    assert long[-4:] in chromium.evaluate("document.body.textContent")
    assert chromium.evaluate(LEAVES) == []
