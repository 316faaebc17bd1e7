# SPDX-License-Identifier: BSD-2-Clause
"""The page of all runs in a folder: groups, links, the comparison of any two, and its speed."""

import json
import re
import shutil
import time
from pathlib import Path

import pytest

import browser
from synthetic import TRUTH, Synthetic, write
from teemark.cli.main import run
from teemark.report import index_page
from teemark.run import listing, reader
from teemark.run.reader import RunData


def folder_of_runs(made: Path, count: int = 3) -> Path:
    """Runs of two boards and two plans; with each run a byte by `c` costs more."""
    for number in range(count):
        for board, plan in (("desk", "quick"), ("lab", "full")):
            truth = TRUTH | {("sha256", "c"): (420.0, 14.9 * (1 + 0.1 * number))}
            records = Synthetic(
                identical=True, samples=6, board=board, plan=plan, truth=truth,
                algorithms=("sha256",),
            ).records()  # fmt: skip
            records[0]["started"] = f"2026-01-{number + 1:02d}T03:04:05Z"
            write(records, made / "runs" / f"{board}-{number}")
    return made / "runs"


def test_the_index_groups_and_links(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    runs = folder_of_runs(tmp_path)
    monkeypatch.chdir(tmp_path)
    assert run(["report", "runs/desk-0"]) == 0
    assert run(["report", "runs"]) == 0
    assert "runs/index.html" in capsys.readouterr().out
    text = (runs / "index.html").read_text(encoding="utf-8")
    assert "<h1>What was measured on desk and lab</h1>" in text
    assert "6 runs of 2 plans on 2 boards, 1 January 2026 to 3 January 2026" in text
    assert [*re.findall("<h2>(.*?)</h2>", text)] == ["full on lab", "quick on desk"]
    assert 'href="desk-0/report.html"' in text
    assert text.count("report.html") == 1
    assert run(["report", "runs", "-o", "elsewhere"]) == 0
    assert 'href="../runs/desk-0/report.html"' in Path("elsewhere/index.html").read_text()
    capsys.readouterr()
    assert run(["report", "runs", "--json", "-o", "other"]) == 0
    assert json.loads(capsys.readouterr().out) == {"html": "other/index.html"}
    assert run(["history", "runs", "-o", "all.html"]) == 2
    assert "`teemark report runs` has them all" in capsys.readouterr().err


def test_the_command_that_compares_two_runs_is_for_a_shell(tmp_path: Path) -> None:
    folder_of_runs(tmp_path, 1)
    runs = (tmp_path / "runs").rename(tmp_path / "my runs")
    entries = listing.entries(runs)
    text = index_page.render(runs, entries, index_page.figures(runs, entries), runs)
    match = re.search(r'id="data">(.*?)</script>', text)
    assert match is not None
    assert json.loads(match[1])[0]["folder"] == f"'{runs / 'lab-0'}'"


def test_a_folder_without_runs_is_no_run(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["report", str(tmp_path)]) == 2
    assert "no run.ndjson in this folder" in capsys.readouterr().err


def test_figures_are_read_once_and_anew_if_the_run_changed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    runs = folder_of_runs(tmp_path, 2)
    entries = listing.entries(runs)
    known = index_page.figures(runs, entries)
    assert len(known) == 4
    read, original = list[str](), reader.read

    def reads(path: Path) -> RunData:
        read.append(path.name)
        return original(path)

    monkeypatch.setattr(reader, "read", reads)
    assert index_page.figures(runs, entries) == known
    assert read == []
    truth = TRUTH | {("sha256", "c"): (420.0, 100.0)}
    more = Synthetic(identical=True, samples=6, truth=truth, algorithms=("sha256",))
    (runs / "desk-1" / "run.ndjson").unlink()
    write(more.records(), runs / "desk-1")
    assert index_page.figures(runs, entries)["desk-1"] != known["desk-1"]
    assert read == ["desk-1"]


def test_200_known_runs_take_a_second(tmp_path: Path) -> None:
    one = folder_of_runs(tmp_path, 1) / "desk-0" / "run.ndjson"
    runs = tmp_path / "many"
    for number in range(200):
        (runs / f"{number:03}").mkdir(parents=True)
        (runs / f"{number:03}" / "run.ndjson").hardlink_to(one)
    entries = listing.entries(runs)
    index_page.write(runs, entries, runs / "index.html", lambda _: None)
    begun = time.process_time()
    index_page.write(runs, listing.entries(runs), runs / "index.html", lambda _: None)
    assert time.process_time() - begun < 1
    assert (runs / "index.html").stat().st_size < 2_000_000


CHOOSE = """((side, place) => {
  const radio = document.querySelector(`input[name=${side}][value="${place}"]`);
  radio.focus(); radio.click();
})"""


@pytest.mark.skipif(shutil.which("chromium") is None, reason="there is no chromium")
@pytest.mark.parametrize("width", [390, 1440])
def test_two_runs_are_compared_in_the_page(
    chromium: browser.Browser, tmp_path: Path, width: int
) -> None:
    runs = folder_of_runs(tmp_path)
    index_page.write(runs, listing.entries(runs), runs / "index.html", lambda _: None)
    chromium.show(runs / "index.html", width=width)
    panel = "document.getElementById('compared')"
    assert chromium.evaluate(f"{panel}.hidden")
    text = (runs / "index.html").read_text(encoding="utf-8")
    places = re.findall(r'name="base" value="(\d+)" aria-label="base: quick on desk', text)
    chromium.evaluate(f"{CHOOSE}('base', {places[2]})")
    chromium.evaluate(f"{CHOOSE}('new', {places[0]})")
    said = chromium.evaluate(f"{panel}.innerText")
    assert "quick on desk, 2026-01-01 03:04 → quick on desk, 2026-01-03 03:04" in said
    assert re.search(
        r"oneshot/sha256/c/1048576\s+\S+ \S+ \S+\s+\S+ \S+ \S+\s+\+20.0 %",
        said.replace("\u202f", " "),
    )
    assert "teemark compare" in said
    assert chromium.evaluate("document.documentElement.scrollWidth") <= width
    assert chromium.complaints == []
    labels = "[...document.querySelectorAll('input')].every(i => i.getAttribute('aria-label'))"
    assert chromium.evaluate(labels)
