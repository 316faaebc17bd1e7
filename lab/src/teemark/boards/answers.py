# SPDX-License-Identifier: BSD-2-Clause
"""Parses a board's answers: into values, or into an error that names the board.

A script answers in lines of a key and a value ("tee yes", "file DIGEST/NAME"); the caller gives the
keys and a pattern for each value. A program answers in JSON; the caller gives its type.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

import msgspec

from teemark.base.errors import BoardError
from teemark.base.sanitize import harmless_line, harmless_value

T = TypeVar("T")

SHOWN = 60
"""Characters of an answer that an error message quotes."""


@dataclass(frozen=True, slots=True)
class Answer:
    """The parsed answer of a script: the values of each key, in the order of the lines."""

    board: str
    about: str
    values: Mapping[str, tuple[str, ...]]

    def all(self, key: str) -> tuple[str, ...]:
        return self.values.get(key, ())

    def one(self, key: str) -> str:
        """Returns the only value of a key; raises BoardError if the key has none or several."""
        values = self.all(key)
        if len(values) != 1:
            raise _not_understood(self.board, self.about, f"{len(values)} times {key!r}")
        return values[0]

    def only(self) -> tuple[str, str]:
        """Returns the only key and its value; raises BoardError if there are several or none."""
        if len(self.values) != 1:
            raise _not_understood(self.board, self.about, f"{len(self.values)} answers")
        key = next(iter(self.values))
        return key, self.one(key)


def parse(board: str, about: str, text: str, form: Mapping[str, str]) -> Answer:
    """Returns the parsed answer of a script. `form` maps each key to a pattern for its value.
    Raises BoardError for a line that doesn't fit."""
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
    """Returns a JSON object without harmful characters; raises BoardError for other data."""
    try:
        return typed(board, about, harmless_value(msgspec.json.decode(data)), dict[str, Any])
    except (msgspec.DecodeError, ValueError, RecursionError) as error:
        why = "it is nested too deep" if isinstance(error, RecursionError) else str(error)
        text = shown(data[: 4 * SHOWN].decode(errors="replace"))
        raise _not_understood(board, about, text, why) from None


def typed(board: str, about: str, data: object, kind: type[T]) -> T:
    """Returns decoded JSON as a value of the type `kind`; BoardError if it has another type."""
    try:
        return msgspec.convert(data, kind)
    except msgspec.ValidationError as error:
        raise _not_understood(board, about, shown(str(data)[: 4 * SHOWN]), str(error)) from None


def shown(text: str) -> str:
    """Returns the first SHOWN characters of a board's text, in quotes; harmful ones are
    replaced."""
    line = harmless_line(text).strip()
    return f'"{line[:SHOWN]}…"' if len(line) > SHOWN else f'"{line}"'


def last_line(text: str) -> str:
    """Returns the last line of an error output, where programs give their reason."""
    lines: list[str] = text.strip().splitlines()
    return harmless_line(lines[-1])[:400] if lines else "it said nothing"


def _not_understood(board: str, about: str, text: str, why: str = "") -> BoardError:
    because = f" ({harmless_line(why)})" if why else ""
    return BoardError(
        f"{board}: its answer about {about} can't be understood: {text}{because}",
        hint=f"`teemark doctor {board}` looks at it, `teemark shell {board}` shows what it says",
    )
