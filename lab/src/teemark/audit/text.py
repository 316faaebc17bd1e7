# SPDX-License-Identifier: BSD-2-Clause
# ruff: noqa: SIM905 (signs of arithmetic; lists of words)
"""Reads anybody's text: what programs print, tables in Markdown or set with tabs and blanks, lines
"name: value", and sentences."""

import re
from bisect import bisect
from dataclasses import dataclass, field
from pathlib import Path

from teemark.audit.figure import Lines, Reading
from teemark.audit.numbers import numbers, plain, unit_named
from teemark.audit.programs import rewritten
from teemark.base.errors import DataError, UsageMistake

KNOWN = (
    "openssl speed (-mr, -elapsed too), xtest's perf tests, kcapi-speed, time, cryptsetup "
    "benchmark, tcrypt, Markdown and aligned tables, name: value, and sentences"
)
OF_A_PROGRAM = 400
"""Characters of the longest line that a known program prints; longer lines aren't matched."""
LONGEST = 20_000
"""Characters of a line that are read; the rest is cut off."""

_RULE = re.compile(r"[|:\- +=]+")
_HEADING = re.compile(
    r"#{1,6} (.+)|=+ (\S.*?) ?=*|(?:[Ss]lide|[Tt]able|[Ff]igure) [\d.]+: (.+)"
    r"|((?:\d[\d.]*|[A-Z]\.) [A-Z][a-z].{0,80})"
)
_MINOR = re.compile(r"-{3,} (\S.*?) -{3,}")
_NAMED = re.compile(r"([-*•] )?([A-Za-z/][^:=|]{0,60}?) ?[:=] ?(\S.*)")
_PAIR = re.compile(r"([A-Za-z_]\w{0,30})=([^\s,;]{1,40})")
_TRACE = re.compile(r"[DIFEW]/(?:TA|TC|LD|LT):")
_STAMP = re.compile(r"\[ *\d+\.\d+\] ?")
_GAP = re.compile(r"\t+| {2,}")
_SENTENCE = re.compile(r"(?<=[.!?]) (?=[A-Z„(])")
_NOUN = re.compile(r"[A-Za-z][A-Za-z-]*")
_NO_NOUNS = frozenset("is was as has this its it his us yes always across less".split())
_FACTOR = re.compile(r"(?:scaling )?factor|speed-?up|ratio|vs\.? .{1,40}|improvement|slow-?down")
_STOPS = re.compile(r"[,;:]| and | then | while | where ")
_SIZES = ("bytes", "B", "KiB", "kB", "KB", "MB", "MiB")
_SIGNS = "~≈<>≤≥+- "


