# SPDX-License-Identifier: BSD-2-Clause
"""A plan: which cases to run. `parse` and `expand` are pure; `load` reads the file.

    summary = "One sentence."

    [[cases]]
    workload = "oneshot"
    algorithms = ["sha256", "sha512"]
    backends = ["tee", "ta-c"]
    sizes = [0, 64, "4KiB"]     # or `parameters`, words; "enc/{}" with sizes: {} is the size
    samples = 30
    min_us = 1000
    repeat = [1, 2, 4]

A `[[cases]]` block stands for every combination of its algorithms, backends and sizes. A key
that two blocks give twice is a mistake, as its samples could not be told apart. `[[teehash]]`
blocks are those of teemark.teehash.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import cast

from teemark import paths, work
from teemark.errors import ConfigError, UsageMistake
from teemark.teehash import Step
from teemark.teehash import parse as parse_teehash

NONE = "none"

_SIZE = re.compile(r"(?P<number>\d+)\s*(?P<unit>B|KiB|MiB|GiB)?")
_UNITS = {None: 1, "B": 1, "KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30}
_WORD = re.compile(r"[a-z0-9][a-z0-9._-]*")
_PARAMETERS = re.compile(r"[A-Za-z0-9][A-Za-z0-9._,:=+/-]*")

_WITH_SIZE = re.compile(r"[A-Za-z0-9._,:=+/-]*\{\}[A-Za-z0-9._,:=+/-]*")

_PLAN_KEYS = frozenset({"summary", "cases", "teehash"})
_BLOCK_KEYS = frozenset(
    {
        "workload",
        "algorithms",
        "backends",
        "sizes",
        "parameters",
        "samples",
        "min_us",
        "repeat",
    }
)


@dataclass(frozen=True, slots=True)
class Case:
    """One line for teebench."""

    workload: str
    algorithm: str
    backend: str
    parameters: str
    samples: int | None = None
    min_us: int | None = None
    repeat: tuple[int, ...] = ()

    @property
    def key(self) -> str:
        return "/".join((self.workload, self.algorithm, self.backend, self.parameters))

    @property
    def line(self) -> str:
        words = [self.key]
        if self.samples is not None:
            words.append(f"samples={self.samples}")
        if self.min_us is not None:
            words.append(f"min_us={self.min_us}")
        if self.repeat:
            words.append("repeat=" + ",".join(map(str, self.repeat)))
        return " ".join(words)


@dataclass(frozen=True, slots=True)
class Block:
    """A `[[cases]]` block as it stands in the file, checked."""

    workload: str
    algorithms: tuple[str, ...] = (NONE,)
    backends: tuple[str, ...] = (NONE,)
    parameters: tuple[str, ...] = (NONE,)
    samples: int | None = None
    min_us: int | None = None
    repeat: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Plan:
    name: str
    summary: str
    blocks: tuple[Block, ...] = field(default=())
    teehash: tuple[Step, ...] = ()


def expand(plan: Plan) -> tuple[Case, ...]:
    """Every case of a plan, in the order of the file: block, algorithm, parameters, backend."""
    return tuple(
        Case(
            workload=block.workload,
            algorithm=algorithm,
            backend=backend,
            parameters=parameters,
            samples=block.samples,
            min_us=block.min_us,
            repeat=block.repeat,
        )
        for block in plan.blocks
        for algorithm in block.algorithms
        for parameters in block.parameters
        for backend in block.backends
    )


def case_lines(cases: Iterable[Case]) -> str:
    """What teebench takes on stdin."""
    return "".join(case.line + "\n" for case in cases)


def parse_size(text: str) -> int:
    """`4KiB` is 4096; ValueError for anything else than a whole number with B, KiB, MiB, GiB."""
    match = _SIZE.fullmatch(text.strip())
    if match is None:
        raise ValueError(f"{text!r} is no size")
    return int(match["number"]) * _UNITS[match["unit"]]


class _Reader:
    """Reads values of one table, and says in which file and key one is wrong."""

    def __init__(self, table: dict[str, object], file: str, where: str) -> None:
        self.table = table
        self.file = file
        self.where = where

    def wrong(self, key: str, why: str, hint: str | None = None) -> ConfigError:
        return ConfigError(f"{self.file}: {self.where}{key}: {why}", hint=hint)

    def only(self, known: frozenset[str]) -> None:
        for key in self.table:
            if key not in known:
                raise self.wrong(key, "no such key", hint="known: " + ", ".join(sorted(known)))

    def text(self, key: str) -> str:
        value = self.table.get(key)
        if value is None:
            raise self.wrong(key, "missing")
        if not isinstance(value, str) or not value.strip():
            raise self.wrong(key, f"must be a text, not {value!r}")
        return value

    def items(self, key: str) -> list[object] | None:
        value = self.table.get(key)
        if value is None:
            return None
        if not isinstance(value, list) or not value:
            raise self.wrong(key, f"must be a list with something in it, not {value!r}")
        return value

    def word(self, key: str, value: object, pattern: re.Pattern[str] = _WORD) -> str:
        if not isinstance(value, str) or not pattern.fullmatch(value):
            raise self.wrong(key, f"{value!r} is no name", hint="small letters, digits, . _ -")
        return value

    def words(self, key: str, pattern: re.Pattern[str] = _WORD) -> tuple[str, ...]:
        values = self.items(key)
        if values is None:
            return (NONE,)
        return self.once(key, [self.word(key, value, pattern) for value in values])

    def once(self, key: str, values: list[str]) -> tuple[str, ...]:
        for value in values:
            if values.count(value) > 1:
                raise self.wrong(key, f"{value} is there twice")
        return tuple(values)

    def number(self, key: str, value: object, least: int) -> int:
        if not isinstance(value, int) or isinstance(value, bool) or value < least:
            raise self.wrong(key, f"must be a whole number from {least} on, not {value!r}")
        return value

    def optional_number(self, key: str, least: int) -> int | None:
        return self.number(key, self.table[key], least) if key in self.table else None

    def numbers(self, key: str, least: int) -> tuple[int, ...]:
        values = self.items(key)
        if values is None:
            return ()
        numbers = [self.number(key, value, least) for value in values]
        if sorted(set(numbers)) != numbers:
            raise self.wrong(key, f"must rise, each number once, not {numbers}")
        return tuple(numbers)

    def sizes(self, key: str) -> list[str]:
        sizes = []
        for value in self.items(key) or []:
            if isinstance(value, str):
                try:
                    sizes.append(parse_size(value))
                except ValueError as error:
                    raise self.wrong(
                        key, str(error), hint='bytes as a number, or a text such as "4KiB"'
                    ) from None
            else:
                sizes.append(self.number(key, value, 0))
        return [str(size) for size in sizes]

    def parameters(self) -> tuple[str, ...]:
        """`sizes`, or `parameters`; or both: {} in a parameter stands for each size."""
        if "sizes" not in self.table:
            return self.words("parameters", _PARAMETERS)
        sizes = self.once("sizes", self.sizes("sizes"))
        if "parameters" not in self.table:
            return sizes
        patterns = self.items("parameters") or []
        for pattern in patterns:
            if not isinstance(pattern, str) or not _WITH_SIZE.fullmatch(pattern):
                raise self.wrong(
                    "parameters",
                    f"{pattern!r} has no place for the sizes",
                    hint='beside sizes they look like "enc/{}"',
                )
        return self.once(
            "parameters", [str(p).replace("{}", size) for p in patterns for size in sizes]
        )


def _block(table: object, file: str, index: int) -> Block:
    where = f"cases[{index}]."
    if not isinstance(table, dict):
        raise ConfigError(f"{file}: cases[{index}]: must be a table, [[cases]]")
    read = _Reader(cast(dict[str, object], table), file, where)
    read.only(_BLOCK_KEYS)
    workload = read.word("workload", read.text("workload"))
    return Block(
        workload=workload,
        algorithms=read.words("algorithms"),
        backends=read.words("backends"),
        parameters=read.parameters(),
        samples=read.optional_number("samples", 1),
        min_us=read.optional_number("min_us", 0),
        repeat=read.numbers("repeat", 1),
    )


def parse(text: str, *, name: str, file: str) -> Plan:
    """A plan from its TOML text; ConfigError names the file and the key."""
    try:
        table = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise ConfigError(f"{file}: not valid TOML: {error}") from None
    read = _Reader(table, file, "")
    read.only(_PLAN_KEYS)
    blocks = read.items("cases")
    if blocks is None:
        raise read.wrong("cases", "missing", hint="add a [[cases]] block with a workload")
    plan = Plan(
        name=name,
        summary=read.text("summary"),
        blocks=tuple(_block(block, file, index) for index, block in enumerate(blocks, 1)),
        teehash=parse_teehash(table.get("teehash", []), file, parse_size),
    )
    seen: set[str] = set()
    for case in expand(plan):
        if case.key in seen:
            raise read.wrong("cases", f"two blocks give the case {case.key}")
        seen.add(case.key)
        most = max(case.repeat, default=1)
        too_much = work.excess(case.workload, case.backend, case.parameters, most)
        if too_much:
            raise read.wrong(
                "cases",
                f"{case.key}: {too_much}",
                hint="a call into the TEE can't be ended from outside: fewer repetitions, "
                "or smaller messages",
            )
    return plan


def available() -> tuple[str, ...]:
    return tuple(sorted(path.stem for path in paths.plans().glob("*.toml")))


def load(name: str) -> Plan:
    """The plan of that name, or the one in the file of that name (`…/mine.toml`)."""
    path = Path(name) if name.endswith(".toml") else paths.plans() / f"{name}.toml"
    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        raise UsageMistake(
            f"no plan {name}: {path} doesn't exist",
            hint="there are: " + ", ".join(available()) + "; or name a .toml file",
        ) from None
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"{path}: can't be read: {error}") from None
    return parse(text, name=path.stem, file=str(path))
