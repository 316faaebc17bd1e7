# SPDX-License-Identifier: BSD-2-Clause
"""On the CPU and off it: what made-up switches add up to, and the picture of them."""

import re
import xml.etree.ElementTree as ET
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from synthetic import Synthetic
from teemark.findings.subject import subjects
from teemark.model.timeline import StepCost, told
from teemark.page import html, markdown
from teemark.page.bars import NARROW, WIDE
from teemark.page.blocks import Chart
from teemark.report.sections.timeline import render, timeline
from teemark.run.reader import RunData, parse
from teemark.run.records import Timeline

MAIN, OTHER = 10, 11
KEY = "teehash/sha256/tee/stream/warm/4096/4096/inline+timeline"
STEPS = [("open", 0, 100), ("read", 100, 150), ("hash", 150, 350), ("close", 400, 500)]
SWITCHES = [
    (20, MAIN, 0, "wait"),  # for the thread that opens the session
    (30, OTHER, 1, "in"),
    (60, OTHER, 1, "exit"),
    (70, MAIN, 0, "in"),
    (200, MAIN, 0, "preempt"),
    (240, MAIN, 1, "in"),
]


def record(**changes: Any) -> Timeline:
    made = {
        "type": "timeline",
        "case": KEY,
        "argv": ["teehash"],
        "source": "PERF_RECORD_SWITCH",
        "ns": 500,
        "whole_until_ns": 500,
        "thread": MAIN,
        "steps": STEPS,
        "switches": SWITCHES,
        "report": {},
    }
    return msgspec.convert(made | changes, Timeline)


def test_switches_of_one_stamp_keep_their_order() -> None:
    """A wait of no time, at 20 and at 200; by their words it would end before it began."""
    at_once = [(20, MAIN, 0, "wait"), (20, MAIN, 0, "in"), (200, MAIN, 0, "preempt")]
    found = told(record(switches=[*at_once, (200, MAIN, 1, "in")]))
    assert {one.what for one in found.states} == {"on"}
    found = told(record(switches=[(300, MAIN, 0, "wait"), *at_once]))  # others are sorted
    assert [one.what for one in found.states if one.begin >= 200] == ["preempt", "wait"]


def run(*records: Timeline) -> RunData:
    *lines, end = Synthetic().lines()
    return parse([*lines, *(msgspec.json.encode(one) for one in records), end], file="r")


def test_each_step_has_its_share() -> None:
    found = told(record())
    costs = {cost.step: cost for cost in found.costs}
    # 20 … 30 and 60 … 70 nobody had a CPU; 30 … 60 the other thread had
    assert costs["open"] == StepCost("open", 1, 100, 80, 0, 20, 1, 10)
    assert costs["read"] == StepCost("read", 1, 50, 50, 0, 0, 0, 0)
    assert costs["hash"] == StepCost("hash", 1, 200, 160, 40, 0, 1, 40)
    assert costs["between"] == StepCost("between", 1, 50, 50, 0, 0, 0, 0)

    assert found.total() == StepCost("between", 1, 500, 440, 40, 20, 2, 40)


def test_what_was_left_out_is_not_made_up() -> None:
    found = told(record(whole_until_ns=220))
    assert found.ns == 220
    assert {cost.step for cost in found.costs} == {"open", "read", "hash"}
    (hashed,) = [cost for cost in found.costs if cost.step == "hash"]
    assert (hashed.ns, hashed.preempted) == (70, 20)
    assert "The first 220 ns of 500 ns are shown: what came after" in caption(whole_until_ns=220)


def caption(**changes: Any) -> str:
    section = timeline(subjects([run(record(**changes))]))
    assert section is not None
    (chart,) = [block for block in section.blocks if isinstance(block, Chart)]
    return str(chart.caption[0]).replace("\u00a0", " ")


STRETCH = st.tuples(st.sampled_from(["read", "hash"]), st.integers(0, 600), st.integers(0, 600))
SWITCH = st.tuples(
    st.integers(0, 600),
    st.integers(MAIN, OTHER + 2),
    st.integers(0, 3),
    st.sampled_from(["in", "wait", "preempt", "exit"]),
)


@given(st.lists(STRETCH, max_size=8), st.lists(SWITCH, max_size=20), st.integers(0, 600))
def test_every_nanosecond_is_somewhere_once(
    steps: list[tuple[str, int, int]], switches: list[tuple[int, int, int, str]], until: int
) -> None:
    """Whatever a board says, in any order."""
    found = told(record(steps=steps, switches=switches, whole_until_ns=until))
    assert sum(one.ns for one in found.states) == found.ns == min(until, 500)
    assert sum(one.ns for one in found.steps) == found.ns
    total = found.total()
    assert total.on + total.preempted + total.waited == found.ns
    outs = [one for one in switches if one[3] in ("wait", "preempt") and one[0] <= found.ns]
    assert total.switches == (len(outs) if found.ns else 0)
    if found.ns:
        ET.fromstring(render(found, KEY, NARROW))


def test_the_picture_says_what_it_is_and_stays_in_its_frame() -> None:
    for width in (WIDE, NARROW):
        text = render(told(record()), 'a <"case">', width)
        svg = ET.fromstring(text)
        said = svg.attrib["aria-label"].replace("\u00a0", " ")
        assert said.startswith('a <"case">, on the CPU and off it. ')
        assert "waiting 20.0 ns" in said
        height = float(svg.attrib["viewBox"].split()[3])
        for box in svg.iter("{http://www.w3.org/2000/svg}rect"):
            assert float(box.attrib["x"]) + float(box.attrib["width"]) <= width + 1.5
            assert float(box.attrib["y"]) < height
        assert not re.search(r"#[0-9a-f]{3}", text)  # the page's colours, light and dark


def test_many_switches_make_no_large_picture() -> None:
    ns = 10**9
    switches = [(at * 100_000, MAIN, 0, "preempt" if at % 2 else "in") for at in range(1, 4096)]
    made = render(told(record(ns=ns, whole_until_ns=ns, switches=switches)), KEY, WIDE)
    assert len(made) < 400_000


@pytest.mark.parametrize("changes", [{}, {"steps": [], "switches": []}, {"whole_until_ns": 0}])
def test_a_report_has_it(changes: dict[str, Any]) -> None:
    section = timeline(subjects([run(record(**changes))]))
    assert section is not None
    assert KEY in html.render("t", "", [section], "g")
    said = "recorded nothing" if changes.get("whole_until_ns") == 0 else "longest gap"
    assert said in markdown.render("t", "", [section], "g")


def test_a_run_without_one_has_no_section() -> None:
    assert timeline(subjects([run()])) is None
