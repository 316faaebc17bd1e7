# SPDX-License-Identifier: BSD-2-Clause
"""A page's title says what was asked, where and when; its foot, how to cite and to repeat it."""

from pathlib import Path
from typing import Any

import click
import pytest

from synthetic import Synthetic, run_from, write
from teemark.cli.main import run
from teemark.findings.subject import subjects
from teemark.measure import origin
from teemark.plan.file import load_plan, plan_names
from teemark.report import heading, run_page
from teemark.report.comparing import compared, render
from teemark.run.reader import RunData


def made(board: str = "desk", **more: object) -> RunData:
    more = {"plan_title": None} | more
    records = Synthetic(identical=True, samples=6, algorithms=("sha256",), board=board).records()
    records[0] |= {"started": "2026-11-26T10:00:00Z", "plan": "asymmetric", **more}
    return run_from(records)


ASKED: dict[str, Any] = {"plan_title": "What a signature costs"}


def test_a_report_has_the_plans_question_the_board_and_the_day() -> None:
    text = run_page.make([made(**ASKED)]).html
    assert "<h1>What a signature costs on desk, 26 November 2026</h1>" in text
    assert "<title>What a signature costs on desk, 26 November 2026</title>" in text


def test_runs_of_two_boards_and_days_are_named_in_one_title() -> None:
    runs = [made("a", **ASKED), made("b", started="2026-11-28T10:00:00Z", **ASKED)]
    assert (
        heading.title(runs, ["a", "b"])
        == "What a signature costs on a and b, 26 November 2026 to 28 November 2026"
    )
    assert heading.title([made(), made("b", **ASKED)], ["a", "b"]).startswith(
        f"{heading.ASKED} and What a signature costs on a and b"
    )


def test_every_plan_of_ours_asks_a_question_of_its_own() -> None:
    titles = [load_plan(name).title for name in plan_names()]
    assert all(titles)
    assert len({*titles}) == len(titles)


def test_a_report_says_how_to_cite_and_to_repeat_it() -> None:
    run_ = made(**ASKED, command="teemark run --board desk --plan asymmetric --rounds 8")
    report = run_page.make([run_])
    assert "Cite as: “What a signature costs on desk, 26 November 2026”" in report.html
    assert "measured by teemark 0.1.0" in report.html
    last = report.markdown.splitlines()
    assert "Repeat: `teemark run --board desk --plan asymmetric --rounds 8`" in last
    older = run_page.make([made()]).markdown.splitlines()
    assert "Repeat: `teemark run --plan asymmetric --board desk`" in older


def test_a_comparison_says_what_changed_where_and_when() -> None:
    runs = [made(commit={"hash": letter * 40}, **ASKED) for letter in "ab"]
    about = subjects(runs)
    page = render([compared(*about)], (), None, "markdown")
    first, *_ = page.splitlines()
    assert first == "# What changed on desk: aaaaaaa → bbbbbbb, 26 November 2026"
    assert page.count("Cite as: “What changed on desk: aaaaaaa → bbbbbbb") == 1
    boards = subjects([made("one"), made("two")])
    page = render([compared(*boards)], ("these are two boards",), None, "markdown")
    assert page.splitlines()[0] == "# What changed: one → two, 26 November 2026"


def test_a_history_says_what_changed_where_and_when(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(1, 4):
        records = Synthetic(identical=True, samples=6, algorithms=("sha256",)).records()
        records[0]["started"] = f"2026-01-{number:02d}T03:04:05Z"
        write(records, tmp_path / "runs" / str(number))
    monkeypatch.chdir(tmp_path)
    assert run(["history", "--plan", "quick", "--last", "3", "-o", "h.html"]) == 0
    text = Path("h.html").read_text(encoding="utf-8")
    assert "<h1>What changed in quick on synthetic, 1 January 2026 to 3 January 2026</h1>" in text
    shown = text.replace("<span>", "").replace("</span>", "")
    assert "<code>teemark history --plan quick --last 3</code>" in shown


def test_a_command_outside_of_one_is_unknown() -> None:
    assert origin.command("desk") is None


@pytest.mark.parametrize(
    ("typed", "said"),
    [
        ("run --plan quick -o x --out=y", "run --plan quick --board desk"),
        ("run --board=desk --only a", "run --board=desk --only a"),
        ("broker measure --out x", "broker measure --board desk"),
        ("watch -- tool -o x --board y", "watch --board desk -- tool -o x --board y"),
    ],
)
def test_a_command_is_said_with_its_board_and_without_its_output(typed: str, said: str) -> None:
    """What stands behind -- is the program's own."""
    with click.Context(click.Command("x"), obj=typed.split()):
        assert origin.command("desk") == f"teemark {said}"
