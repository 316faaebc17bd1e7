# SPDX-License-Identifier: BSD-2-Clause
"""The documentation as a site (`make docs`): it opens from a folder, and no link is dead."""

import json
import re
import shutil
import subprocess
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urldefrag, urlsplit

import pytest

import browser
from teemark.base import paths

GENERATOR = paths.build() / "docs" / "bin" / "zensical"

pytestmark = pytest.mark.skipif(
    not GENERATOR.exists(), reason="no zensical (`make docs` installs it)"
)


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The site of this checkout, made in a folder of the test's own."""
    folder = tmp_path_factory.mktemp("site")
    shutil.copytree(paths.root() / "docs", folder / "docs")
    shutil.copy(paths.root() / "zensical.toml", folder)
    command = [str(paths.root() / "mk/docs"), str(folder)]
    made = subprocess.run(command, capture_output=True, text=True, check=False)
    assert made.returncode == 0, made.stdout + made.stderr
    return folder / "build" / "site"


def pages_of(nav: Any) -> Iterator[str]:
    for entry in nav:
        for target in entry.values():
            if isinstance(target, str):
                yield target
            else:
                yield from pages_of(target)


def test_every_page_of_docs_is_in_the_navigation() -> None:
    with (paths.root() / "zensical.toml").open("rb") as file:
        listed = sorted(pages_of(tomllib.load(file)["project"]["nav"]))
    listed.remove("releases/index.html")  # which mk/docs makes from reference/releases.json
    assert listed == sorted(page.name for page in (paths.root() / "docs").glob("*.md"))


def test_it_has_the_measured_releases(site: Path) -> None:
    told = json.loads((paths.reference() / "releases.json").read_text())
    text = (site / "releases/index.html").read_text()
    for version in told["versions"]:
        assert version["version"]["name"] in text
    for jump in told["jumps"]:
        assert jump["case"] in text
    shown = json.loads((site / "releases/data.json").read_text())
    assert shown["versions"] == told["versions"]
    assert 'href="./releases/index.html"' in (site / "index.html").read_text()


def test_no_link_of_the_site_is_dead(site: Path) -> None:
    dead = []
    for page in site.glob("*.html"):
        text = page.read_text(encoding="utf-8")
        for link in re.findall(r'(?:href|src)="([^"]*)"', text):
            target, fragment = urldefrag(unquote(link.replace("&amp;", "&")))
            if urlsplit(target).scheme or target.startswith("//") or page.name == "404.html":
                continue
            file = page if not target else (page.parent / target.partition("?")[0]).resolve()
            if file.is_dir():
                file = file / "index.html"
            if not file.exists():
                dead.append(f"{page.name}: {link}")
            elif fragment and file.suffix == ".html":
                there = file.read_text(encoding="utf-8")
                if f'id="{fragment}"' not in there and f"id={fragment}" not in there:
                    dead.append(f"{page.name}: {link}")
    assert dead == []


@pytest.mark.skipif(browser.missing() is not None, reason=str(browser.missing()))
@pytest.mark.parametrize("dark", [False, True])
@pytest.mark.parametrize("width", [390, 1440])
def test_it_opens_from_a_folder_and_asks_nobody(
    chromium: browser.Browser, site: Path, width: int, dark: bool
) -> None:
    chromium.show(site / "index.html", width=width, dark=dark)
    outside = ("http:", "https:", "ws:", "wss:")
    assert [address for address in chromium.requests if address.startswith(outside)] == []
    assert chromium.evaluate("document.documentElement.scrollWidth") <= width
    assert "How long are interrupts held off?" in chromium.evaluate("document.body.innerText")


OPENED = """new Promise(done => {
  const field = () => document.activeElement.shadowRoot?.activeElement?.matches("input");
  const open = () => {
    if (field()) return done(true);
    document.querySelector(".md-search__button").click();
    setTimeout(open, 500);
  };
  open();
})"""

SHOWN = """new Promise(done => {
  const within = one => one.shadowRoot?.querySelector('a[href*="/releases.html?h=bisect"]');
  const look = () => [...document.querySelectorAll("*")].some(within)
    ? done(true) : requestAnimationFrame(look);
  look();
})"""


@pytest.mark.skipif(browser.missing() is not None, reason=str(browser.missing()))
def test_search_finds_a_page_in_a_folder(chromium: browser.Browser, site: Path) -> None:
    chromium.show(site / "index.html", width=1440)
    chromium.evaluate(OPENED)
    chromium.call("Input.insertText", text="bisect")
    assert chromium.evaluate(SHOWN)
