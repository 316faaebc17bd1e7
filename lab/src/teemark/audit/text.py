# SPDX-License-Identifier: BSD-2-Clause
# ruff: noqa: SIM905 (signs of arithmetic; lists of words)
"""Reads anybody's text: tables in Markdown or set with tabs and blanks, lines "name: value", and
sentences."""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace

from teemark.audit.figure import Figure, Lines, Reading
from teemark.audit.numbers import Number, numbers, plain, unit_named

_RULE = re.compile(r"[|:\- +=]+")
_HEADING = re.compile(
    r"#{1,6} (.+)|=+ (\S.*?) ?=*|(?:[Ss]lide|[Tt]able|[Ff]igure) [\d.]+: (.+)"
    r"|(\d[\d.]* [A-Z][a-z].{0,80})"
)
_MINOR = re.compile(r"-{3,} (\S.*?) -{3,}")
_NAMED = re.compile(r"([-*•] )?([A-Za-z/][^:=|]{0,60}?) ?[:=] ?(\S.*)")
_PAIR = re.compile(r"([A-Za-z_]\w{0,30})=([^\s,;]{1,40})")
_TRACE = re.compile(r"[DIFEW]/(?:TA|TC|LD|LT):")
_STAMP = re.compile(r"\[ *\d+\.\d+\] ?")
_GAP = re.compile(r"\t+| {2,}")
_SENTENCE = re.compile(r"(?<=[.!?]) (?=[A-Z„(])")
_TIME = re.compile(r"(real|user|sys)\s+(\d+)m(\d+\.\d+)s")
_NOUN = re.compile(r"[A-Za-z][A-Za-z-]*")
_NO_NOUNS = frozenset("is was as has this its it his us yes always across less".split())
_FACTOR = re.compile(r"(?:scaling )?factor|speed-?up|ratio|vs\.? .{1,40}|improvement|slow-?down")
_STOPS = re.compile(r"[,;:]| and | then | while | where ")


@dataclass(slots=True)
class _State:
    """What of the lines before still holds."""

    reading: Reading
    main: str = ""
    """The heading; `table` is with the label of the list."""
    table: str = ""
    block: int = 0
    keys: dict[str, str] = field(default_factory=dict)
    sentence: int = 0
    paragraph: list[tuple[int, str]] = field(default_factory=list)

    def heading(self, text: str, line: int) -> None:
        self.flush()
        self.main = self.table = plain(text)
        self.new_block()
        self.reading.said.append((self.table, line))

    def label(self, text: str, line: int) -> None:
        """A line such as "40 MB file:" heads the list below it."""
        self.flush()
        self.table = f"{self.main}: {text.rstrip(': ')}".lstrip(": ")
        self.new_block()
        self.reading.said.append((text, line))

    def new_block(self) -> None:
        self.block += 1
        self.keys = {}

    def flush(self) -> None:
        """The sentences of the paragraph that has ended."""
        if not self.paragraph:
            return
        text, starts = "", []
        for line, part in self.paragraph:
            starts.append((len(text), line))
            text += part + " "
        self.paragraph = []
        at = 0
        for sentence in _SENTENCE.split(text.rstrip()):
            self.said(sentence, [(start - at, line) for start, line in starts], 0)
            at += len(sentence) + 1

    def said(self, text: str, starts: list[tuple[int, int]], block: int, key: str = "") -> None:
        """The figures of one sentence, or of what stands behind a name."""
        self.sentence += 1
        line = _line(starts, 0)
        if text.strip():
            self.reading.said.append((f"{key}: {text}" if key else text, line))
        found = numbers(text)
        for index, number in enumerate(found):
            after = found[index + 1].start if index + 1 < len(found) else len(text)
            before = found[index - 1].end if index else 0
            figure = self._figure(text, number, before, after, key)
            where = _line(starts, number.start)
            if figure is None:
                self.reading.unknown.append((number.value, where))
            else:
                self.reading.figures.append(
                    replace(figure, line=where, sentence=self.sentence, block=block)
                )

    def _figure(
        self, text: str, number: Number, before: int, after: int, key: str
    ) -> Figure | None:
        """None for a number that nothing names."""
        behind = text[number.end : after]
        noun = number.noun or _noun(behind)
        ahead = text[before : number.start]
        alone = key and not before and not ahead.strip("~≈<>≤≥+- ")
        if not number.unit and not noun and not alone:
            return None
        words = key if alone else _last_clause(ahead)
        unit = number.unit or _implied(words)
        printed, span = replace(number, unit=unit).printed
        return Figure(
            printed, span, unit, self.table, words, noun if not number.unit else behind.strip(),
            0, "line", start=number.start, digits=number.value, named=bool(alone),
        )  # fmt: skip


