# SPDX-License-Identifier: BSD-2-Clause
"""Checks input: msgspec finds an error, and this file words it as `FILE: PLACE: WHY`, with the
allowed values as the hint. Rules that types can't express are in a `__post_init__` or a `read`
method that raises `Wrong`."""

import difflib
import re
import tomllib
from collections import Counter
from collections.abc import Hashable, Iterator
from pathlib import Path
from typing import Any

import msgspec
from msgspec import inspect

from teemark.base.errors import ConfigError, TeemarkError


class Wrong(ValueError):
    """A wrong value (in a table, under `key`): the message says why, `hint` what to do."""

    def __init__(self, why: str, hint: str | None = None, key: str = "") -> None:
        super().__init__(why)
        self.hint = hint
        self.key = key


def once(key: str, values: tuple[Hashable, ...]) -> None:
    """Raises Wrong if `values` has duplicates."""
    for value, times in Counter(values).items():
        if times > 1:
            raise Wrong(f"{value} is there twice", key=key)


def convert(
    data: object,
    type_: Any,
    file: str,
    *,
    error: type[TeemarkError] = ConfigError,
    hint: str | None = None,
    texts: bool = False,
    source: str | None = None,
) -> Any:
    """Returns `data` as a `type_`, or raises an `error`, with `hint` if the type gives no better
    one. `texts` allows numbers written as text. `source` is the TOML text of `data`, from which the
    error names the line."""
    try:
        return msgspec.convert(
            data, type_, strict=not texts, dec_hook=lambda kind, value: kind.read(value)
        )
    except msgspec.ValidationError as problem:
        place, why, better = in_words(problem, data, type_)
        line = line_of(source, place) if source is not None else None
        file = f"{file}:{line}" if line is not None else file
        raise error(": ".join(filter(None, (file, place, why))), hint=better or hint) from None


def parse_toml(text: str, type_: Any, file: str, *, lines: bool = False) -> Any:
    """Returns the TOML text as a `type_`, or raises a ConfigError; with `lines` it names the
    line."""
    try:
        data = tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError) as problem:
        why = "nested too deep" if isinstance(problem, RecursionError) else problem
        raise ConfigError(f"{file}: not valid TOML: {why}") from None
    return convert(data, type_, file, source=text if lines else None)


def line_of(text: str, place: str) -> int | None:
    """Returns the line of a place in TOML, such as `call[2].p0`; if its key is missing, the line of
    the block around it; None for the whole file. A list's values have the list's line."""
    lines = text.splitlines()
    line, first, last = None, 0, len(lines)
    for key, number in re.findall(r"([\w-]+)(?:\[(\d+)\])?", place):
        within = r"\s*(?:[\w-]+\s*\.\s*)*"
        begins = re.compile(rf"\s*(?:\[+{within}{key}\s*\]|{key}\s*[=.])")
        heads = [n for n in range(first, last) if begins.match(lines[n])]
        if not heads:
            break
        first = heads[min(int(number or 1), len(heads)) - 1]
        block = re.compile(rf"\s*\[+(?!\[)(?!{within}{key}\s*\.)")
        after = first + 1
        if lines[first].lstrip().startswith("["):  # an inline value is on its own line
            after = next((n for n in range(after, last) if block.match(lines[n])), last)
        last = after
        line = first + 1
    return line


def read_text(path: Path, error: type[TeemarkError] = ConfigError) -> str:
    """Returns the text of a file, or raises an `error` if it can't be read."""
    try:
        return path.read_text(encoding="utf-8")
    except UnicodeDecodeError:
        raise error(
            f"{path}: can't be read: not text", hint="it must be UTF-8: is it the right file?"
        ) from None
    except OSError as problem:
        raise error(f"{path}: can't be read: {problem.strerror}") from None


