# SPDX-License-Identifier: BSD-2-Clause
"""The measured releases that come with teemark (reference/releases.json), and the page on them."""

import re
from pathlib import Path

import pytest

from teemark.base import paths
from teemark.cli.main import run
from teemark.releases import points
from teemark.releases.jumps import cases
from teemark.wording import fmt

FILE = paths.reference() / "releases.json"
PAGE = paths.root() / "docs" / "releases.md"
SAME = 0.05


def rows() -> list[list[str]]:
    """Returns the cells of the page's table of versions, without marks; first its head."""
    lines = re.findall(r"^\| (?:instructions a call|`).*", PAGE.read_text(), re.M)
    lines = [line for line in lines if len(line.split("|")) == len(points.releases(FILE)) + 3]
    return [[re.sub(r"[`*]", "", cell).strip() for cell in line.split("|")[1:-1]] for line in lines]


def test_the_page_has_the_figures_that_were_measured() -> None:
    kept = points.releases(FILE)
    head, *others = rows()
    assert head == ["instructions a call", *(one.name for one in kept)]
    assert others
    for case, *cells in others:
        costs = [one.cost(case) for one in kept]
        assert cells == [fmt.NONE if cost is None else f"{round(cost):,}" for cost in costs], case


def test_calls_that_the_page_leaves_out_cost_the_same_in_all_versions() -> None:
    kept = points.releases(FILE)
    for case in set(cases(kept)) - {row[0] for row in rows()}:
        known = [cost for one in kept if (cost := one.cost(case)) is not None]
        assert max(known) < (1 + SAME) * min(known), case


def test_without_results_of_ones_own_the_command_shows_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(paths, "runs", lambda: tmp_path)
    run(["releases"])
    kept = points.whole(points.releases(FILE))
    assert f"OP-TEE {kept[0].name} to {kept[-1].name}" in capsys.readouterr().out
