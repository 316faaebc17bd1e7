# SPDX-License-Identifier: BSD-2-Clause
"""Losses are said: calls without room, calls that failed, returns, cases that are gone. Commands
end with 1 for them."""

from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import msgspec
import numpy as np
import pytest

from synthetic import Synthetic
from teemark.cli import gate
from teemark.cli import main as cli
from teemark.exact import program, pull_request
from teemark.exact.gate import Gated
from teemark.model.compare import Comparison, Limit
from teemark.page import trace_table
from teemark.run import reader
from teemark.trace import calls
from teemark.trace.calls import CallKind
from teemark.trace.profile import Link
from test_trace_outputs import case


def recorded(folder: Path, *rows: dict[str, object], made: int, room: int) -> Path:
    """Writes a file of calls, as libteewatch.so does."""
    head: Any = np.zeros(1, calls.HEAD)
    head["magic"], head["calls"], head["room"], head["processes"] = calls.MAGIC, made, room, 1
    table: Any = np.zeros(room, calls.CALL)
    for place, row in enumerate(rows):
        for name, value in row.items():
            table[place][name] = value
    (folder / "calls").write_bytes(head.tobytes() + table.tobytes())
    return folder / "calls"


def row(function: calls.Function, begin: int, **more: object) -> dict[str, object]:
    number = calls.FUNCTIONS.index(function)
    return {"function": number, "begin": begin, "end": begin + 10, "pid": 1, "handle": 7} | more


def test_calls_without_room_are_counted(tmp_path: Path) -> None:
    file = recorded(tmp_path, row("open", 1), row("invoke", 20), made=5, room=2)
    found = calls.read(file)
    assert len(found.calls) == 2
    assert found.lost == 3


def test_a_session_that_was_not_opened_is_none(tmp_path: Path) -> None:
    rows = [
        row("open", 1, result=0xFFFF0008),
        row("invoke", 20),
        row("open", 40),
        row("invoke", 60),
    ]
    found = calls.read(recorded(tmp_path, *rows, made=4, room=4))
    assert [call.session for call in found.calls] == [0, 0, 3, 3]


def test_a_median_is_the_middle_call() -> None:
    of = [SimpleNamespace(ns=ns) for ns in (1, 2, 30)]
    kind = CallKind("invoke", cast("Any", tuple(of)))
    assert (kind.median, kind.dearest, kind.total) == (2, 30, 33)


@pytest.mark.parametrize(("lost", "said"), [(3, "3 calls found no room"), (0, "")])
def test_lost_calls_are_said(lost: int, said: str, capsys: pytest.CaptureFixture[str]) -> None:
    watched = SimpleNamespace(lost=lost)
    program.say_unread(
        cast("Any", SimpleNamespace(unread=(), ran=SimpleNamespace(watched=watched)))
    )
    told = capsys.readouterr().err
    assert said in told
    assert bool(told) == bool(said)


def test_the_function_that_takes_most_by_itself_is_named() -> None:
    """entry calls memset, and takes more with it than memset alone."""
    assert trace_table.dearest(case()).startswith("memset (S-EL1, ")


def test_returns_that_match_no_call_are_said() -> None:
    lost = msgspec.structs.replace(case(), lost=(Link("a", "b", "RETURN", 2),))
    assert any(
        "2 returns to a place that nothing called" in one for one in trace_table.remarks(lost)
    )
    assert not any(
        "nothing called" in one
        for one in trace_table.remarks(msgspec.structs.replace(case(), lost=()))
    )


@pytest.mark.parametrize(("gone", "status"), [(("invoke/none/tee/none",), 1), ((), 0)])
def test_a_pull_request_whose_case_is_gone_fails(
    gone: tuple[str, ...], status: int, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    compared = pull_request.ComparedCommits("a", "b", {}, {}, gone, (), "gcc")
    monkeypatch.setattr(pull_request, "measure", lambda *_: [compared])
    monkeypatch.setattr(pull_request, "check", lambda *_: None)
    words = ["pr", "--optee", str(tmp_path), "--out", str(tmp_path / "out"), "a", "b"]
    assert cli.run(words) == status


def test_a_gate_whose_case_is_gone_fails() -> None:
    run = Synthetic(algorithms=("sha1",), identical=True).run()
    same = pytest.importorskip("test_right_rows").pair(0.0, "same")
    judged = Comparison(run, run, (same,), (), ())
    assert not gate._failed(Gated(judged), Limit(share=0.0))
    assert gate._failed(Gated(replace(judged, lost=("x",))), Limit(share=0.0))


def test_a_run_that_was_cut_short_is_exported_with_status_1(tmp_path: Path) -> None:
    lines = Synthetic(algorithms=("sha1",)).lines()
    for name, kept in (("whole", lines), ("cut", lines[:-1])):
        (tmp_path / name).mkdir()
        (tmp_path / name / "run.ndjson").write_bytes(b"".join(kept))
    words = ["export", "--format", "csv", "-o", str(tmp_path / "out")]
    assert reader.read(tmp_path / "cut").incomplete
    assert cli.run([*words, str(tmp_path / "whole")]) == 0
    assert cli.run([*words, str(tmp_path / "cut")]) == 1
