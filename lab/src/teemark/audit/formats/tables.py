# SPDX-License-Identifier: BSD-2-Clause
"""Tables in Markdown or set with tabs and blanks, and lines "name: value" under their headings.

A console's report ("=== ... REPORT ===" to "=== END REPORT ===") is one run: its lines and those
before it belong together.
"""

from __future__ import annotations

import re

from teemark.audit.sheet import Cell, Lines, Measure, Sheet, label, measure, measures, plain

_RULE = re.compile(r"\s*\|?\s*:?-+:?\s*(?:\|\s*:?-+:?\s*)*\|?\s*")
_HEADING = re.compile(
    r"\s*(?:#{1,6}\s+(.+?)|-{3}\s+(\S.*?)\s+-{3}|(?:\d+|[A-Z])\.\s+([A-Z].*?))\s*"
)
_NAMED = re.compile(r"\s*(?:[-*•]\s+)?(\**`?[A-Za-z/][^:=|]{0,60}?`?\**)\s*[:=]\s*\**\s*(\S.*?)\s*")
_LABEL = re.compile(r"\s*(?:[-*•]\s+)?\**([^:*]+?)\**:\**\s*")
_GAP = re.compile(r"\t+| {2,}")
_BEGIN, _END = re.compile(r"=+ .*REPORT(?: \(.*\))? =+"), re.compile(r"=+ END REPORT =+")
_SUM = re.compile(r"^[^A-Za-z=]*=\s*")
_CHUNKS = re.compile(r"chunks of (\d+) bytes")
_RUNS = re.compile(r"\b(\d+) runs\b", re.I)
_LINE = re.compile(r"[DIFEW]/(?:TA|TC|LD):.*")


def take(sheet: Sheet, lines: Lines) -> Lines:
    sheet.title = _title(lines)
    rest = _reports(sheet, lines)
    rest = _markdown(sheet, rest)
    rest = _aligned(sheet, rest)
    _prose(sheet, rest)
    return []


def _title(lines: Lines) -> str:
    for _, line in lines:
        if line.strip():
            return plain(line.lstrip("# "))[:200]
    return ""


def _reports(sheet: Sheet, lines: Lines) -> Lines:
    """The runs of a console's log, each with its own column."""
    rest: Lines = []
    run: Lines = []
    count = 0
    for number, line in lines:
        run.append((number, line))
        if _END.search(line) and any(_BEGIN.search(text) for _, text in run):
            count += 1
            _report(sheet, run, f"run {count}")
            run = []
    rest += run
    return rest


def _report(sheet: Sheet, run: Lines, name: str) -> None:
    seen: set[str] = set()
    for number, line in run:
        if found := _LINE.search(line):
            sheet.say(found[0], number)
        elif found := _NAMED.fullmatch(line):
            value = measure(found[2].partition(", will")[0])
            if value is not None and found[1] not in seen:
                seen.add(found[1])
                sheet.cells.append(Cell(name, plain(found[1]), name, value, number))
        if (found := _CHUNKS.search(line)) and "Chunk Size" not in seen:
            seen.add("Chunk Size")
            value = measure(found[1], "bytes")
            if value is not None:
                sheet.cells.append(Cell(name, "Chunk Size", name, value, number))


def _markdown(sheet: Sheet, lines: Lines) -> Lines:
    rest: Lines = []
    heading = ""
    index = 0
    while index < len(lines):
        number, line = lines[index]
        if found := _HEADING.fullmatch(line):
            heading = plain(next(group for group in found.groups() if group))
        following = lines[index + 1][1] if index + 1 < len(lines) else ""
        if "|" in line and "|" in following and _RULE.fullmatch(following):
            end = index + 2
            while end < len(lines) and "|" in lines[end][1]:
                end += 1
            _table(
                sheet, heading, _cut(line), [(n, _cut(row)) for n, row in lines[index + 2 : end]]
            )
            _runs(sheet, line, number)
            sheet.say(plain(line), number)
            index = end
        else:
            rest.append((number, line))
            index += 1
    return rest


def _cut(line: str) -> list[str]:
    return [cell.strip() for cell in line.strip().removeprefix("|").removesuffix("|").split("|")]


