# SPDX-License-Identifier: BSD-2-Clause
"""A trace in a browser: the report's flame graph, and speedscope with what we export for it."""

import base64
from pathlib import Path

import pytest

import browser
from synthetic import Synthetic
from teemark.report import run_page
from teemark.trace import store
from test_trace_outputs import case, trace
from waiting import until

pytestmark = [
    pytest.mark.skipif(browser.missing() is not None, reason=str(browser.missing())),
]


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    run = Synthetic(samples=3, algorithms=("sha256",)).run()
    made = run_page.make([run], [trace()], trace(case(30)))
    return run_page.write(made, tmp_path_factory.mktemp("page"))


_SEEN = """
[...document.querySelectorAll('svg[aria-label^="Flame graph"]')].map(svg => ({
  box: svg.getBoundingClientRect().toJSON(),
  names: [...svg.querySelectorAll("text")].map(one => one.textContent),
  titles: [...svg.querySelectorAll("title")].map(one => one.textContent),
})).filter(one => one.box.width > 0)
"""


@pytest.mark.parametrize("dark", [False, True])
@pytest.mark.parametrize("width", [390, 1440])
def test_the_flame_graph_is_seen_without_scripts_and_asks_for_nothing(
    chromium: browser.Browser, page: Path, width: int, dark: bool
) -> None:
    chromium.call("Emulation.setScriptExecutionDisabled", value=True)
    try:
        chromium.show(page, width=width, dark=dark)
        seen = chromium.evaluate(_SEEN)
    finally:
        chromium.call("Emulation.setScriptExecutionDisabled", value=False)
    assert len(seen) == 2  # the graph and the difference, of two widths one each
    for graph in seen:
        assert graph["box"]["left"] >= 0
        assert graph["box"]["right"] <= width
        assert "memset" in graph["names"]
        said = "memset (S-EL1, core: memset): 60"
        assert any(title.startswith(said) for title in graph["titles"])
    assert chromium.requests == [page.as_uri()]
    assert chromium.complaints == []
    chromium.show(page, width=width, dark=dark)  # axe-core is a script
    assert chromium.axe() == []


def test_speedscope_imports_what_is_exported_for_it(
    chromium: browser.Browser, tmp_path: Path
) -> None:
    """The viewer's own importer reads it, which its package has no other way to call."""
    index = browser.SPEEDSCOPE / "index.html"
    if not index.exists():
        pytest.skip("there is no speedscope (`make test-deps` installs it, with npm)")

    def opened(text: str) -> str:
        coded = base64.b64encode(text.encode()).decode()
        # as the package's own command hands a file to the page
        profile = tmp_path / "profile.js"
        profile.write_text(f'speedscope.loadFileFromBase64("trace.folded", "{coded}")')
        # the query makes it another page, which is loaded anew
        fragment = f"?{len(text)}#localProfilePath={profile}"
        chromium.show(index, width=1440, fragment=fragment)

        def shown() -> str:
            text = str(chromium.evaluate("document.title + ' | ' + document.body.innerText"))
            return text if "Sandwich" in text or "wrong" in text else ""

        return until("speedscope's answer", shown, 0.2)

    exported = store.folded(trace(case()))
    shown = opened(exported)
    assert shown.startswith("trace.folded - speedscope")
    chromium.evaluate(
        "[...document.querySelectorAll('div')].filter(one => one.textContent === '🥪Sandwich')"
        ".forEach(one => one.click())"
    )

    def table() -> str:
        text = " ".join(str(chromium.evaluate("document.body.innerText")).split())
        return text if "memset_[S-EL1]" in text else ""

    assert "60 (50%)" in until("the table of functions", table, 0.2)  # memset's own of 120
