# SPDX-License-Identifier: BSD-2-Clause
"""Each test holds one thing over which newcomers stumbled when they looked at a page."""

import re
from dataclasses import replace
from itertools import pairwise

import msgspec
import pytest

from synthetic import TRUTH, Synthetic, run_of, run_with, scattered
from teemark.findings import storage
from teemark.findings.ground import Ground
from teemark.findings.subject import subjects
from teemark.model.history import CaseHistory
from teemark.model.stats import estimate
from teemark.page import charts, html
from teemark.page.bars import FONT, OPACITY, legend
from teemark.page.blocks import Findings, Quiet, Section, Table, left, plain, right
from teemark.report import run_page
from teemark.report.comparing import comparison_section
from teemark.report.sections.boards import table
from teemark.report.sections.causes import causes_of
from teemark.report.sections.throughput import chart, curves, unit_of
from teemark.run.reader import RunData
from teemark.run.records import Backend

EMPTY, HARNESS = "invoke/none/tee/none", "invoke/none/empty/none"


def markdown(*runs: RunData) -> str:
    return re.sub("[ \u00a0\u202f]", " ", run_page.make(runs).markdown)


def test_a_label_of_a_chart_keeps_its_digits() -> None:
    """A change of 0.77 % stood as 0.7 %: places are cut, not words."""
    line = CaseHistory("a", (0, 1), (1000.0, 1007.7), (1,))
    drawn = charts.history([line], ["01-01\n", "01-02\n"], "instructions", charts.NARROW.width)
    assert re.search(r">▲ \+0\.77.%<", drawn)


@pytest.mark.parametrize("runs", [3, 4, 6, 9, 40])
def test_an_axis_of_runs_names_three_on_a_phone(runs: int) -> None:
    names = [f"11-{number:02}\n3f2c1a9+" for number in range(1, runs + 1)]
    line = CaseHistory("a", tuple(range(runs)), (1000.0,) * runs, ())
    drawn = charts.history([line], names, "instructions", charts.NARROW.width)
    named = sorted(re.findall(r"11-\d\d(?=<)", drawn))
    room = (charts.NARROW.width - 6.8 * FONT) / runs
    apart = [int(two[3:]) - int(one[3:]) for one, two in pairwise(named)]
    assert len(named) >= 3
    assert min(apart) * room >= 8 * 0.6 * FONT  # as wide as a commit


def test_the_harness_is_no_case_that_waited() -> None:
    """A trace of one call warned of a case of 112 instructions that nobody had asked for."""
    own = {HARNESS: [96.0, 112.0, 128.0] * 3}
    assert "timed, not counted" not in markdown(run_of({EMPTY: [57_200.0] * 9, **own}, icount=True))
    read = {"storage/read/tee-ree-fs/64": [1e6, 2e6, 3e6] * 3}
    assert "1 case of 3 is timed" in markdown(
        run_of({EMPTY: [57_200.0] * 9, **own, **read}, icount=True)
    )


def test_instructions_are_not_compared_with_times() -> None:
    """Boards beside each other said UNDECIDED of a ratio of instructions to nanoseconds."""
    runs = (Synthetic(identical=True, board="a").run(), Synthetic(board="b").run())
    text = str(comparison_section(subjects(runs)))
    assert "UNDECIDED" not in text
    assert "a is measured in instructions and b in time: their ratio has no meaning" in text
    alike = (Synthetic(board="a").run(), Synthetic(board="b", seed=2).run())
    assert "Not compared" not in str(comparison_section(subjects(alike)))


def test_an_optee_without_a_version_is_unknown() -> None:
    runs = [Synthetic(board=name).run() for name in "ab"]
    tee = msgspec.structs.replace(
        runs[0].machine.tee, implementation="OP-TEE", device="/dev/tee0", revision=None
    )
    runs[0] = replace(runs[0], machine=msgspec.structs.replace(runs[0].machine, tee=tee))
    assert table(subjects(runs)).rows[0][-1] == "unknown"


def test_a_found_cause_stands_on_a_page_without_a_call() -> None:
    """The terminal said that other processes took the CPU; the page of a locked TEE was silent."""
    subject = subjects([run_with({"oneshot/sha256/c/64": 1000.0}, 0.01)])[0]
    assert subject.breakdowns == ()
    found = replace(
        next(one for one in subject.findings if one.topic == "cause"),
        status="found", claim="Other processes took the CPU.",
    )  # fmt: skip
    (shown,) = causes_of(replace(subject, findings=(found,)))
    assert isinstance(shown, Findings)
    assert causes_of(replace(subject, findings=(replace(found, status="ruled out"),))) == []


def test_a_bar_that_ends_early_says_what_the_rest_is() -> None:
    text = run_page.make([Synthetic(identical=True).run()]).html
    for bar in re.findall(r"<svg[^>]*aria-label.*?</svg>", text, re.S):
        shares = [float(one) for one in re.findall(r">[^<>]* ([\d.]+)\u202f?%</text>", bar)]
        assert not shares or sum(shares) > 98


