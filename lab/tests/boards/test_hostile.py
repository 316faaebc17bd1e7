# SPDX-License-Identifier: BSD-2-Clause
"""A hostile or broken board against the workstation: whatever it says, a report is made, with no
markup, style or address of the board's in it, and nothing of it steers a terminal."""

import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest
from hypothesis import HealthCheck, example, given, reject, settings
from hypothesis import strategies as st

from synthetic import MACHINE, Synthetic, lines_of
from teemark.base.errors import BoardError, TeemarkError
from teemark.base.sanitize import _SUSPECT, harmless, harmless_line, suspect
from teemark.cli import main as cli
from teemark.export import FORMATS
from teemark.report import run_page, summary
from teemark.run import reader
from teemark.run.records import Machine
from test_report import Page

EVIL = (
    "<script>alert(1)</script>",
    '"><img/src=x onerror=alert(1)>',
    "x);background:url(//evil.example/a);(",
    "ce;background:url(//evil.example/b)",
    "$\\frac$",
    "$",
    "[/x]",
    "[bold]",
    "\x1b[2J\x1b]0;title\x07",
    "\u202egnp.exe",
    "{{7*7}}",
    "a|b`c*d_e",
    "../../etc/passwd",
    "0",
    "\ud7ff\ufffe",
    "x" * 3000,
)

words = st.one_of(
    st.sampled_from(EVIL),
    st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=20),
)
names = words.map(lambda text: re.sub(r"[/\s]", "-", text))
"""Says what may be a part of a case's key."""

numbers = st.sampled_from((0, 1, 2**31, 2**53 + 1, 10**18, 2**63 - 1))

_BASE = Synthetic(
    samples=3, algorithms=("sha256",), repeat=(1, 2, 4), counter=1.0, starts=2, between=0.1
).records()


@dataclass(frozen=True)
class Changes:
    """Holds what a board makes of a run."""

    renamed: dict[str, str]
    parameters: str | None
    text: str
    times: dict[int, int]
    every: int | None

    def lines(self) -> list[bytes]:
        """Records that the reader takes, with words and numbers of the board's choice."""
        records = []
        samples = 0
        for record in _BASE:
            made: dict[str, Any] = dict(record)
            if made.get("case"):
                self._rename(made)
            for name in _TEXTS:
                if isinstance(made.get(name), str):
                    made[name] = self.text
            if made["type"] == "machine":
                made["cpu"] = {"models": [self.text], "features": [self.text]}
                made["kernel"] = {"os": self.text, "release": self.text}
                made["board"] = {"model": self.text}
                named = [self.renamed.get("ce", "ce"), "tee"]
                made["backends"] = [{"name": name, "title": self.text} for name in named]
                made["reasons"] = {"cpu.governor": self.text, self.text: self.text}
            if made["type"] == "sample":
                samples += 1
                changed = self.times.get(samples, made["ns"])
                made["ns"] = changed if self.every is None else self.every
            records.append(made)
        return lines_of(records)

    def _rename(self, made: dict[str, Any]) -> None:
        parts = [self.renamed.get(part, part) for part in str(made["case"]).split("/", 3)]
        if self.parameters is not None and parts[3] == "1024":
            parts[3] = self.parameters
        made["case"] = "/".join(parts)
        if made["type"] == "case":
            named = ("workload", "algorithm", "backend", "parameters")
            made |= dict(zip(named, parts, strict=True))


_TEXTS = ("board", "board_summary", "plan", "plan_summary", "reason", "what", "started")

changes = st.builds(
    Changes,
    renamed=st.dictionaries(
        st.sampled_from(("sha256", "tee", "ce", "ta-c", "oneshot", "invoke", "none")),
        names,
        max_size=3,
    ),
    parameters=st.none() | names,
    text=words,
    times=st.dictionaries(st.integers(0, 300), numbers, max_size=20),
    every=st.none() | numbers,
)