def _implied(words: str) -> str:
    """The unit of a bare number by its name: bytes of a size, and what is counted a second."""
    low = words.lower()
    if low.endswith((" per second", "/s")):
        return "/s"
    if _FACTOR.fullmatch(low):
        return "x"
    return "bytes" if low in ("size", "length", "bytes") or low.endswith("(bytes)") else "count"


def _line(starts: list[tuple[int, int]], at: int) -> int:
    return max((start, line) for start, line in [(-(10**9), starts[0][1]), *starts] if start <= at)[
        1
    ]


def _last_clause(text: str) -> str:
    """The words before a number, back to the last comma."""
    return _STOPS.split(text)[-1].strip(" (~≈<>+-=→")[-60:].strip()


def _noun(behind: str) -> str:
    """What is counted: a plural within three words."""
    clause = re.split(r"[,.;:()=+]", behind, maxsplit=1)[0]
    words = _NOUN.findall(clause[:40])[:3]
    for count, word in enumerate(words, 1):
        low = word.lower()
        if low.endswith("s") and low not in _NO_NOUNS and not low.endswith("ss"):
            return " ".join(words[:count])
    return ""


def read(reading: Reading, lines: Lines) -> None:
    """Put everything that the lines say into the reading."""
    state = _State(reading)
    lines = [(number, _STAMP.sub("", line, count=1)) for number, line in lines]
    reading.title = next((plain(line.lstrip("#= ")) for _, line in lines if line.strip()), "")[:200]
    index = 0
    while index < len(lines):
        number, line = lines[index]
        used = _table(state, lines, index)
        if used:
            index += used
            continue
        index += 1
        _one_line(state, number, plain(line))
    state.flush()


def _one_line(state: _State, number: int, text: str) -> None:  # noqa: PLR0912 - a branch a kind
    if not text:
        state.flush()
    elif _TRACE.search(text):
        state.reading.said.append((text[text.index("/") - 1 :], number))
    elif found := _TIME.fullmatch(text):
        _named(state, number, found[1], f"{60 * int(found[2]) + float(found[3]):.3f} s")
    elif (found := _HEADING.fullmatch(text)) and not re.search(r"\d ?= ", text):
        state.heading(next(group for group in found.groups() if group), number)
    elif text.endswith(":") and len(text.split()) < 10 and text[:1] not in "|(":
        state.label(text.removeprefix("- ").removeprefix("• "), number)
    elif found := _MINOR.fullmatch(text):
        state.flush()
        state.reading.said.append((found[1], number))
    elif len(pairs := _PAIR.findall(text)) > 1:
        state.flush()
        state.new_block()
        for key, value in pairs:
            _named(state, number, key, value)
    elif (found := _NAMED.fullmatch(text)) and not any(c.isdigit() for c in found[2][:1]):
        counted = any(one.unit for one in numbers(found[2]))
        if not found[1] and (counted or (state.paragraph and len(found[2].split()) > 5)):
            state.paragraph.append((number, text))
            return
        state.flush()
        _named(state, number, found[2].strip(), found[3])
    elif text[:2] in ("- ", "* ", "• ", "→ "):
        state.flush()
        state.said(text[2:], [(0, number)], state.block or 1)
    else:
        if not state.paragraph and not text.startswith("("):
            state.new_block()
        state.paragraph.append((number, text))


