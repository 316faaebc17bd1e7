# SPDX-License-Identifier: BSD-2-Clause
"""`teemark plot`: each kind is a file that stands alone; what can't be drawn is said with what to
do."""

import re
import sys
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

from synthetic import Synthetic
from teemark.cli import main as cli
from teemark.page import charts, dots, figure_file
from teemark.trace import store
from test_trace_outputs import case, trace

KINDS = ("throughput", "breakdown", "flame", "compare")
SVG = "{http://www.w3.org/2000/svg}"


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, str]:
    """Two runs that count instructions, the second with a dearer backend; the first is traced."""
    made = []
    for number, shift in enumerate((1.0, 1.2)):
        truth = Synthetic().truth | {("sha256", "c"): (420.0, 14.9 * shift)}
        one = Synthetic(truth=truth, identical=True, samples=6, board=f"b{number}")
        folder = tmp_path_factory.mktemp(f"run{number}")
        (folder / "run.ndjson").write_bytes(b"".join(one.lines()))
        made.append(str(folder))
    store.write(trace(case()), Path(made[0]))
    return made[0], made[1]


def plot(runs: tuple[str, str], kind: str, file: Path) -> int:
    of = runs if kind == "compare" else runs[:1]
    return cli.run(["plot", *of, "--what", kind, "-o", str(file)])


@pytest.mark.parametrize("kind", KINDS)
def test_each_kind_is_an_svg_that_needs_nothing_else(
    runs: tuple[str, str], kind: str, tmp_path: Path
) -> None:
    assert plot(runs, kind, tmp_path / "a.svg") == 0
    text = (tmp_path / "a.svg").read_text(encoding="utf-8")
    top = ET.fromstring(text)
    assert "var(" not in text
    assert not re.search(r'(?:href|src)="(?!#)', text)
    for inner in top.findall(f"{SVG}svg"):
        place = [float(inner.attrib[name]) for name in ("x", "y", "width", "height")]
        assert place[0] + place[2] <= float(top.attrib["width"])
        assert place[1] + place[3] <= float(top.attrib["height"])
    said = "".join(top.itertext())
    assert ("b0" if kind != "flame" else "entry <std>") in said


@pytest.mark.parametrize("kind", KINDS)
def test_png_and_pdf(runs: tuple[str, str], kind: str, tmp_path: Path) -> None:
    pytest.importorskip("cairosvg")
    for end, first in (("png", b"\x89PNG\r\n"), ("pdf", b"%PDF-")):
        file = tmp_path / f"a.{end}"
        assert plot(runs, kind, file) == 0
        assert file.read_bytes().startswith(first)
        assert file.stat().st_size > 2000


def test_a_missing_extra_is_named_and_leaves_no_file(
    runs: tuple[str, str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setitem(sys.modules, "cairosvg", None)
    assert plot(runs, "throughput", tmp_path / "a.pdf") == 1
    assert (
        "install the extra plot (`make venv-dev` has it), or write an .svg"
        in capsys.readouterr().err
    )
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("words", "status", "said"),
    [
        ("RUN --what spiral -o a.svg", 2, "'spiral' is not one of"),
        ("RUN --what flame -o a.gif", 2, "end it with .svg, .png or .pdf"),
        ("RUN --what compare -o a.svg", 2, "takes two runs or more"),
        ("RUN RUN --what compare -o a.svg", 1, "no case is better or worse"),
        ("RUN RUN --what compare --of sha256 -o a.svg", 2, "no --of"),
        ("RUN --what throughput --of md5 -o a.svg", 2, "there are: sha256, sha1, sha512"),
        ("OTHER --what flame -o a.svg", 1, "`teemark trace CASE…` records it"),
        ("nowhere --what flame -o a.svg", 2, "no such file"),
        ("RUN --what flame -o /proc/a.svg", 1, "name another place with -o"),
    ],
)
def test_what_cannot_be_drawn(
    runs: tuple[str, str],
    words: str,
    *,
    status: int,
    said: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    line = words.replace("RUN", runs[0]).replace("OTHER", runs[1]).split()
    assert cli.run(["plot", *line]) == status
    assert said in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


def test_the_colours_are_those_of_the_light_page() -> None:
    found = figure_file.colours()
    assert (found["sheet"], found["ink"], found["c-0"]) == ("#ffffff", "#1c1f24", "#c2410c")


def test_a_scale_has_three_ticks_around_all_values() -> None:
    for low, high in ((1.0, 1.0), (9.0, 11.0), (2.0, 7.0), (0.04, 900.0), (57_000.0, 58_000.0)):
        ticks = charts.log_ticks(low, high)
        assert ticks[0] <= low <= high <= ticks[-1]
        assert 3 <= len(ticks) <= 9
    assert dots.level_ticks(0.12) == [-0.2, -0.1, 0, 0.1, 0.2]


def test_a_dot_stands_where_its_value_is() -> None:
    far = dots.DotRow("b", (dots.Dot(100.0, "0", ""),))
    rows = [far, dots.DotRow("a", (dots.Dot(1.0, "0", "one"), dots.Dot(10.0, "1", "ten")))]
    svg = ET.fromstring(dots.render(rows, 660, "{:g}".format))
    spots = [one for one in svg.iter(f"{SVG}rect") if one.find(f"{SVG}title") is not None]
    spots = [one for one in spots if one.attrib.get("rx")]
    middles = [float(one.attrib["x"]) + dots.RADIUS for one in spots]
    assert middles == [pytest.approx(30, abs=0.1), pytest.approx(330, abs=0.1)]


def test_a_figure_for_a_paper(runs: tuple[str, str], tmp_path: Path) -> None:
    """A column is 85 mm wide; its title and font are the paper's, its figures stand beside it."""
    file = tmp_path / "a.svg"
    words = ["--width", "85", "--title", "", "--font", "Latin Modern Roman", "--csv"]
    assert cli.run(["plot", runs[0], "-o", str(file), *words]) == 0
    top = ET.fromstring(file.read_text(encoding="utf-8"))
    assert top.attrib["width"] == "85.00mm"
    assert top.attrib["font-family"] == "Latin Modern Roman"
    said = "".join(top.itertext())
    assert "b0" not in said
    assert "bytes in one call" in said
    assert "instructions a byte" in said
    lines = (tmp_path / "a.csv").read_text(encoding="utf-8").splitlines()
    assert lines[0].startswith("chart,bytes,TEE API (instructions a byte)")
    assert lines[1].startswith("SHA-256,0 B") or lines[1].startswith("SHA-256,64 B")
    assert all("\N{NARROW NO-BREAK SPACE}" not in line for line in lines)


@pytest.mark.parametrize("kind", KINDS)
def test_each_kind_has_its_figures_as_csv(runs: tuple[str, str], kind: str, tmp_path: Path) -> None:
    of = runs if kind == "compare" else runs[:1]
    file = tmp_path / "a.svg"
    assert cli.run(["plot", *of, "--what", kind, "-o", str(file), "--csv"]) == 0
    lines = (tmp_path / "a.csv").read_text(encoding="utf-8").splitlines()
    assert lines[0].startswith("chart,")
    assert len(lines) > 1


def test_a_narrow_figure_has_larger_words(runs: tuple[str, str], tmp_path: Path) -> None:
    def scale(width: str) -> float:
        file = tmp_path / f"{width}.svg"
        assert cli.run(["plot", runs[0], "-o", str(file), "--width", width]) == 0
        top = ET.fromstring(file.read_text(encoding="utf-8"))
        return float(width) / float(top.attrib["viewBox"].split()[2])

    assert scale("85") == pytest.approx(scale("170"), rel=0.5)
