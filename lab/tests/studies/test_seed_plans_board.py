# SPDX-License-Identifier: BSD-2-Clause
"""Every seed plan on the real OP-TEE, few samples: nothing fails, and each cell of its tables is
filled, or empty for a reason that is true of this board. WHOLE_PLANS=1: the large sizes too."""

import os
from dataclasses import replace
from pathlib import Path

import pytest

from teemark.boards import VirtualBoard
from teemark.findings.subject import subjects
from teemark.measure import runner
from teemark.page import markdown
from teemark.plan.file import Plan, load_plan
from teemark.reference import data
from teemark.report.run_page import make
from teemark.run import reader
from teemark.studies import declared
from teemark.studies.measured import Lookup, NotKnown

pytestmark = [pytest.mark.board, pytest.mark.long(110)]


LARGE = 5_000_000


def keep(key: str) -> bool:
    """A case or a step, by its key: is it small enough for every day?"""
    sizes = [int(part) for part in key.split("/") if part.isdigit()]
    return bool(os.environ.get("WHOLE_PLANS")) or max(sizes, default=0) <= LARGE


def whole(name: str) -> Plan:
    """It takes few samples of every case."""
    plan = load_plan(name)
    return replace(
        plan,
        cases=tuple(replace(case, samples=2, min_us=50) for case in plan.cases),
        teehash=tuple(replace(step, runs=1) for step in plan.teehash),
    )


def thinned(name: str) -> Plan:
    asked = whole(name)
    return replace(
        asked,
        cases=tuple(case for case in asked.cases if keep(case.work.parameters)),
        teehash=tuple(step for step in asked.teehash if keep(step.key)),
    )


TRUE_HERE = (
    "an RPMB partition is left alone unless allowed",
    "the kernel lists no generic driver for cbc(aes)",
    "no cpufreq driver",
    "hwrng gives",  # so little that a megabyte would take too long
    "no driver here is proven to be an accelerator",
    "teehash ended with status 1: cannot allocate",  # the whole file in one call
)
"""How the reasons begin why a cell may be empty on this board."""

NOT_ASKED = "this run didn't measure it"
"""The reason for what was left out."""


EVERY_DAY = "rpi3-secure-hash"
"""It has teehash's steps, too."""


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=[] if name == EVERY_DAY else [pytest.mark.exhaustive])
        for name in data.load().documents
    ],
)
def test_a_seed_plan(qemu_v8: VirtualBoard, tmp_path: Path, name: str) -> None:
    asked = thinned(name)
    # Whose table it is asks who did the work.
    options = () if name == "beaglebone-hw-crypto" else ("--no-evidence",)
    outcome = runner.measure(
        qemu_v8, asked, tmp_path / "run", runner.RunListener(), options=options
    )
    assert outcome.error is None
    run = reader.read(outcome.file)
    assert not run.fails
    lookup = Lookup(subjects([run])[0])
    tables = declared.load(name)
    formulas = [formula for table in tables for formula in table.cells.values()]
    reasons = set()
    for formula in formulas:
        try:
            formula(lookup)
        except NotKnown as why:
            reasons.add(str(why))
    assert len(formulas) > len(reasons)
    true_here = TRUE_HERE if asked == whole(name) else (*TRUE_HERE, NOT_ASKED)
    assert [reason for reason in reasons if not reason.startswith(true_here)] == []
    for one in run.teehash:
        hashing = {name: figure["value"] for name, figure in one.report["hashing"].items()}
        assert 0 < hashing["elapsed_time"] < one.report["host"]["total_time"]["value"]
        assert hashing["cpu_time"] < one.report["host"]["cpu_time"]["value"]
    made = make([run])
    for table in tables:
        assert markdown.escape(table.title) in made.markdown
