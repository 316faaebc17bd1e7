# SPDX-License-Identifier: BSD-2-Clause
"""The report in a browser: axe-core has no objection, nothing is asked for, nothing collides."""

from pathlib import Path

import pytest

import browser
import synthetic
from synthetic import Synthetic, run_from
from teemark.report import run_page

pytestmark = [
    pytest.mark.skipif(browser.missing() is not None, reason=str(browser.missing())),
]

WIDTHS = (390, 768, 1440)


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    crowded = (0, 55, 56, 64, 1024, 4096, 8192, 16384, 65536, 524288, 1048576)
    return written(tmp_path_factory.mktemp("page"), crowded)


@pytest.fixture(scope="module")
def short_page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A few rows show axe-core the same as many."""
    return written(tmp_path_factory.mktemp("short"), (0, 64, 4096, 1048576))


def written(folder: Path, sizes: tuple[int, ...]) -> Path:
    """With every kind of block: an incomplete run with a failure, and one of starts beside it."""
    one_algorithm = ("sha256",)
    patch = pytest.MonkeyPatch()
    patch.setattr(synthetic, "SIZES", sizes)
    records = Synthetic(samples=6, counter=1.0, algorithms=one_algorithm).records()[:-1]
    records.append({"type": "fail", "case": "oneshot/sha256/c/64", "reason": "wrong digest"})
    one = run_from(records)
    other = Synthetic(seed=2, board="other", starts=2, samples=6, algorithms=one_algorithm)
    two = other.run()
    patch.undo()
    return run_page.write(run_page.make([one, two]), folder)


@pytest.mark.parametrize(("width", "dark"), [(390, True), (1440, False)])
def test_axe_core_has_no_objection(
    chromium: browser.Browser, short_page: Path, width: int, dark: bool
) -> None:
    chromium.show(short_page, width=width, dark=dark)
    chromium.evaluate("document.querySelectorAll('details').forEach(fold => fold.open = true)")
    assert chromium.axe() == []
    assert chromium.requests == [short_page.as_uri()]
    assert chromium.complaints == []
    assert chromium.evaluate("document.documentElement.scrollWidth") <= width


_OVERLAPS = """
(() => {
  const found = [];
  for (const svg of document.querySelectorAll("svg")) {
    const texts = [...svg.querySelectorAll("text")].filter(one => one.getClientRects().length);
    const boxes = texts.map(one => one.getBoundingClientRect());
    for (let i = 0; i < boxes.length; i++)
      for (let k = 0; k < i; k++) {
        const [a, b] = [boxes[i], boxes[k]];
        const wide = Math.min(a.right, b.right) - Math.max(a.left, b.left);
        const high = Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top);
        if (wide > 1 && high > 4) found.push(texts[i].textContent + " | " + texts[k].textContent);
      }
  }
  return found;
})()
"""


@pytest.mark.parametrize("width", WIDTHS)
def test_no_label_of_a_chart_lies_over_another(
    chromium: browser.Browser, page: Path, width: int
) -> None:
    chromium.show(page, width=width)
    chromium.evaluate("document.querySelectorAll('details').forEach(fold => fold.open = true)")
    assert chromium.evaluate("document.querySelectorAll('svg text').length") > 30
    assert chromium.evaluate(_OVERLAPS) == []


_BROKEN = """
  [...document.querySelectorAll("code span")].filter(one => one.getClientRects().length > 1)
    .map(one => one.textContent)
"""

_RAGGED = """
  [...document.querySelectorAll("td")].filter(cell => {
    const bar = cell.querySelector(".bar i");
    if (!bar || !bar.getClientRects().length) return false;
    const left = cell.getBoundingClientRect().left + parseFloat(getComputedStyle(cell).paddingLeft);
    return Math.abs(bar.getBoundingClientRect().left - left) > 1;
  }).map(cell => cell.textContent)
"""


@pytest.mark.parametrize("width", WIDTHS)
def test_no_word_of_a_command_is_broken_and_bars_begin_at_one_place(
    chromium: browser.Browser, page: Path, width: int
) -> None:
    chromium.show(page, width=width)
    chromium.evaluate("document.querySelectorAll('details').forEach(fold => fold.open = true)")
    assert chromium.evaluate("document.querySelectorAll('code span').length") > 30
    assert chromium.evaluate(_BROKEN) == []
    assert chromium.evaluate("document.querySelectorAll('.bar i').length") > 3
    assert chromium.evaluate(_RAGGED) == []
    assert "`" not in chromium.evaluate("document.body.innerText")


def test_what_axe_core_is_for(chromium: browser.Browser, tmp_path: Path) -> None:
    """It does object, and requests and complaints are seen."""
    bad = tmp_path / "bad.html"
    bad.write_text(
        "<html><body style='background:#fff'><p style='color:#ddd'>pale</p>"
        "<img src='file:///nowhere.png'><script>console.error('oh')</script>"
    )
    chromium.show(bad, width=390)
    objections = " ".join(chromium.axe())
    for word in ("color-contrast", "image-alt", "html-has-lang"):
        assert word in objections
    assert "file:///nowhere.png" in chromium.requests
    assert any("oh" in complaint for complaint in chromium.complaints)


def test_the_page_asks_for_nothing_even_if_it_were_told_to(
    chromium: browser.Browser, page: Path, tmp_path: Path
) -> None:
    """The content security policy, should an escape ever be missing."""
    told = tmp_path / "told.html"
    evil = (
        "<script>document.title = 'ran'</script><img src='file:///a.png'>"
        "<p style=\"background:url('file:///b.png')\">x</p>"
    )
    told.write_text(page.read_text().replace("</body>", evil + "</body>"))
    chromium.show(told, width=390)
    assert chromium.evaluate("document.title") != "ran"
    assert chromium.requests == [told.as_uri()]
