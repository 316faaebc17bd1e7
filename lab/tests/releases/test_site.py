# SPDX-License-Identifier: BSD-2-Clause
"""The site of OP-TEE's versions: what it says, how large it is, and how it looks in a browser."""

import re
import xml.etree.ElementTree as ET
from html.parser import HTMLParser
from pathlib import Path

import msgspec
import pytest

import browser
from synthetic import run_with
from teemark.base.errors import UsageMistake
from teemark.model.compare import compare, readings
from teemark.page.blocks import Bullets, Table, cell_text, plain
from teemark.releases import jumps, site
from teemark.releases.jumps import Bisected
from teemark.releases.points import Kept, Point
from teemark.releases.site import Site
from teemark.releases.table import jump_table
from teemark.releases.versions import Version
from teemark.run.reader import RunData

ATOM = "{http://www.w3.org/2005/Atom}"
VERIFY = "verify/rsa-2048/tee/none"
EMPTY = "invoke/none/tee/none"


def version(number: int) -> Version:
    return Version(
        name=f"4.{number}.0",
        commit=f"{number:040x}",
        tree=f"{number:040x}",
        date=f"2025-{number % 12 + 1:02}-01",
        title=f"Change <{number}> & more",
    )


def kept(number: int, costs: dict[str, float] | None) -> Kept:
    point = Point(
        version=version(number),
        release=True,
        reason="" if costs else "not built: a.c:1: error: <b>",
        plan="releases",
        board="qemu-v8-icount",
        compiler="gcc 12",
    )
    return Kept(Path(f"4.{number}.0"), point, readings(run(costs)) if costs else {})


def run(costs: dict[str, float]) -> RunData:
    return run_with(costs, count=3)


def costs_of(number: int, cases: int) -> dict[str, float]:
    """Returns a version's costs: from the third on it verifies for a hundred times as much."""
    names = [EMPTY, VERIFY, *(f"oneshot/sha256/tee/{64 * n}" for n in range(1, cases - 1))]
    costs = {case: 50_000.0 * (place + 1) + number * 10 for place, case in enumerate(names)}
    costs[VERIFY] *= 100 if number >= 2 else 1
    return costs


def points(versions: int = 4, cases: int = 3) -> list[Kept]:
    """Returns versions of which the second couldn't be built."""
    return [kept(n, costs_of(n, cases) if n != 1 else None) for n in range(versions)]


def written(folder: Path, made: list[Kept], *bisected: Bisected) -> Path:
    found = jumps.jumps(made, bisected=bisected)
    Site(made, found, bisected, 0.05).write(folder)
    return folder


def bisected(made: list[Kept]) -> Bisected:
    jump = jumps.jumps(made)[0]
    return Bisected(
        case=VERIFY,
        first=jump.before.point.version,
        last=jump.after.point.version,
        before=jump.pair.first.value,
        after=jump.pair.second.value,
        previous=jump.before.point.version,
        found=(msgspec.structs.replace(version(2), title="Upgrade <the> library"),),
        parent=jump.pair.first.value,
        at=jump.pair.second.value,
        functions="mpi_montmul (S-EL1) +9 000 000",
    )


def texts(page: Path) -> str:
    """Returns a page's text as a reader sees it."""

    class Reader(HTMLParser):
        text = ""

        def handle_data(self, data: str) -> None:
            self.text += data

    reader = Reader()
    reader.feed(page.read_text())
    return " ".join(reader.text.split())


def test_the_overview_says_the_jump_with_its_commit_and_what_was_not_built(tmp_path: Path) -> None:
    made = points()
    folder = written(tmp_path / "site", made, bisected(made))
    text = texts(folder / "index.html")
    assert "3 versions measured in instructions, 1 not: 1 jump." in text
    assert f"{VERIFY} is 100 times dearer with 4.2.0" in text
    assert "Upgrade <the> library: mpi_montmul (S-EL1) +9 000 000" in text
    assert "not built: a.c:1: error: <b>" in text
    assert "from 4.0.0 to 4.2.0" in texts(folder / site.address(VERIFY))


