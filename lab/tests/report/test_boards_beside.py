# SPDX-License-Identifier: BSD-2-Clause
"""Boards beside each other: a line each, with cycles where there is a clock."""

from dataclasses import replace

import msgspec
import pytest

from synthetic import MACHINE, TRUTH, Synthetic, run_from
from teemark.findings.subject import Subject, subjects
from teemark.report.sections.boards import data
from teemark.report.sections.boards import table as boards_table
from teemark.run.reader import RunData
from teemark.wording import fmt


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
    """Three have a clock."""
    facts = ((1.0, "1000000"), (1.1, "1200000"), (0.95, None), (5.0, "1000000"))
    return subjects([board(number, *fact) for number, fact in enumerate(facts)])


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
    made = boards_table(about)
    assert [column.title for column in made.columns][-2:] == ["call, cycles", "a byte, cycles"]
    assert made.rows[0][-2:] == (fmt.NONE, fmt.NONE)
    assert fmt.NONE not in made.rows[1][-2:]


def test_a_byte_in_linux_is_the_cheapest_backends(four: tuple[Subject, ...]) -> None:
    mine = [
        cost for cost in four[0].models.costs if cost.backend in ("c", "ce", "openssl", "afalg")
    ]
    assert len({cost.byte.value for cost in mine}) > 1
    assert data(four[0])["linux_byte"] == min(cost.byte.value for cost in mine)
