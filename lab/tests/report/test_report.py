# SPDX-License-Identifier: BSD-2-Clause
"""Reports: reproducible, self-contained, escaped, and true to the run."""

import itertools
import json
import math
import os
import re
import subprocess
import sys
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from xml.etree import ElementTree

import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

from synthetic import MACHINE, Synthetic, run_from, run_of
from teemark.base.finding import Finding
from teemark.cli import main as cli
from teemark.findings import notices
from teemark.findings.subject import subjects
from teemark.page import blocks as page
from teemark.page import charts, markdown
from teemark.report import run_page
from teemark.run import reader
from teemark.run.reader import RunData
from teemark.run.records import Backend
from teemark.wording import fmt
from test_trace_outputs import trace

ONE = ("sha256",)
"""Enough where the number of charts doesn't matter."""

VOID = {"meta", "br", "link", "img", "hr", "input"}


class Page(HTMLParser):
    """Checks that tags are balanced, and collects what matters."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.stack: list[str] = []
        self.ids: list[str] = []
        self.references: list[str] = []
        self.text: list[str] = []
        self.tags: set[str] = set()
        self.feed(html)
        assert not self.stack, self.stack

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        for name, value in attrs:
            if name == "id":
                self.ids.append(value or "")
            if name in ("href", "src", "xlink:href", "action", "data", "poster"):
                self.references.append(value or "")
            assert not name.startswith("on"), f"{name} on {tag}"
        if tag not in VOID:
            self.stack.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)
        if tag not in VOID:
            self.stack.pop()

    def handle_endtag(self, tag: str) -> None:
        assert self.stack, f"</{tag}> too many"
        assert self.stack.pop() == tag, f"</{tag}> in {self.stack[-3:]}"

    def handle_data(self, data: str) -> None:
        if "style" not in self.stack:
            self.text.append(data)


@pytest.fixture(scope="module")
def run() -> RunData:
    return Synthetic().run()


@pytest.fixture(scope="module")
def made(run: RunData) -> run_page.Report:
    return run_page.make([run])


def test_same_run_same_bytes(run: RunData, made: run_page.Report) -> None:
    again = run_page.make([run])
    assert again.html == made.html
    assert again.markdown == made.markdown


def test_page_is_well_formed_and_self_contained(made: run_page.Report) -> None:
    page = Page(made.html)
    assert len(page.ids) == len(set(page.ids)), "an id is there twice"
    assert page.references
    for reference in page.references:
        assert reference.startswith("#")
        assert reference[1:] in page.ids
    assert not page.tags & {"script", "link", "img", "iframe", "object"}
    assert not re.search(r"url\((?!#)|@import|https?://(?!www\.w3\.org/)", made.html)
    for used in re.findall(r"url\(#([^)]+)\)", made.html):
        assert used in page.ids


def test_what_the_page_says(made: run_page.Report) -> None:
    said = " ".join("".join(Page(made.html).text).split())
    for words in (
        "What a call into the TEE and a digest cost on synthetic, 2 January 2026",
        "Emulated board: timings are not those of silicon",
        "A call into the TEE costs",
        "116 cases measured with 1680 samples",
        "SHA-256 inside takes",
        "With the CPU's crypto instructions in the TA it takes",
        "From small blocks to large ones",
        "opening a session; the first of all loads the TA",
        "ta-ce has no sha512: the CPU has no instructions for it",
        "1.93 ms",
    ):
        assert words in said


def test_what_is_read_without_opening_a_fold(made: run_page.Report) -> None:
    """The answer, what shows it and why: at most 2,500 words; the rest is there, closed."""
    shown = re.sub(r"<style>.*?</style>|<svg.*?</svg>", "", made.html, flags=re.S)
    inside = re.compile(
        r"<details(?![^>]* open)[^>]*>(?:(?!<details|</details>).)*</details>", re.S
    )
    while inside.search(shown):
        shown = inside.sub("", shown)
    words = re.sub(r"<[^>]+>", " ", shown).split()
    assert 200 < len(words) <= 2500
    for key in ("headline", "throughput"):
        assert f'id="{key}"' in shown
    assert shown.index("What would help") < shown.index("It saves") < shown.index('id="throughput"')
    for key in ("cases", "costs", "machine"):
        assert f'id="{key}"' in made.html
        assert f'id="{key}"' not in shown


def test_every_chart_of_an_emulated_board_says_so(made: run_page.Report) -> None:
    captions = re.findall(r"<figcaption>(.*?)</figcaption>", made.html, re.S)
    assert len(captions) == 4
    assert all("Emulated timings." in caption for caption in captions)


def test_real_board_has_no_banner() -> None:
    real = run_page.make([Synthetic(emulated=False, algorithms=ONE).run()])
    assert "Emulated" not in re.sub(r"<style>.*?</style>", "", real.html, flags=re.S)
    assert "Emulated" not in real.markdown


def test_machine_that_tells_that_it_is_emulated() -> None:
    records = Synthetic(emulated=False, samples=2, algorithms=ONE).records()
    records[1] = {**MACHINE, "board": {"emulated": True, "emulated_told_by": "device tree"}}
    assert "Emulated board" in run_page.make([run_from(records)]).html


def test_counted_instructions() -> None:
    counted = run_page.make([Synthetic(identical=True, algorithms=ONE).run()])
    assert "Emulated board: this counts instructions" in counted.html
    assert "Emulated: instructions counted, 1 ns each." in counted.html
    assert "byte (instructions)" in counted.markdown


HOSTILE = "<script>alert(1)</script>\"'&amp; | ` * [x](javascript:1) \N{RIGHT-TO-LEFT OVERRIDE}"


@pytest.fixture(scope="module")
def hostile() -> run_page.Report:
    records = Synthetic(samples=2, algorithms=("sha256", "sha512"), counter=1.0).records()
    for record in records:
        for name in ("board", "board_summary", "plan", "reason", "what", "source", "started"):
            # a sample's source is one of a few words, or no record at all
            if isinstance(record.get(name), str) and (name, record["type"]) != ("source", "sample"):
                record[name] = HOSTILE
        if record["type"] == "machine":
            record["cpu"] = {"models": [HOSTILE], "features": [HOSTILE]}
            record["kernel"] = {"os": HOSTILE, "release": HOSTILE}
            record["ta_counter"] = {"name": HOSTILE, "hz": 1, "resolution_ns": 1e9}
            record["reasons"] = {"cpu.governor": HOSTILE}
    records.insert(-1, {"type": "fail", "case": "a/b/c/<b>", "reason": HOSTILE})
    return run_page.make([run_from(records, HOSTILE)])


def test_html_escapes_what_a_board_says(hostile: run_page.Report) -> None:
    page = Page(hostile.html)
    assert "script" not in page.tags
    assert "b" not in page.tags
    assert HOSTILE.replace("\N{RIGHT-TO-LEFT OVERRIDE}", "\ufffd") in "".join(page.text)


def test_markdown_escapes_what_a_board_says(hostile: run_page.Report) -> None:
    outside = re.sub(r"(`+)(?!`).*?(?<!`)\1(?!`)", "", hostile.markdown)
    assert not re.search(r"(?<!\\)<script", outside)
    assert not re.search(r"(?<!\\)\[x\]", outside)


def test_markdown_tables_are_rectangular(made: run_page.Report, hostile: run_page.Report) -> None:
    for text in (made.markdown, hostile.markdown):
        width = 0
        for line in text.splitlines():
            if not line.startswith("|"):
                width = 0
                continue
            cells = len(re.findall(r"(?<!\\)\|", line)) - 1
            assert width in (0, cells), line
            width = cells


@given(st.text())
def test_markdown_text_keeps_no_markup(text: str) -> None:
    escaped = markdown.escape(text)
    assert "\n" not in escaped
    assert not re.search(r"(?<!\\)(?:\\\\)*[<`*|\[]", escaped)


@given(st.text(alphabet="`| ab"))
def test_code_spans_hold_backticks(text: str) -> None:
    made = markdown.code(text)
    fence = re.match(r"`+", made)
    assert fence is not None


def test_a_command_in_advice_is_code() -> None:
    advice = "Build it: `what-if --option CFG_X=2` tells."
    one = Finding(key="key", topic="cause", claim="It is slow.", remedy=advice)
    text = markdown.block(page.Findings((one,)), 2)
    assert text.endswith("*Build it: `what-if --option CFG_X=2` tells.*")
    assert "\\`" in markdown.block(page.Findings((replace(one, remedy="one ` alone"),)), 2)


def test_incomplete_run_says_so() -> None:
    cut = run_page.make([reader.parse(Synthetic(algorithms=ONE).lines()[:-1], file="x")])
    assert "This run is incomplete" in cut.html
    assert "Cut off: there is no end record, so teemark itself was killed" in cut.html
    assert "**This run is incomplete.**" in cut.markdown


def test_the_report_of_an_incomplete_run_says_what_is_missing() -> None:
    run = reader.parse(Synthetic(algorithms=ONE).lines()[:200], file="x")
    assert run.missing
    lacking = notices.lacking(run)
    assert re.fullmatch(r"\d+ of 128 cases weren't measured; \d+ cases have fewer .*", lacking)
    assert f"{lacking[:1].upper()}{lacking[1:]}" in run_page.make([run]).markdown


def test_run_without_samples() -> None:
    """Everything skipped, as on a machine without anything: a report nevertheless."""
    records = [r for r in Synthetic().records() if r["type"] in ("run", "machine", "skip", "end")]
    empty = run_page.make([run_from(records)])
    assert "0 cases" in empty.html
    Page(empty.html)


def test_two_runs_side_by_side() -> None:
    run = Synthetic(algorithms=ONE).run()
    faster = {key: (call / 2, rate / 2) for key, (call, rate) in Synthetic().truth.items()}
    other = reader.parse(
        Synthetic(seed=2, board="other", truth=faster, algorithms=ONE).lines(), file="y"
    )
    both = run_page.make([run, other])
    Page(both.html)
    assert "Side by side" in both.html
    assert "on synthetic and other" in both.html
    assert re.search(r"−(49|50|51)", both.markdown)  # noqa: RUF001


def test_no_id_is_there_twice() -> None:
    """In a report of two runs with everything that is drawn."""
    of = run_of(
        {
            "invoke/none/tee/none": [6e4] * 8,
            **{f"oneshot/sha256/tee/{n}": [6e4 + 20.0 * n] * 8 for n in (0, 64, 4096, 65536)},
        },
        icount=True,
    )
    made = run_page.make([of, of], traces=[trace(), trace()])
    sections = ("explain", "trace", "throughput")
    page = Page(made.html)
    assert set(sections) <= set(page.ids)
    assert made.html.count("<svg") >= 2 * 2 * len(sections)
    assert len(page.ids) == len(set(page.ids))


def test_a_fact_is_said_once(run: RunData) -> None:
    """No option is advised twice, no sentence stands in two places."""
    buffers = [
        f"shm/{kind}/tee/in/{n}" for kind in ("temporary", "allocated") for n in (64, 1048576)
    ]
    both = replace(run, cases=run.cases | run_of(dict.fromkeys(buffers[:2], [2e5] * 9)).cases)
    both = replace(both, cases=both.cases | run_of(dict.fromkeys(buffers[2:], [1e5] * 9)).cases)
    made = run_page.make([both]).markdown
    for words in ("CFG\\_CRYPTO\\_WITH\\_CE", "TEEC\\_AllocateSharedMemory"):
        assert made.count(words) == 1, words
    findings = subjects([both])[0].findings
    for said in (
        [one.claim for one in findings if one.claim],
        [one.remedy for one in findings if one.remedy and one.status == "found"],
    ):
        assert len(said) == len(set(said))


def test_findings_of_the_synthetic_run(run: RunData) -> None:
    keys = [one.key for one in subjects([run])[0].findings if one.status == "found"]
    assert keys == [
        "emulated",
        "empty-call",
        "inside-and-outside",
        "extensions",
        "no-crypto-extensions-in-tee",
        "call-outweighs-compute",
        *(key for key in keys if "/" in key),
        "harness",
        "drift",
    ]


def test_what_is_uncertain_says_so() -> None:
    noisy = run_page.make([Synthetic(noise=0.5, algorithms=ONE).run()])
    assert "**Uncertain: A call into the TEE costs " in noisy.markdown


def test_one_start_cannot_know_what_differs_between_starts(made: run_page.Report) -> None:
    assert "The programs were started once" in made.markdown
    exact = Synthetic(identical=True, algorithms=ONE).run()
    assert "The programs were started once" not in run_page.make([exact]).markdown


def test_chart_is_xml_with_page_colours() -> None:
    points = tuple((float(x), x / 10) for x in (64, 1024, 65536))
    tee = Backend(name="tee", title="TEE API", secure=True)
    other = Backend(name="somebody-else", title="somebody-else")
    series = [charts.Series(tee, points, place=0), charts.Series(other, points, place=99)]
    for shape in (charts.WIDE, charts.NARROW):
        svg = charts.throughput(series, shape.width)
        ElementTree.fromstring(svg)
        assert "var(--c-0)" in svg
        assert "var(--c-other)" in svg
        assert not re.search(r"#[0-9a-f]{6}\b", svg)
        assert "font-family" not in svg
        assert svg == charts.throughput(series, shape.width)


def test_bars_of_intervals_end_at_the_axis() -> None:
    """The axis is made for the points; a bar that is longer is cut off there."""
    tee = Backend(name="tee", title="TEE API", secure=True)
    series = [charts.Series(tee, ((64.0, 10.0), (1024.0, 20.0)), ((0.001, 9000.0), None))]
    svg = charts.throughput(series, charts.NARROW.width)
    (bar,) = (one for one in ElementTree.fromstring(svg) if one.get("width") == "1.2")
    height = charts.NARROW.height - 50 - 26
    assert float(bar.attrib["height"]) == pytest.approx(height)


@given(st.lists(st.floats(0, 1), min_size=2, max_size=12, unique=True), st.sampled_from((260, 600)))
def test_sizes_named_on_the_axis_have_room(shares: list[float], width: int) -> None:
    sizes = sorted(float(round(2 ** (6 + 14 * share))) for share in shares)
    places = [width * (math.log2(size) - 6) / 14 for size in sizes]
    named = charts.legible(sizes, places, 11.5)
    assert named[-1] == sizes[-1]
    assert named == sorted(named)
    kept = [(places[sizes.index(size)], len(fmt.size(round(size)))) for size in named]
    for (left, one), (right, other) in itertools.pairwise(kept):
        assert right - left >= 0.6 * 11.5 * (one + other) / 2


def test_round_sizes_are_named_rather_than_their_neighbours() -> None:
    sizes = [0.0, 55.0, 56.0, 64.0, 4096.0, 1048576.0]
    places = [0.0, 40.0, 41.0, 44.0, 150.0, 260.0]
    assert charts.legible(sizes, places, 11.5) == [0.0, 64.0, 4096.0, 1048576.0]


def test_the_page_has_every_colour_of_a_chart() -> None:
    css = (Path(charts.__file__).parent / "templates" / "report.css").read_text()
    for name in charts.COLOURS:
        assert css.count(f"--c-{name}:") == 3, name  # light, dark, print


@given(st.lists(st.floats(0, 500), min_size=1, max_size=8), st.floats(1, 30))
def test_labels_do_not_overlap(places: list[float], gap: float) -> None:
    moved = charts.spread(places, gap)
    ordered = sorted(moved)
    for one, next_ in itertools.pairwise(ordered):
        assert next_ - one >= gap - 1e-6
    if all(abs(a - b) >= gap for i, a in enumerate(places) for b in places[:i]):
        assert moved == pytest.approx(places)


def test_report_command(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    Synthetic(samples=6, algorithms=ONE).write(folder)
    out = tmp_path / "out"
    result = CliRunner().invoke(
        cli.cli, ["report", str(folder), "-o", str(out), "--json"], standalone_mode=False
    )
    assert result.return_value == 0
    files = json.loads(result.stdout)
    assert Path(files["html"]) == out / "report.html"
    first = (out / "report.html").read_bytes(), (out / "report.md").read_bytes()
    again = CliRunner().invoke(cli.cli, ["report", str(folder)], standalone_mode=False)
    assert again.return_value == 0
    assert ((folder / "report.html").read_bytes(), (folder / "report.md").read_bytes()) == first


@pytest.mark.parametrize(
    ("plan", "said"), [("quick", False), ("somebodys-own", False), ("rpi3-secure-hash", True)]
)
def test_report_command_outside_a_checkout(tmp_path: Path, plan: str, said: bool) -> None:
    """Only a plan that has published figures has them missing."""
    folder = tmp_path / "run"
    Synthetic(samples=6, algorithms=ONE, plan=plan).write(folder)
    done = subprocess.run(
        [sys.executable, "-m", "teemark", "report", str(folder)],
        env={**os.environ, "TEEMARK_ROOT": str(tmp_path)},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    report = (folder / "report.md").read_text()
    assert ("The published figures can't be shown" in report) is said