@dataclass(slots=True)
class _Text:
    """A text being read line by line; fields keep what earlier lines set, such as the heading."""

    reading: Reading
    main: str = ""
    """The heading; `table` is the heading with a list's label."""
    table: str = ""
    block: int = 0
    keys: dict[str, str] = field(default_factory=dict)
    sentence: int = 0
    paragraph: Lines = field(default_factory=list)

    def heading(self, text: str, line: int, table: str) -> None:
        """Takes a heading, or a line such as "40 MB file:" that heads the list below it."""
        self.flush()
        self.table = table
        self.new_block()
        self.reading.said.append((text, line))

    def new_block(self) -> None:
        self.block += 1
        self.keys = {}

    def flush(self) -> None:
        """Splits the finished paragraph into sentences, and reads them."""
        text, starts, lines = "", [], []
        for line, part in self.paragraph:
            starts.append(len(text))
            lines.append(line)
            text += part + " "
        self.paragraph = []
        at = 0
        for sentence in _SENTENCE.split(text.rstrip()) if text else ():
            self.said(sentence, [start - at for start in starts], lines)
            at += len(sentence) + 1

    def said(
        self, text: str, starts: list[int], lines: list[int], block: int = 0, key: str = ""
    ) -> None:
        """Takes the figures of a sentence, or of the value behind a name. `starts` are the
        positions in it at which its `lines` begin; negative if a line begins before it."""
        self.sentence += 1
        if text.strip():
            line = lines[max(bisect(starts, 0) - 1, 0)]
            self.reading.said.append((f"{key}: {text}" if key else text, line))
        all_numbers = numbers(text)
        ends = [0, *(number.end for number in all_numbers)]
        begins = [*(number.start for number in all_numbers), len(text)]
        for before, number, after in zip(ends, all_numbers, begins[1:], strict=False):
            line = lines[max(bisect(starts, number.start) - 1, 0)]
            ahead, behind = text[before : number.start], text[number.end : after]
            noun = number.noun or _noun(behind)
            alone = bool(key) and not before and not ahead.strip(_SIGNS)
            if not number.unit and not noun and not alone:
                self.reading.unknown.append((number.value, line))
                continue
            words = key if alone else _STOPS.split(ahead)[-1].strip(" (=→" + _SIGNS)[-60:].strip()
            column = noun if not number.unit else behind.strip()
            self.reading.figures.append(
                number.figure(_implied(words), table=self.table, row=words, column=column,
                              line=line, form="line", sentence=self.sentence, block=block,
                              named=alone)
            )  # fmt: skip

    def named(self, line: int, key: str, value: str) -> None:
        """Takes a line "Name: value"; a name that comes again with another value begins a new
        list."""
        if self.keys.get(key, value) != value or not self.block:
            self.new_block()
        self.keys[key] = value
        self.said(value, [0], [line], self.block, key)

    def line(self, number: int, text: str) -> None:
        """Takes a line that isn't in a table."""
        named, pairs = _NAMED.fullmatch(text), _PAIR.findall(text)
        heading, minor = _HEADING.fullmatch(text), _MINOR.fullmatch(text)
        if not text:
            self.flush()
        elif _TRACE.search(text):
            self.reading.said.append((text[text.index("/") - 1 :], number))
        elif heading and not re.search(r"\d ?= ", text):
            self.main = plain(next(filter(None, heading.groups())))
            self.heading(self.main, number, self.main)
        elif text.endswith(":") and len(text.split()) < 10 and text[:1] not in "|(":
            label = text.removeprefix("- ").removeprefix("• ")
            self.heading(label, number, f"{self.main}: {label.rstrip(': ')}".lstrip(": "))
        elif minor:
            self.flush()
            self.reading.said.append((minor[1], number))
        elif len(pairs) > 1:
            self.flush()
            self.new_block()
            for key, value in pairs:
                self.named(number, key, value)
        elif named and not named[2][:1].isdigit() and (named[1] or not self._continues(named)):
            self.flush()
            self.named(number, named[2].strip(), named[3])
        elif not named and text[:2] in ("- ", "* ", "• ", "→ "):
            self.flush()
            self.said(text[2:], [0], [number], self.block or 1)
        else:
            if not named and not self.paragraph and not text.startswith("("):
                self.new_block()
            self.paragraph.append((number, text))

    def _continues(self, named: re.Match[str]) -> bool:
        """Returns true if the colon belongs to a sentence."""
        counted = any(number.unit for number in numbers(named[2]))
        return counted or (bool(self.paragraph) and len(named[2].split()) > 5)

    def table_at(self, lines: Lines, index: int) -> int:
        """Reads the table that begins at `index`; returns how many lines it has, 0 for no table."""
        number, line = lines[index]
        following = lines[index + 1][1].strip() if index + 1 < len(lines) else ""
        ruled = bool(_RULE.fullmatch(following))
        markdown = ruled and "|" in line and "|" in following
        cells_of = _cells if markdown else lambda text: _GAP.split(plain(text))
        heads = cells_of(line)
        if not markdown and (len(heads) < 2 or any(map(_is_value, heads[1:]))):
            return 0
        rows: list[tuple[int, list[str]]] = []
        first = index + 1 + ruled
        for place in range(first, len(lines)):
            row = lines[place][1]
            cells = cells_of(row)
            if not ("|" in row if markdown else len(cells) == len(heads)):
                break
            rows.append((lines[place][0], cells))
        if not markdown and not any(numbers(text) for _, cells in rows for text in cells[1:]):
            return 0
        self._rows((number, heads), rows)
        return first + len(rows) - index

    def _rows(self, head: tuple[int, list[str]], rows: list[tuple[int, list[str]]]) -> None:
        """Takes the figures of a table. A row with a name only is the heading of the rows below."""
        head_line, names = head
        self.flush()
        self.reading.said.append((" | ".join(names), head_line))
        section, table = "", f"{self.table or 'table'} (line {head_line})"
        units = [unit_named(name) for name in names]
        for line, cells in rows:
            if len(cells) > 1 and not any(cells[1:]):
                section = cells[0]
                continue
            self.sentence += 1
            self.reading.said.append((" | ".join(cells), line))
            first = numbers(cells[0])
            is_value = len(first) == 1 and first[0].end == len(cells[0])
            is_value = is_value and bool(first[0].unit or units[0])
            size = is_value and first[0].unit in (*_SIZES, "GB")
            row = f"{section} {cells[0] if size or not is_value else ''}".strip()
            for index, text in enumerate(cells[: len(names)]):
                for count, number in enumerate(numbers(text) if index or is_value else ()):
                    unit = number.unit or units[index] or _implied(names[index])
                    behind, ahead = text[number.end :][:60], text[: number.start][-60:].strip()
                    words = ahead if count or ahead.strip(_SIGNS) else ""
                    column = f"{names[index]} {words} {behind.strip()}".strip()
                    self.reading.figures.append(
                        number.figure(unit, table=table, row=row, column=column, line=line,
                                      sentence=self.sentence, head=head_line, start=index)
                    )  # fmt: skip
        self.new_block()


