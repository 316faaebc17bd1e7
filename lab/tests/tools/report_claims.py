# SPDX-License-Identifier: BSD-2-Clause
# ruff: noqa: RUF001 (the sign of a factor)
"""Takes reports in Markdown apart into claims.

    .venv/bin/python lab/tests/tools/report_claims.py REPORT.md           what it says twice
    .venv/bin/python lab/tests/tools/report_claims.py BEFORE.md AFTER.md  what only one of two says

A claim is a sentence outside of tables. It is known by its facts (figures with their units, options
of a build, names of an API, commands, keys of cases), not by its words: another report says the
same if one of its sentences, or a row of its tables, has these facts. A claim without facts is
known by its longer words. Exits with 1 if something is said twice, or by one report alone."""

import re
import sys
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

SAME = 0.6  # Share of a claim's facts, or words, that the other report's sentence has to have
UNITS = {"ns": ("ns", 1.0), "µs": ("ns", 1e3), "ms": ("ns", 1e6), "s": ("ns", 1e9), "B": ("B", 1),
         "KiB": ("B", 1 << 10), "MiB": ("B", 1 << 20), "%": ("%", 1), "times": ("×", 1),
         "×": ("×", 1)}  # fmt: skip
FIGURE = re.compile(rf"(?<![\w./-])(\d+(?: \d{{3}})*(?:\.\d+)?) ?({'|'.join(UNITS)})?(?!\w)")
NAME = re.compile(r"(?:CFG|TA)_[A-Z]\w+|TEEC?_[A-Z]\w+|(?<!\w)-[mO][\w-]+")
KEY = re.compile(r"(?<![\w/])[a-z]+(?:-[a-z]+)*/[\w-]+/[a-z][\w:-]*(?:/[\w/-]*\w)?")
COMMAND = re.compile(r"teemark [a-z]+[^`“”]*")
NOTE = re.compile(r"\[\d+\] |Published: |Printed as ")


@dataclass(frozen=True)
class Figure:
    value: float
    half: float  # of its last digit
    unit: str

    def equals(self, other: object) -> bool:
        if not isinstance(other, Figure) or (self.unit and other.unit and self.unit != other.unit):
            return False
        return abs(self.value - other.value) <= self.half + other.half


@dataclass(frozen=True)
class Claim:
    text: str
    place: int  # Sentences of one paragraph or finding share it
    kind: str = "sentence"  # or "row", or "note" of a table: it stands beside each of a kind

    @cached_property
    def facts(self) -> list[str | Figure]:
        return list(facts(self.text))

    @cached_property
    def words(self) -> set[str]:
        return {word[:5].lower() for word in re.findall(r"[A-Za-z]{4,}", self.text)}


def facts(text: str) -> Iterator[str | Figure]:
    yield from re.findall(r"`([^`]+)`", text)
    plain = text.replace("`", "")
    yield from (*NAME.findall(plain), *KEY.findall(plain), *COMMAND.findall(plain))
    for digits, unit in FIGURE.findall(KEY.sub("", plain)):
        number = digits.replace(" ", "")
        whole, _, behind = number.partition(".")
        zeros = 0 if behind or len(whole) < 3 else len(whole) - len(whole.rstrip("0"))
        kind, factor = UNITS.get(unit, ("", 1.0))
        if kind or behind or float(number) >= 10:
            half = 0.501 * 10.0 ** (zeros - len(behind)) * factor
            yield Figure(float(number) * factor, half, kind)


def claims(report: str) -> list[Claim]:
    """Returns the sentences of a report, and the rows of its tables."""
    text = re.sub("[\u00a0\u202f\u2009]", " ", report).replace("&amp;", "&")
    text = re.sub(r"(?<!\\)\*+|</?(?:details|summary)>", "", text)
    blocks = re.split(r"\n\s*\n|\n(?=- |\|)", re.sub(r"\\([\W_])", r"\1", text))
    made: list[Claim] = []
    for place, block in enumerate(blocks):
        if block.startswith("|"):
            made.append(Claim(block.strip(), place, "row"))
        elif not block.startswith("#"):
            flat = re.sub(r"^(- |> )?((Uncertain|Caution): )?", "", " ".join(block.split()))
            above = blocks[place + 1 : place + 2] and blocks[place + 1].startswith("|")
            kind = "note" if above or NOTE.match(flat) else "sentence"
            for sentence in re.split(r"(?<=[.!?]) +(?=[A-Z“`(])", flat):
                if len(sentence.split()) > 2:
                    made.append(Claim(sentence, place, kind))
    return made


def twice(report: str) -> list[str]:
    """Returns sentences that stand in two places, and names and commands that are told in two."""
    places: dict[str, set[int]] = defaultdict(set)
    for one in claims(report):
        if one.kind == "sentence":
            told = [fact for fact in one.facts if isinstance(fact, str)]
            names = [fact for fact in told if NAME.fullmatch(fact) or COMMAND.fullmatch(fact)]
            for said in (one.text, *names):
                places[said].add(one.place)
    return [said for said, where in places.items() if len(where) > 1]


def share(one: Claim, other: Claim) -> float:
    """Returns the share of one's facts that the other has; of words where one has no facts."""
    known = other.facts
    if not one.facts:
        return len(one.words & other.words) / max(len(one.words | other.words), 1)
    has = [x in known or (isinstance(x, Figure) and any(map(x.equals, known))) for x in one.facts]
    return sum(has) / len(has)


def compared(report: str, other: str) -> Iterator[tuple[Claim, Claim | None]]:
    """Yields each claim of a report with the one of the other report that says it; None if none
    does."""
    theirs = claims(other)
    by_text = {one.text: one for one in theirs}
    for one in dict.fromkeys(one for one in claims(report) if one.kind != "row"):
        nearest = by_text.get(one.text)
        if nearest is None and theirs:
            nearest = max(theirs, key=lambda o: (share(one, o), len(one.words & o.words)))
            nearest = nearest if share(one, nearest) >= SAME else None
        yield one, nearest


def main(paths: list[str]) -> int:
    reports = [Path(path).read_text(encoding="utf-8") for path in paths]
    status = 0
    for path, report in zip(paths, reports, strict=True):
        said = sum(one.kind != "row" for one in claims(report))
        print(f"{path}: {said} claims, {len(twice(report))} said twice")
        for text in twice(report):
            status = 1
            print(f"  twice: {text}")
    pairs = ((0, 1), (1, 0)) if len(paths) == 2 else ()
    for one, other in pairs:
        found = list(compared(reports[one], reports[other]))
        alone = [claim.text for claim, nearest in found if nearest is None]
        others = [(a.text, b.text) for a, b in found if b is not None and a.text != b.text]
        same = len(found) - len(alone) - len(others)
        print(f"\n{paths[one]}: {same} the same, {len(others)} in other words, {len(alone)} alone")
        print(*(f"  ~ {a}\n    = {b}" for a, b in others), *(f"  ! {a}" for a in alone), sep="\n")
        status |= bool(alone)
    return int(status)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
