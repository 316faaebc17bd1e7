# SPDX-License-Identifier: BSD-2-Clause
"""A plan: which cases to run, and which files to hash. docs/plans.md describes the file,
docs/own-ta.md its `[ta]` and `[[call]]`. A block stands for every combination of its lists. A key
that comes out twice is a mistake, as its samples could not be told apart."""

import difflib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from itertools import product
from pathlib import Path
from typing import Annotated, Literal

from msgspec import Struct

from teemark.base import paths
from teemark.base.checked import Wrong, convert, line_of, once, parse_toml, read_text
from teemark.base.errors import UsageMistake, meant
from teemark.base.work import CALL, TEE, Work
from teemark.plan.calls import Call, CalledTa
from teemark.plan.words import (
    NONE,
    SOME,
    BackendName,
    Micros,
    Name,
    Names,
    Parameters,
    Positive,
    Size,
    Sizes,
    Text,
)

BENCH = "bench.toml"  # The plan in a TA's folder; it has the folder's name


@dataclass(frozen=True, slots=True)
class CaseLine:
    """One case, as a line for teebench."""

    work: Work
    samples: int | None = None
    min_us: int | None = None
    repeat: tuple[int, ...] = ()
    call: str = ""  # For workload call: the steps, in teebench's notation
    place: str = ""  # FILE:LINE of the case's block

    @property
    def key(self) -> str:
        return self.work.key

    @property
    def line(self) -> str:
        repeat = ",".join(map(str, self.repeat))
        options = {"samples": self.samples, "min_us": self.min_us, "repeat": repeat}
        options["call"] = self.call
        words = (f"{name}={value}" for name, value in options.items() if value not in (None, ""))
        return " ".join((self.key, *words))


@dataclass(frozen=True, slots=True)
class HashStep:
    """One way in which teehash hashes one file, run `runs` times."""

    bytes: int
    algorithm: str = "sha256"
    backend: str = "tee"
    mode: str = "stream"
    cache: str = "warm"
    chunk: int = 1 << 20
    reader: str = "inline"
    runs: int = 8

    @property
    def key(self) -> str:
        return (
            f"teehash/{self.algorithm}/{self.backend}/{self.mode}/{self.cache}/{self.bytes}/"
            f"{self.chunk}/{self.reader}"
        )

    def argv(self, file: str) -> list[str]:
        words = ["teehash", "--report=json"]
        for name in ("algorithm", "backend", "mode", "chunk", "reader"):
            words.append(f"--{name}={getattr(self, name)}")
        if self.mode == "oneshot":
            words.append(f"--oneshot-limit={self.bytes}")
        if self.cache == "cold":
            words.append("--cold")
        return [*words, file]


@dataclass(frozen=True, slots=True)
class Plan:
    """A plan's cases and steps, in the order of the file."""

    name: str
    summary: str
    cases: tuple[CaseLine, ...] = ()
    teehash: tuple[HashStep, ...] = ()
    ta: str | None = None  # UUID of the TA that the plan calls
    board: str | None = None  # the board to take, if it is built and the user names none
    title: str = ""  # Begins the title of a report: "What a signature costs"

    @property
    def keys(self) -> tuple[str, ...]:
        return (*(case.key for case in self.cases), *(step.key for step in self.teehash))


def select_cases(plan: Plan, patterns: Sequence[str]) -> Plan:
    """Returns the plan with only the cases and steps whose keys match a pattern (* is any text,
    slashes too). Raises UsageMistake for a pattern that matches none."""
    keys, chosen = plan.keys, set[str]()
    for pattern in patterns:
        matching = [key for key in keys if fnmatchcase(key, pattern)]
        if not matching:
            close = difflib.get_close_matches(pattern, keys, n=3, cutoff=0.3) or keys[:3]
            raise UsageMistake(
                f"no case of {plan.name} matches {pattern}",
                hint=f"near it are {', '.join(close)}; `teemark plan show {plan.name}` lists all",
            )
        chosen.update(matching)
    return replace(
        plan,
        summary=f"{plan.summary.rstrip()} Only {', '.join(patterns)}.",
        cases=tuple(case for case in plan.cases if case.key in chosen),
        teehash=tuple(step for step in plan.teehash if step.key in chosen),
    )


def case_lines(cases: Iterable[CaseLine]) -> str:
    """Returns the cases as teebench reads them from stdin."""
    return "".join(case.line + "\n" for case in cases)


# -- the file --------------------------------------------------------------------------------


class _Cases(Struct, frozen=True, forbid_unknown_fields=True):
    """A `[[cases]]` block as it stands in the file."""

    workload: Name
    algorithms: Names = (Name(NONE),)
    backends: Annotated[tuple[BackendName, ...], SOME] = (BackendName(NONE),)
    sizes: Sizes | None = None
    parameters: Annotated[tuple[Parameters, ...], SOME] | None = None
    samples: Positive | None = None
    min_us: Micros | None = None
    repeat: Annotated[tuple[Positive, ...], SOME] | None = None

    def __post_init__(self) -> None:
        for key in ("algorithms", "backends", "sizes", "parameters"):
            once(key, getattr(self, key) or ())
        if self.repeat and sorted(set(self.repeat)) != list(self.repeat):
            raise Wrong(f"must rise, each number once, not {[*self.repeat]}", key="repeat")
        for word in self.parameters or ():
            if self.sizes and "{}" not in word:
                hint = 'beside sizes they look like "enc/{}"'
                raise Wrong(f"{word!r} has no place for the sizes", hint, "parameters")
            if not self.sizes and "{}" in word:
                raise Wrong(f"{word!r}, but there are no sizes", key="parameters")

    def expanded(self) -> Iterator[CaseLine]:
        sizes = self.sizes or ("",)
        words = self.parameters or ("{}" if self.sizes else NONE,)
        last = [word.replace("{}", str(size)) for word in words for size in sizes]
        for algorithm, parameters, backend in product(self.algorithms, last, self.backends):
            repeat = self.repeat or ()
            how = (self.samples, self.min_us, repeat)
            yield CaseLine(Work.of(f"{self.workload}/{algorithm}/{backend}/{parameters}"), *how)


