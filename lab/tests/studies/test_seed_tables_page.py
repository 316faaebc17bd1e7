# SPDX-License-Identifier: BSD-2-Clause
"""The published tables in a browser: on a screen of 1280 pixels they are seen whole."""

import shutil
from pathlib import Path

import pytest

import browser
from teemark.report.run_page import make, write
from test_seed_tables import DOCUMENTS, made_up

pytestmark = [
    pytest.mark.skipif(shutil.which("chromium") is None, reason="there is no chromium"),
]

WIDTH = 1280

_TOO_WIDE = """
[...document.querySelectorAll('.scroll')]
  .filter(box => box.closest('section').id === 'published' && box.scrollWidth > box.clientWidth)
  .map(box => [box.querySelector('thead').innerText, box.scrollWidth, box.clientWidth])
"""


@pytest.mark.parametrize("name", DOCUMENTS)
def test_no_table_has_to_be_scrolled(chromium: browser.Browser, tmp_path: Path, name: str) -> None:
    chromium.show(write(make([made_up(name)]), tmp_path), width=WIDTH)
    chromium.evaluate("document.querySelectorAll('details').forEach(fold => fold.open = true)")
    shown = "document.querySelectorAll('#published .scroll').length"
    assert chromium.evaluate(shown) > 2
    assert chromium.evaluate(_TOO_WIDE) == []
