# SPDX-License-Identifier: BSD-2-Clause
"""Which core and clock a document's figures are of: as it says, or concluded and marked so."""

from __future__ import annotations

import re

from teemark.audit.figures import Paper
from teemark.audit.sheet import Sheet, Statement
from teemark.reference.data import Reference

_BOARDS = ((r"raspberry pi 3|\brpi3\b", "rpi3"), (r"am335x|beaglebone", "am335x"))
_CORE = re.compile(r"\bcortex-(a\d+)\b", re.I)
_CLOCK = re.compile(r"\b(\d(?:\.\d+)?)\s?GHz\b")


def place(paper: Paper, reference: Reference, core: str = "", clock_hz: float = 0.0) -> None:
    """Fill in core and clock; what the caller knows comes first."""
    sheet = paper.sheet
    paper.core = core or sheet.core or _stated(sheet, _CORE, "cortex-")
    paper.clock_hz = clock_hz or sheet.clock_hz or _clock(paper)
    sheet.emulated = sheet.emulated or _first(sheet, re.compile(r"\bqemu", re.I)) is not None
    for pattern, board in _BOARDS:
        named = _first(sheet, re.compile(pattern, re.I))
        known = reference.words(f"{board}-core")
        if named is None or paper.core not in ("", known):
            continue
        if not paper.core:
            paper.core = known
            paper.inferred["core"] = reference.constants[f"{board}-core"].source
            if re.search(rf"(?:{pattern})[^,]*\(inferred", named.text, re.I):
                paper.inferred["core"] += ", and the board itself is inferred"
        if not paper.clock_hz:
            paper.clock_hz = reference.constant(f"{board}-clock") * 1e9
            paper.inferred["clock"] = reference.constants[f"{board}-clock"].source


def _texts(sheet: Sheet) -> list[Statement]:
    return [Statement(sheet.title, 1), *sheet.said]


def _first(sheet: Sheet, pattern: re.Pattern[str]) -> Statement | None:
    return next((one for one in _texts(sheet) if pattern.search(one.text)), None)


def _stated(sheet: Sheet, pattern: re.Pattern[str], prefix: str) -> str:
    """What every place that says it says; nothing where they differ."""
    found = {match[1].lower() for one in _texts(sheet) for match in pattern.finditer(one.text)}
    return prefix + found.pop() if len(found) == 1 else ""


def _clock(paper: Paper) -> float:
    clocks = {
        figure.span.mid
        for figure in paper.figures
        if figure.quantity == "frequency" and figure.span.mid >= 2e8
    }
    stated = _stated(paper.sheet, _CLOCK, "")
    if stated:
        clocks.add(float(stated) * 1e9)
    return clocks.pop() if len(clocks) == 1 else 0.0