class _Hashing(Struct, frozen=True, forbid_unknown_fields=True):
    """A `[[teehash]]` block as it stands in the file."""

    sizes: Sizes
    algorithms: Names = (Name("sha256"),)
    backends: Names = (Name("tee"),)
    modes: Annotated[tuple[Literal["stream", "oneshot", "auto"], ...], SOME] = ("stream",)
    caches: Annotated[tuple[Literal["warm", "cold"], ...], SOME] = ("warm",)
    chunk: Size = Size(1 << 20)
    reader: Literal["inline", "thread", "auto"] = "inline"
    runs: Positive = 8

    def expanded(self) -> Iterator[HashStep]:
        lists = (self.algorithms, self.sizes, self.backends, self.modes, self.caches)
        for algorithm, size, backend, mode, cache in product(*lists):
            how = (self.chunk, self.reader, self.runs)
            yield HashStep(size, algorithm, backend, mode, cache, *how)


STEP_FORM = "teehash/ALGORITHM/BACKEND/MODE/CACHE/BYTES/CHUNK/READER"


def step_of(key: str, runs: int) -> HashStep:
    """Returns the step with this key and number of runs; UsageMistake if it is no step's key."""
    fields = ("algorithms", "backends", "modes", "caches", "sizes", "chunk", "reader")
    form, words = f"its key is {STEP_FORM}", key.split("/")[1:]
    if len(words) != len(fields):
        raise UsageMistake(f"{key!r} is no step of teehash", hint=form)
    block: dict[str, object] = {
        name: [word] if name.endswith("s") else word
        for name, word in zip(fields, words, strict=True)
    }
    block["runs"] = runs
    read: _Hashing = convert(block, _Hashing, key, error=UsageMistake, hint=form)
    return next(read.expanded())


class _File(Struct, frozen=True, forbid_unknown_fields=True):
    summary: Text
    title: Text | None = None
    cases: Annotated[tuple[_Cases, ...], SOME] | None = None
    teehash: tuple[_Hashing, ...] = ()
    board: Text | None = None
    ta: CalledTa | None = None
    call: Annotated[tuple[Call, ...], SOME] | None = None

    def __post_init__(self) -> None:
        if self.cases is None and self.call is None:
            raise Wrong("missing", "what to measure: [[cases]], or [[call]] of a TA", "cases")
        if self.call is not None and self.ta is None:
            raise Wrong("missing", 'whose commands are called: uuid = "…"', "ta")
        once("call", tuple(call.name for call in self.call or ()))
        once("cases", tuple(case.key for block in self.cases or () for case in block.expanded()))
        once("teehash", tuple(step.key for block in self.teehash for step in block.expanded()))


def parse_plan(text: str, *, name: str, file: str) -> Plan:
    """Returns the plan in a TOML text; a ConfigError names `file` and the key."""
    read: _File = parse_toml(text, _File, file, lines=True)
    cases = []
    for number, block in enumerate(read.cases or (), 1):
        place = f"{file}:{line_of(text, f'cases[{number}]') or 1}"
        cases += [replace(case, place=place) for case in block.expanded()]
    uuid = read.ta.uuid.lower() if read.ta is not None else None
    for number, call in enumerate(read.call or (), 1):
        place = f"{file}:{line_of(text, f'call[{number}]') or 1}"
        for size in call.sizes or (None,):
            work = CALL.work(call.name, TEE, NONE if size is None else size)
            steps = f"{uuid};{call.steps(size)}"
            cases.append(CaseLine(work, call.samples, call.min_us, call=steps, place=place))
    hashing = tuple(step for block in read.teehash for step in block.expanded())
    title = read.title or ""
    return Plan(name, read.summary, tuple(cases), hashing, uuid, read.board, title)


def plan_names() -> tuple[str, ...]:
    return tuple(sorted(path.stem for path in paths.plans().glob("*.toml")))


def load_plan(name: str) -> Plan:
    """Returns the plan of that name, or the plan in that file (`…/mine.toml`)."""
    path = Path(name) if name.endswith(".toml") else paths.plans() / f"{name}.toml"
    if not path.exists():
        names = plan_names()
        hint = f"{meant(name, names)}there are: {', '.join(names)}; or name a .toml file"
        raise UsageMistake(f"no plan {name}: {path} doesn't exist", hint=hint)
    of_ta = path.name == BENCH
    return parse_plan(
        read_text(path), name=path.absolute().parent.name if of_ta else path.stem, file=str(path)
    )