def in_words(
    problem: msgspec.ValidationError, data: object, type_: object
) -> tuple[str, str, str | None]:
    """Returns an error's place, what is wrong there, and a hint if the type limits the values."""
    text, _, path = str(problem).partition(" - at `$")
    path = path.partition("[...]")[0]  # msgspec's name for any value of a table
    value: Any = data
    kind, place, listed = inspect.type_info(type_), "", False
    for key, index in re.findall(r"\.([\w-]+)|\[(\d+)\]", path):
        kind, listed = _below(kind, value, key), bool(index)
        place += f"[{int(index) + 1}]" if index else f".{key}" if place else key
        value = value[key or int(index)]
    if listed and not isinstance(value, dict):
        place = place.rpartition("[")[0]  # the value is in the message
    broken, field = problem.__cause__, re.search(r"field `(.+)`", text)
    key = broken.key if isinstance(broken, Wrong) else field[1] if field else ""
    place = ".".join(filter(None, (place, key)))
    if isinstance(broken, Wrong):
        return place, str(broken), broken.hint
    if field and "missing" in text:
        return place, "missing", _known(_below(kind, value, key))
    if field:
        return place, "no such key", _known(kind, value, key)
    if text == "Invalid decimal string":
        return place, f"{_shown(value)} is no number", None
    if text.startswith("Invalid"):
        return place, f"{_shown(value)} isn't known", _known(kind)
    hint = _known(kind) if path else None
    return place, f"must be {_expected(text, kind)}, not {_shown(value)}", hint


def _shown(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 80 else f"{text[:80]}…"


_WORDS = {
    "int": "a whole number",
    "float": "a number",
    "decimal": "a number",
    "str": "a text",
    "bool": "true or false",
    "array": "a list",
    "object": "a table",
}


def _expected(text: str, kind: inspect.Type) -> str:
    """Returns msgspec's "Expected `int` >= 1" and similar texts in plain words."""
    match = re.match(r"Expected `(.+?)`(?: (>=|<=|of length|matching)(?: (\d+))?)?", text)
    if match is None:
        return text
    words = " or ".join(_WORDS.get(word, word) for word in match[1].split(" | ") if word != "null")
    ends = {">=": f" from {match[3]} on", "<=": f" up to {match[3]}", None: ""}
    for member in _members(kind):
        if isinstance(member, inspect.IntType) and None not in (member.ge, member.le):
            return f"{words} from {member.ge} to {member.le}"
    return words + ends.get(match[2], " with something in it")


def _members(kind: inspect.Type, value: object = None) -> Iterator[inspect.Type]:
    """Yields the alternatives of a type; of tagged tables, only the one with the value's tag."""
    if isinstance(kind, inspect.Metadata):
        kind = kind.type
    for member in kind.types if isinstance(kind, inspect.UnionType) else (kind,):
        if (
            isinstance(member, inspect.StructType)
            and isinstance(value, dict)
            and value.get(member.tag_field or "", member.tag) != member.tag
        ):
            continue
        yield member


def _below(kind: inspect.Type, value: object, key: str) -> inspect.Type:
    """Returns the type of the value under a key; with an empty key, of a list's items."""
    for member in _members(kind, value):
        if isinstance(member, inspect.StructType):
            for field in member.fields:
                if field.encode_name == key:
                    return field.type
        elif isinstance(member, inspect.ListType | inspect.VarTupleType) and not key:
            return member.item_type
        elif isinstance(member, inspect.DictType):
            return member.value_type
    tags = [member.tag for member in _members(kind) if isinstance(member, inspect.StructType)]
    return inspect.LiteralType(tuple(tag for tag in tags if tag is not None))


def _known(kind: inspect.Type, value: object = None, key: str = "") -> str | None:
    """Returns a hint with the nearest known key, or with all keys of a table or values of a type;
    None if nothing is known."""
    words: list[str] = []
    for member in _members(kind, value):
        if isinstance(member, inspect.StructType):
            words += [member.tag_field] if member.tag_field else []
            words += [field.encode_name for field in member.fields]
        elif isinstance(member, inspect.LiteralType):
            words += map(str, member.values)
    close = difflib.get_close_matches(key, words, n=1)
    if close:
        return f"did you mean `{close[0]}`?"
    return "known: " + ", ".join(words) if words else None