def _named(state: _State, number: int, key: str, value: str) -> None:
    """ "Name: value"; a name that comes again with another value begins another list."""
    if state.keys.get(key, value) != value:
        state.new_block()
    state.keys[key] = value
    if not state.block:
        state.new_block()
    state.said(value, [(0, number)], state.block, key)


# -- tables ----------------------------------------------------------------------------------------


def _table(state: _State, lines: Lines, index: int) -> int:
    """How many lines a table takes that begins here; 0 for none."""
    number, line = lines[index]
    following = lines[index + 1][1] if index + 1 < len(lines) else ""
    if "|" in line and "-" in following and "|" in following and _RULE.fullmatch(following.strip()):
        end = index + 2
        while end < len(lines) and "|" in lines[end][1]:
            end += 1
        _rows(state, (number, _cut(line)), [(n, _cut(row)) for n, row in lines[index + 2 : end]])
        return end - index
    heads = _GAP.split(plain(line))
    if len(heads) < 2 or any(_is_value(head) for head in heads[1:]):
        return 0
    rows = []
    end = index + 1
    while end < len(lines):
        cells = _GAP.split(plain(lines[end][1]))
        if len(cells) == len(heads):
            rows.append((lines[end][0], cells))
        elif not (_RULE.fullmatch(lines[end][1].strip() or "x") and end == index + 1):
            break
        end += 1
    if not any(numbers(text) for _, cells in rows for text in cells[1:]):
        return 0
    _rows(state, (number, heads), rows)
    return end - index


def _is_value(text: str) -> bool:
    """Whether a cell is a number and no size of a message, which may be a heading."""
    found = numbers(text)
    return (
        bool(found)
        and found[0].start <= 1
        and found[0].unit not in ("bytes", "B", "KiB", "kB", "KB", "MB", "MiB")
    )


def _cut(line: str) -> list[str]:
    cells = line.strip().removeprefix("|").removesuffix("|").split("|")
    return [plain(cell) for cell in cells]


def _rows(state: _State, heads: tuple[int, list[str]], rows: list[tuple[int, list[str]]]) -> None:
    """The figures of a table. A row with a name alone heads those below it."""
    reading = state.reading
    head_line, names = heads
    state.flush()
    reading.said.append((" | ".join(names), head_line))
    section = ""
    table = f"{state.table or 'table'} (line {head_line})"
    units = [unit_named(name) for name in names]
    for line, cells in rows:
        if len(cells) > 1 and not any(cells[1:]):
            section = cells[0]
            continue
        state.sentence += 1
        first_is_value = bool(numbers(cells[0])) and _whole(cells[0], units[0] if units else "")
        row = f"{section} {'' if first_is_value and not _size_of(cells[0]) else cells[0]}".strip()
        reading.said.append((" | ".join(cells), line))
        for index, text in enumerate(cells[: len(names)]):
            if index == 0 and not first_is_value:
                continue
            for count, number in enumerate(numbers(text)):
                unit = number.unit or units[index] or _implied(names[index]).replace("count", "")
                counted = "" if unit else _noun(text[number.end : number.end + 60])
                made = replace(number, unit=unit)
                shown, span = made.printed
                ahead = text[max(0, number.start - 60) : number.start]
                words = ahead.strip() if count or ahead.strip("~≈<>≤≥+- ") else ""
                behind = text[number.end : number.end + 60].strip()
                column = f"{names[index]} {words} {behind or counted}".strip()
                reading.figures.append(
                    Figure(
                        shown,
                        span,
                        unit or "count",
                        table,
                        row,
                        column,
                        line,
                        sentence=state.sentence,
                        head=head_line,
                        start=index,
                        digits=made.value,
                    )
                )
    state.new_block()


def _whole(text: str, unit: str) -> bool:
    """Whether a first cell is a figure itself, with its unit, and no name."""
    found = numbers(text)
    return len(found) == 1 and bool(found[0].unit or unit) and found[0].end == len(text)


def _size_of(text: str) -> bool:
    found = numbers(text)
    return len(found) == 1 and found[0].unit in ("bytes", "B", "KiB", "kB", "KB", "MB", "MiB", "GB")