def _table(sheet: Sheet, name: str, heads: list[str], rows: list[tuple[int, list[str]]]) -> None:
    """A row with a name alone heads those below it."""
    section = ""
    if not name or any(cell.table == name for cell in sheet.cells):
        name = f"{name or 'table'}, line {rows[0][0] if rows else 0}"
    for number, (first, *cells) in rows:
        row = plain(first)
        if not any(cells):
            section = row
            continue
        for head, text in zip(heads[1:], cells, strict=False):
            _, unit = label(head)
            value = measure(text, unit)
            if value is not None:
                shown = _per_call(f"{section} {row}".strip(), text)
                sheet.cells.append(Cell(name, shown, plain(head), value, number))
            elif text:
                sheet.say(f"{row}, {plain(head)}: {plain(text)}", number)


def _per_call(row: str, value: str) -> str:
    """A unit in words behind the number belongs to the name."""
    said = re.search(r"\bper (?:IPC )?call\b", value, re.I) and "per call" not in row.lower()
    return f"{row} per call" if said else row


def _aligned(sheet: Sheet, lines: Lines) -> Lines:
    """Neighbouring lines with the same number of cells between gaps; the first has no number."""
    rest: Lines = []
    heading = ""
    index = 0
    while index < len(lines):
        _, line = lines[index]
        if found := _HEADING.fullmatch(line):
            heading = plain(next(group for group in found.groups() if group))
        heads = _GAP.split(line.strip())
        rows: list[tuple[int, list[str]]] = []
        named = len(heads) > 1 and not any(measure(one) and not _size(one) for one in heads[1:])
        for after, text in lines[index + 1 :] if named else []:
            cells = _GAP.split(text.strip())
            if len(cells) != len(heads) or _RULE.fullmatch(text):
                break
            rows.append((after, cells))
        if any(measure(cell) for _, cells in rows for cell in cells[1:]):
            _table(sheet, heading, heads, rows)
        else:
            rest += lines[index : index + 1 + len(rows)]
        index += 1 + len(rows)
    return rest


def _size(head: str) -> bool:
    found = measure(head)
    return found is not None and found.dimension == "size"


def _prose(sheet: Sheet, lines: Lines) -> None:
    """ "Name: value" under its heading or the last "Label:"; everything else is said in words."""
    heading = named = ""
    for number, line in lines:
        if found := _HEADING.fullmatch(line):
            heading, named = plain(next(group for group in found.groups() if group)), ""
        found = _NAMED.fullmatch(line)
        value = measure(_SUM.sub("", found[2])) if found else None
        if found and value is not None:
            row = _per_call(plain(found[1]), found[2])
            sheet.cells.append(Cell(heading, row, named or heading, value, number))
        elif found := _LABEL.fullmatch(line):
            named = plain(found[1])
        _runs(sheet, line, number)
        if line.strip():
            sheet.say(plain(line), number)
            _spoken(sheet, line, number)


def _runs(sheet: Sheet, line: str, number: int) -> None:
    """How many runs the figures are of, where that is said first."""
    found = _RUNS.search(line)
    value = measure(found[1]) if found else None
    if value is not None and not any(cell.row == "Runs" for cell in sheet.cells):
        sheet.cells.append(Cell("", "Runs", "", value, number))


def _spoken(sheet: Sheet, line: str, number: int) -> None:
    """Times of a range of sizes, and a time per byte, in a sentence."""
    found = list(measures(re.sub(r"\s?(?:per|/) ?bytes?\b", "/B", line, flags=re.I)))
    slopes = [one for one in found if one.dimension == "time per byte"]
    sizes = [one for one in found if one.dimension == "size" and one.is_range]
    times = [one for one in found if one.dimension == "time"]

    def add(row: str, value: Measure) -> None:
        sheet.cells.append(Cell(f"line {number}", row, "", value, number))

    if len(slopes) == 1:
        add("Time per byte", slopes[0])
    if len(sizes) == 1 and len(times) == 1:
        low, high = (
            measure(f"{sizes[0].span.low:.0f} bytes"),
            measure(f"{sizes[0].span.high:.0f} bytes"),
        )
        if low is not None and high is not None:
            add("Smallest message", low)
            add("Largest message", high)
            add("Minimum execution time", times[0])