def read(text: str, file: str) -> Reading:
    """Returns a text's figures. Raises DataError, with the first line's number, if it has none."""
    reading = Reading(file)
    lines: Lines = [
        (number, rewritten(line.strip()) if len(line) <= OF_A_PROGRAM else line[:LONGEST])
        for number, line in enumerate(text.splitlines(), 1)
    ]
    first, opening = next((line for line in lines if line[1].strip()), (1, ""))
    reading.title = plain(_STAMP.sub("", opening, count=1).lstrip("#= "))[:200]
    lines = [(number, _STAMP.sub("", line, count=1)) for number, line in lines]
    reader, index = _Text(reading), 0
    while index < len(lines):
        used = reader.table_at(lines, index)
        if not used:
            reader.line(lines[index][0], plain(lines[index][1]))
        index += used or 1
    reader.flush()
    if not reading.figures:
        what = (
            f"no figure from here on: {opening.strip()[:60]!r}" if opening else "the file is empty"
        )
        raise DataError(f"{file}:{first}: {what}", hint=f"the audit reads {KNOWN}")
    return reading


def _implied(words: str) -> str:
    """Returns the unit of a number that has none, from the words before it: `bytes` for a size,
    `/s` for a rate, `x` for a factor, otherwise `count`."""
    low = words.lower()
    if low.endswith((" per second", "/s")):
        return "/s"
    if _FACTOR.fullmatch(low):
        return "x"
    return "bytes" if low in ("size", "length", "bytes") or low.endswith("(bytes)") else "count"


def _noun(behind: str) -> str:
    """Returns the noun that a number counts: a plural within the next three words."""
    clause = re.split(r"[,.;:()=+]", behind, maxsplit=1)[0]
    words = _NOUN.findall(clause[:40])[:3]
    for count, word in enumerate(words, 1):
        low = word.lower()
        if low.endswith("s") and low not in _NO_NOUNS and not low.endswith("ss"):
            return " ".join(words[:count])
    return ""


def _is_value(text: str) -> bool:
    """Returns true if a cell is a number, but not a message's size, which may be a heading."""
    all_numbers = numbers(text)
    return bool(all_numbers) and all_numbers[0].start <= 1 and all_numbers[0].unit not in _SIZES


def _cells(line: str) -> list[str]:
    return [plain(cell) for cell in line.strip().removeprefix("|").removesuffix("|").split("|")]


def read_file(path: Path) -> Reading:
    """Returns the figures of a file. Raises UsageMistake or DataError if it can't be read."""
    try:
        data = path.read_bytes()
    except OSError as error:
        raise UsageMistake(
            f"{path}: can't be read: {error.strerror}",
            hint="name a program's output, or a text with figures, such as a run's report.md",
        ) from None
    try:
        text = data.decode()
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise DataError(f"{path}:{line}: not UTF-8 text", hint="convert it first") from None
    return read(text, str(path))