def test_a_whole_message_is_told_at_a_round_size() -> None:
    """The first screen of `quick` spoke of 55 bytes, which its chart doesn't have."""
    sizes = (0, 55, 56, 64, 1024, 65536)
    cases = {
        f"oneshot/sha256/{by}/{size}": TRUTH["sha256", by][0] + TRUTH["sha256", by][1] * size
        for by in ("tee", "openssl")
        for size in sizes
    }
    text = markdown(run_with({EMPTY: 387_000.0, **cases}, 0.001))
    assert "A whole message: at 64 B " in text


def test_cpu_time_is_instructions_on_a_board_that_counts_and_what_waits_is_not_drawn() -> None:
    """The broker's chart was in ns, below a sentence in instructions, and blamed a disk."""
    times = {
        f"broker/{what}-1/tee/{size}": scattered(1e6 + size, 0.05)
        for what in ("cpu", "latency")
        for size in (64, 4096)
    }
    subject = subjects([run_of(times, icount=True)])[0]
    kinds = {one.algorithm: one.estimate.kind for one in subject.models.stats}
    assert kinds == {"cpu-1": "counted", "latency-1": "waited"}
    assert list(curves(subject)) == [("broker", "cpu-1")]
    assert unit_of(subject) == "instructions a byte"
    drawn = chart(subject, "broker", "cpu-1", curves(subject)["broker", "cpu-1"])
    assert "Instructions a byte at the median" in plain(drawn.caption)
    timed = curves(subjects([run_of(times)])[0])
    assert [algorithm for _, algorithm in timed] == ["cpu-1", "latency-1"]


@pytest.mark.parametrize(
    ("low", "high"), [(30.1e6, 31.6e6), (56_500, 57_300), (1.0, 9.9), (3e-3, 4e-3)]
)
def test_an_axis_has_three_ticks_at_least(low: float, high: float) -> None:
    for least in (3, 4):
        ticks = charts.even_ticks(low, high, least)
        assert least <= len(ticks) <= 10
        assert all(low <= tick <= high for tick in ticks)


def test_a_flame_graphs_legend_has_the_colours_of_its_frames() -> None:
    """In the dark theme a fill of three quarters was another colour than the frames."""
    drawn, _ = legend([("var(--f-el1)", "EL1 kernel")], 350, 0)
    assert 'fill-opacity="1"' in drawn[0]
    parts = run_page.make([Synthetic(identical=True).run()]).html
    assert set(re.findall(r'fill-opacity="([\d.]+)" stroke="var\(--paper\)"', parts)) == {OPACITY}
    assert set(re.findall(r'stroke="var\(--muted\)" fill-opacity="([\d.]+)"', parts)) == {OPACITY}


def test_a_part_of_a_call_is_no_more_than_the_call(monkeypatch: pytest.MonkeyPatch) -> None:
    """It said of RPCs that they are 70 % of a call (17 % to 111 %)."""
    key = "storage/write/tee-ree-fs/65536"
    wide = estimate([[0.2, 0.5, 0.7, 0.9, 1.2, 1.3, 1.4, 0.4, 0.6]], key)
    assert wide.interval is not None and wide.interval.high > 1  # noqa: PT018
    monkeypatch.setattr(storage, "_growth", lambda _: iter([(3.2, key, 65536)]))
    monkeypatch.setattr(storage, "_served", lambda *_: wide)
    found = storage.rpcs(Ground.of(run_of({EMPTY: [57_200.0] * 9}, icount=True)))
    assert re.search(r"RPCs, of \S+: 70.% \(40\.0.….100.%\)", found.evidence)


@pytest.mark.parametrize("shape", [charts.WIDE, charts.NARROW])
def test_the_name_of_a_driver_stays_in_the_picture(shape: charts.Shape) -> None:
    """On a wide page `afalg:sha256-arm64-neon · kernel (AF_ALG), …` ended 200 pixels outside."""
    names = ["afalg:sha256-arm64-neon", "afalg:sha256-ce", "tee-each", "getrandom"]
    titles = ["kernel (AF_ALG), sha256-arm64-neon", "kernel", "a call for each reader", "x"]
    series = [
        charts.Series(Backend(name=name, title=title, secure=False), ((64, 1.0), (1024, 2.0 + n)))
        for n, (name, title) in enumerate(zip(names, titles, strict=True))
    ]
    drawn = re.findall(r">([^<>]*)</text>", charts.throughput(series, shape.width))[-4:]
    em = 0.52 if shape is charts.WIDE else 0.6
    assert all(len(name) * em * FONT <= shape.label - 10 for name in drawn)
    assert drawn[0].endswith("-neon")
    words = titles if shape is charts.WIDE else names  # A phone has room for short words alone
    assert drawn[2:] == [words[2], titles[3]]


def test_a_card_on_a_phone_has_its_units() -> None:
    """Heads, which have them, don't stand above cards: 17,960 were no kB/s."""
    columns = (
        *left("algorithm"),
        *right("16 bytes", unit="kB/s"),
        *right("x", unit="instructions"),
    )
    table_of = Table(columns, [("SHA-256", "17960", (Quiet(""),))], stacked=True)
    text = html.render("", "", [Section("a", "A", (table_of,))], ())
    assert 'data-title="16 bytes, kB/s"' in text
    assert 'data-title="x"' in text
    assert re.search(r"\.stacked td:has\(> \.quiet:empty\) \{ display: none", text)
    assert '<span class="quiet"></span>' in text