KNOWN = (
    Changes({"ce": "ce;background:url(//evil.example/b)"}, None, "x", {}, None),
    Changes({"ce": "$\\frac$"}, None, "$\\frac$", {}, None),
    Changes({"oneshot": "[/x]"}, "[/x]", "[/x]", {}, None),
    Changes({}, "\x1b[2J", "\x1b]0;title\x07\u202e", {}, None),
    Changes({}, None, "x", {}, 0),
    Changes({}, None, "x", {1: 0, 2: 2**63 - 1}, None),
)
"""Says what once broke a report, or a browser, or a terminal."""


def known(test: Callable[..., None]) -> Callable[..., None]:
    for change in KNOWN:
        test = example(change)(test)
    return test


@settings(
    max_examples=settings().max_examples // 4,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
@known
@given(changes)
def test_any_records_give_a_report(change: Changes) -> None:
    lines = change.lines()
    run = parsed(lines)
    made = run_page.make([run])
    page = Page(made.html)
    assert not page.tags & {"script", "img", "iframe", "object", "link", "base", "form"}
    markup = re.sub(r">[^<]*<", "><", re.sub(r"<style>.*?</style>", "", made.html, flags=re.S))
    for style in re.findall(r'style="([^"]*)"', markup):
        assert "url(" not in re.sub(r"url\(#[a-z0-9]+\)", "", style)
        assert "//" not in style
    said = "".join(page.text)
    assert not re.search(r"\b(nan|inf)\b(?! *\()", re.sub(r"\S{21,}", "", said)) or _told(lines)
    for rendered in (made.html, made.markdown, *(format_.render(run) for format_ in FORMATS)):
        assert "\x1b" not in rendered
        assert "\u202e" not in rendered


def parsed(lines: list[bytes]) -> reader.RunData:
    """Returns the run; an example that the reader refuses with a sentence of ours is left out."""
    try:
        return reader.parse(lines, file="x")
    except TeemarkError:
        reject()


def _told(lines: list[bytes]) -> bool:
    """Do the board's own words hold what looks like a number that is none?"""
    return bool(re.search(rb"\b(nan|inf)\b", b"".join(lines)))


@settings(max_examples=settings().max_examples // 4, deadline=None)
@known
@given(changes)
def test_the_terminal_shows_any_run(change: Changes) -> None:
    from io import StringIO
    from unittest.mock import patch

    from teemark.findings.subject import subjects

    out = StringIO()
    with patch("sys.stdout", out):
        summary.show(subjects([parsed(change.lines())])[0])
    assert not re.search(r"[\x00-\x09\x0b-\x1f\x7f-\x9f]", out.getvalue())


@given(st.text(), st.booleans())
def test_lines_are_sorted_out_quickly_but_all(text: str, raw: bool) -> None:
    line = text.encode(errors="replace") if raw else json.dumps(text).encode() + b"\n"
    assert suspect(line) == (_SUSPECT.search(line) is not None)


@given(st.text())
def test_harmless_text_steers_nothing(text: str) -> None:
    clean = harmless(text)
    assert not re.search(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]", clean)
    assert harmless(clean) == clean
    assert "\n" not in harmless_line(text)
    if text.isprintable():
        assert clean == text


def test_a_boards_last_words_reach_no_terminal_as_they_are(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_args: object, **_options: object) -> None:
        raise BoardError("said: \x1b]0;owned\x07\x1b[2J", hint="try \x9b31m")

    monkeypatch.setattr(cli.cli, "main", fail)
    assert cli.run([]) == 1
    said = capsys.readouterr().err
    assert "owned" in said
    assert not re.search(r"[\x00-\x09\x0b-\x1f\x7f-\x9f]", said)


def test_machine_facts_are_cleaned_too() -> None:
    machine = {**MACHINE, "kernel": {"release": "6.1\x1b[31m"}}
    record = reader.decode_line(json.dumps(machine).encode(), file="x", number=1)
    assert isinstance(record, Machine)
    assert record.kernel.release == "6.1\ufffd[31m"


def test_what_cannot_be_a_run_is_an_error_of_ours() -> None:
    for evil in EVIL:
        with pytest.raises(TeemarkError):
            reader.parse([json.dumps({"type": evil}).encode() + b"\n"], file=evil)
