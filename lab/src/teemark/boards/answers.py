# SPDX-License-Identifier: BSD-2-Clause
"""The one place where what a board said becomes values, or an error with the board's name.

A script answers in lines of a key and a value ("tee yes", "file DIGEST/NAME"); the caller says
which keys there are and the form of each. A program answers in JSON; the caller names its type.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

import msgspec

from teemark.base.errors import BoardError
from teemark.base.harmless import harmless_line, harmless_value

T = TypeVar("T")

SHOWN = 60
"""Characters of an answer that an error repeats."""


@dataclass(frozen=True, slots=True)
class Answer:
    """The values of a script's answer, by key, in their order."""

    board: str
    about: str
    values: Mapping[str, tuple[str, ...]]

    def all(self, key: str) -> tuple[str, ...]:
        return self.values.get(key, ())

    def one(self, key: str) -> str:
        """Returns the only value of a key; BoardError without one, or with several."""
        values = self.all(key)
        if len(values) != 1:
            raise _not_understood(self.board, self.about, f"{len(values)} times {key!r}")
        return values[0]

    def only(self) -> tuple[str, str]:
        """Returns the key and value of an answer of one line; BoardError for any other."""
        if len(self.values) != 1:
            raise _not_understood(self.board, self.about, f"{len(self.values)} answers")
        key = next(iter(self.values))
        return key, self.one(key)


def parse(board: str, about: str, text: str, form: Mapping[str, str]) -> Answer:
    """Reads a script's answer; `form` has a pattern for the value of each key. Raises BoardError
    for a line that fits none."""
    values: dict[str, list[str]] = {}
    for line in text.split("\n"):
        key, _, value = line.partition(" ")
        if not line:
            continue
        if key not in form or re.fullmatch(form[key], value) is None:
            raise _not_understood(board, about, shown(line))
        values.setdefault(key, []).append(value)
    return Answer(board, about, {key: tuple(texts) for key, texts in values.items()})


def from_json(board: str, about: str, data: bytes) -> dict[str, Any]:
    """Returns a JSON object, its texts harmless; BoardError if it isn't one."""
    try:
        return typed(board, about, harmless_value(msgspec.json.decode(data)), dict[str, Any])
    except (msgspec.DecodeError, ValueError, RecursionError) as error:
        why = "it is nested too deep" if isinstance(error, RecursionError) else str(error)
        text = shown(data[: 4 * SHOWN].decode(errors="replace"))
        raise _not_understood(board, about, text, why) from None


def typed(board: str, about: str, data: object, kind: type[T]) -> T:
    """Returns what came as JSON, as a type; BoardError if it isn't one."""
    try:
        return msgspec.convert(data, kind)
    except msgspec.ValidationError as error:
        raise _not_understood(board, about, shown(str(data)[: 4 * SHOWN]), str(error)) from None


def shown(text: str) -> str:
    """Returns the beginning of what a board said, in quotes and harmless."""
    line = harmless_line(text).strip()
    return f'"{line[:SHOWN]}…"' if len(line) > SHOWN else f'"{line}"'


def last_line(text: str) -> str:
    """Returns the last line of a complaint, in which programs say why."""
    lines: list[str] = text.strip().splitlines()
    return harmless_line(lines[-1])[:400] if lines else "it said nothing"


def _not_understood(board: str, about: str, text: str, why: str = "") -> BoardError:
    because = f" ({harmless_line(why)})" if why else ""
    return BoardError(
        f"{board}: its answer about {about} can't be understood: {text}{because}",
        hint=f"`teemark doctor {board}` looks at it, `teemark shell {board}` shows what it says",
    )
