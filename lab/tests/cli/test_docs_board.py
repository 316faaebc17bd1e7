# SPDX-License-Identifier: BSD-2-Clause
"""What docs/start.md shows of `teemark explain` is what the exact board gives."""

import re
import shlex
from pathlib import Path

import pytest

from teemark.base import paths
from teemark.boards import VirtualBoard, ensure_installed
from teemark.cli.main import run
from teemark.measure import runner
from teemark.plan.file import load_plan, select_cases
from test_docs_commands import COMMAND, transcripts

PAGE = paths.root() / "docs" / "start.md"
ROW = re.compile(r"^ ((?:\S| (?! ))+)  +(\d+(?:[ \N{NARROW NO-BREAK SPACE}]\d{3})*)  ", re.M)

WITHIN = 0.02
"""A part may differ by this share of the call: tracepoints tell some within an interval only."""


def parts(text: str) -> dict[str, int]:
    """Returns the instructions of each part in a table of `explain`."""
    return {part: int(re.sub(r"\D", "", number)) for part, number in ROW.findall(text)}


def shown() -> tuple[list[str], str]:
    """Returns the words of the command `explain` that the page shows, and what it prints."""
    ((command, printed),) = (
        pair for pairs in transcripts(PAGE) for pair in pairs if " explain " in pair[0]
    )
    return shlex.split(COMMAND.sub("", command)), printed


def test_the_page_shows_all_parts_of_the_call() -> None:
    """The table of the page adds up: a row that is lost, or a figure that isn't read, shows."""
    *others, (last, call) = parts(shown()[1]).items()
    assert last == "the call"
    assert sum(cost for _, cost in others) == call


@pytest.mark.board
@pytest.mark.exhaustive
def test_a_first_week_shows_what_explain_says(
    qemu_v8_icount: VirtualBoard,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    words, printed = shown()
    ensure_installed(qemu_v8_icount)
    plan = select_cases(load_plan("explain"), ["invoke/*"])
    folder = tmp_path / "runs" / "latest"
    outcome = runner.measure(
        qemu_v8_icount, plan, folder, runner.RunListener(), options=["--trace-events"]
    )
    assert outcome.error is None
    monkeypatch.chdir(tmp_path)
    assert run(words) == 0
    said, here = parts(printed), parts(capsys.readouterr().out)
    assert said.keys() == here.keys()
    apart = WITHIN * said["the call"]
    assert here == pytest.approx(said, abs=apart)