def test_the_terminal_names_each_commit_once_and_says_how_to_find_the_others() -> None:
    """Two calls that one commit made dearer: their rows name it, and one line tells its title."""
    other = "oneshot/sha256/tee/64"
    costs = [costs_of(number, 4) for number in (0, 2)]
    made = [kept(n, one | {other: one[VERIFY]}) for n, one in zip((0, 2), costs, strict=True)]
    one = bisected(made)
    both = one, msgspec.structs.replace(one, case=other, functions="")
    for known, hints in ((both, 0), (both[:1], 1)):
        found = jumps.jumps(made, bisected=known)
        table, bullets = jump_table(found)
        assert isinstance(table, Table)
        assert isinstance(bullets, Bullets)
        commits = {cell_text(row[0]): cell_text(row[-1]) for row in table.rows}
        hashes = {call: version(2).commit[:9] if hints == 0 else "" for call in (VERIFY, other)}
        assert commits == hashes | {VERIFY: version(2).commit[:9]}
        told = [plain(item) for item in bullets.items]
        assert sum("Upgrade <the> library: mpi_montmul" in line for line in told) == 1
        assert sum("--bisect CALL" in line for line in told) == hints
        assert len(told) == 1 + hints


def test_the_feed_and_the_data_have_each_jump_and_every_link_has_its_file(tmp_path: Path) -> None:
    made = points()
    folder = written(tmp_path / "site", made, bisected(made))
    feed = ET.parse(folder / "jumps.xml").getroot()
    entries = feed.findall(f"{ATOM}entry")
    assert len(entries) == len(jumps.jumps(made)) == 1
    link = entries[0].find(f"{ATOM}link")
    assert link is not None
    assert (folder / link.attrib["href"]).is_file()
    data = msgspec.json.decode((folder / "data.json").read_bytes())
    assert [one["case"] for one in data["jumps"]] == [VERIFY]
    assert data["jumps"][0]["commit"] == version(2).commit
    assert data["versions"][1]["reason"].startswith("not built")
    for page in folder.rglob("*.html"):
        for to in re.findall(r'href="([^"#]+)', page.read_text()):
            assert (page.parent / to).is_file(), f"{page.name}: {to}"


def test_forty_versions_of_a_hundred_calls_take_under_three_megabytes(tmp_path: Path) -> None:
    folder = written(tmp_path / "site", points(40, 100))
    size = sum(file.stat().st_size for file in folder.rglob("*") if file.is_file())
    assert size < 3_000_000
    assert len(list(folder.glob("calls/*.html"))) == 100


def test_a_folder_with_other_files_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "letter.txt").write_text("dear")
    with pytest.raises(UsageMistake, match="has other files"):
        written(tmp_path, points())
    folder = written(tmp_path / "site", points(4, 4))
    written(folder, points(4, 3))
    assert len(list(folder.glob("calls/*.html"))) == 3  # none is left of the site before


@pytest.mark.skipif(browser.missing() is not None, reason=f"{browser.missing()}")
@pytest.mark.parametrize("width", [1440, 390])
def test_the_site_is_read_in_a_browser_from_a_folder(tmp_path: Path, width: int) -> None:
    made = points(12, 20)
    folder = written(tmp_path / "site", made, bisected(made))
    with browser.browser() as shown:
        for name in ("index.html", site.address(VERIFY), "compare.html"):
            shown.show(folder / name, width=width)
            assert shown.complaints == [], name
            assert shown.evaluate("document.documentElement.scrollWidth") <= width, name
            styled = "getComputedStyle(document.querySelector('.brand')).textTransform"
            assert shown.evaluate(styled) == "uppercase", name
            assert shown.axe() == [], name
            assert all(url.startswith("file:") for url in shown.requests)
        # Any two versions, by the judge of `compare`; also the newer one first.
        for one, other in ((0, 2), (3, 0)):
            first, second = made[one].name, made[other].name
            shown.evaluate(
                f"for (const [id, name] of [['from', '{first}'], ['to', '{second}']]) {{"
                "const select = document.getElementById(id);"
                "select.value = [...select.options].find(o => o.text === name).value;"
                "select.dispatchEvent(new Event('change')); }"
            )
            judged = compare(run(costs_of(one, 20)), run(costs_of(other, 20)))
            said = shown.evaluate("document.getElementById('answer').textContent")
            counts = [len(judged.of(verdict)) for verdict in ("worse", "better", "same")]
            assert said == (
                f"{first} → {second}: {counts[0]} of 20 calls are worse, {counts[1]} better, "
                f"{counts[2]} the same."
            )
            rows = shown.evaluate("document.querySelector('#rows tr').innerText")
            assert VERIFY in rows
