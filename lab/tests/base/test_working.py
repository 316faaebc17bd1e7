# SPDX-License-Identifier: BSD-2-Clause
"""A step that takes long says so, in a pipe too, and how long it took the last time."""

import json
import threading
from pathlib import Path

import pytest

from teemark.base import console


@pytest.fixture
def kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    file = tmp_path / "took.json"
    monkeypatch.setattr(console._Steps, "file", file)
    return file


def waits_until_said(monkeypatch: pytest.MonkeyPatch) -> threading.Event:
    """Makes the silence short, and returns what is set when a line was said."""
    said, original = threading.Event(), console.say

    def say(text: str) -> None:
        original(text)
        said.set()

    monkeypatch.setattr(console, "SILENT_S", 0.001)
    monkeypatch.setattr(console, "say", say)
    return said


def test_a_silent_step_says_that_it_goes_on(
    kept: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    said = waits_until_said(monkeypatch)
    kept.write_text(json.dumps({"building OP-TEE …": 100.0}))
    with console.working("building OP-TEE …"):
        assert said.wait(60)
    assert capsys.readouterr().err == "building OP-TEE, last time 1:40 …\n"


def test_a_step_is_remembered_once_it_is_done(kept: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    said = waits_until_said(monkeypatch)
    with console.working("a …"):
        assert said.wait(60)
    assert console.took("a …") is not None
    said.clear()
    with pytest.raises(ZeroDivisionError), console.working("b …"):
        _ = 1 / (not said.wait(60))
    assert console.took("b …") is None
    assert [*json.loads(kept.read_text())] == ["a …"]


def test_a_short_step_is_neither_said_nor_kept(
    kept: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with console.working("quick …"):
        pass
    assert capsys.readouterr().err == ""
    assert not kept.exists()


@pytest.mark.parametrize("text", ["", "no JSON", "[1]", "{"])
def test_a_broken_memory_is_none(kept: Path, text: str) -> None:
    kept.write_text(text)
    assert console.took("a …") is None
