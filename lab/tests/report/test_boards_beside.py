# SPDX-License-Identifier: BSD-2-Clause
"""Boards beside each other: the same scale for the same unit, cycles where there is a clock, and
whoever lies far from the others is named."""

import random
import re
import sys
from dataclasses import replace

import msgspec
import pytest

from synthetic import MACHINE, TRUTH, Synthetic, run_from
from teemark.findings.subject import Subject, subjects
from teemark.model.stats import estimate, exactly
from teemark.page.bars import WIDE
from teemark.report import run_page
from teemark.report.sections.boards import beside, data
from teemark.report.sections.boards import table as boards_table
from teemark.run.reader import RunData
from teemark.wording import fmt

BYTE, EMPTY = "A byte of SHA-256", "An empty call"


def board(number: int, times: float, clock: str | None = None) -> RunData:
    """A real board on which hashing takes so many times as much; `clock` in kHz."""
    truth = {key: (call * times, byte * times) for key, (call, byte) in TRUTH.items()}
    made = Synthetic(seed=number, truth=truth, board=f"b{number}", emulated=False, samples=20)
    made.algorithms = ("sha256",)
    records = made.records()
    records[1] = MACHINE | {"board": {"model": "a board", "emulated": False}}
    run = run_from(records)
    cpu = msgspec.structs.replace(run.machine.cpu, khz_max=(clock,) if clock else None)
    return replace(run, machine=msgspec.structs.replace(run.machine, cpu=cpu))


@pytest.fixture(scope="module")
def four() -> tuple[Subject, ...]:
    """The last takes five times as much as the others; three have a clock."""
    facts = ((1.0, "1000000"), (1.1, "1200000"), (0.95, None), (5.0, "1000000"))
    return subjects([board(number, *fact) for number, fact in enumerate(facts)])


def test_a_board_far_from_the_others_is_named_once(four: tuple[Subject, ...]) -> None:
    (said,) = beside(four)[0]
    assert said.startswith("b3: a byte of SHA-256 takes, over the median of all boards, ")
    assert said.count(" by ") == len({one[1] for one in TRUTH if one[0] == "sha256"})
    assert re.search(r"4\.\d+\S? by TEE API", said)
    assert beside(four[:3])[0] == ()
    assert beside(four[2:])[0] == ()  # two have no median


def test_boards_are_drawn_in_time_and_in_cycles(four: tuple[Subject, ...]) -> None:
    charts = {one.title: one.draw(WIDE) for one in beside(four)[1]}
    assert list(charts) == [
        f"{name}: {unit}" for unit in ("time", "cycles") for name in (EMPTY, BYTE)
    ]
    time, cycles = charts[f"{BYTE}: time"], charts[f"{BYTE}: cycles"]
    assert all(f">b{number}<" in time for number in range(4))
    assert ">b2<" not in cycles
    ns, counted = (
        [float(value) for value in re.findall(r"<title>TEE API: ([\d.]+)", svg)]
        for svg in (time, cycles)
    )
    assert counted == pytest.approx([ns[0], 1.2 * ns[1], ns[3]], rel=0.01)


def test_the_table_has_cycles_where_there_is_a_clock(four: tuple[Subject, ...]) -> None:
    made = boards_table(four)
    assert [column.title for column in made.columns][-2:] == ["call, cycles", "a byte, cycles"]
    assert made.rows[2][-2:] == (fmt.NONE, fmt.NONE)
    assert "cycles" not in str(boards_table(four[2:3]).columns)


def test_an_emulators_clock_makes_no_cycles() -> None:
    run = board(1, 1.0, "1000000")
    machine = msgspec.structs.replace(
        run.machine, board=msgspec.structs.replace(run.machine.board, emulated=True)
    )
    about = subjects([replace(run, machine=machine), board(2, 1.0, "1000000")])
    assert all("cycles" not in one.title for one in beside(about)[1])


def test_boards_of_different_units_share_no_scale() -> None:
    counted = Synthetic(identical=True, board="a", algorithms=("sha256",)).run()
    timed = Synthetic(board="b", algorithms=("sha256",)).run()
    assert beside(subjects([counted, timed])) == ((), ())


def test_a_report_of_boards_opens_with_who_is_far_off(four: tuple[Subject, ...]) -> None:
    made = run_page.make([one.run for one in four])
    at = made.html.index("b3: a byte of SHA-256 takes, over")
    assert at < made.html.index(f"{BYTE}: time") < made.html.index('id="headline"')


def test_a_byte_in_linux_is_the_cheapest_backends(four: tuple[Subject, ...]) -> None:
    mine = [
        cost for cost in four[0].models.costs if cost.backend in ("c", "ce", "openssl", "afalg")
    ]
    assert len({cost.byte.value for cost in mine}) > 1
    assert data(four[0])["linux_byte"] == min(cost.byte.value for cost in mine)


@pytest.mark.parametrize(("noise", "named"), [(0.01, True), (0.6, False)])
def test_a_board_is_far_off_with_all_of_its_interval(noise: float, named: bool) -> None:
    """Its figure alone is 2.3 times the median in both."""
    rng = random.Random(4)
    last = estimate([[230 * (1 + noise * rng.uniform(-1, 1)) for _ in range(9)]], "x")
    costs = {"b0": exactly(100.0), "b1": exactly(100.0), "b2": last}
    about = subjects([board(number, 1.0) for number in range(3)])
    assert last.value > 200
    with pytest.MonkeyPatch.context() as patch:
        module = sys.modules["teemark.report.sections.boards"]
        patch.setattr(module, "_costs", lambda one: {EMPTY: [("tee", costs[one.label])]})
        assert bool(beside(about)[0]) == named
