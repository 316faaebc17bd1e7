# SPDX-License-Identifier: BSD-2-Clause
"""Reading run.ndjson: `parse` is pure, `read` takes a file or a run's folder.

A file that was cut off (no `end` record, or a half last line) is still a run, marked incomplete.
Whatever else is wrong is an error that names the file and the line.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

import msgspec

from teemark.checked import in_words
from teemark.errors import DataError
from teemark.run.records import (
    SCHEMA,
    AnyRecord,
    Backend,
    Case,
    End,
    Fail,
    First,
    Machine,
    Run,
    Sample,
    Skip,
    Teehash,
)

RUN_FILE = "run.ndjson"
PARTIAL_FILE = "run.ndjson.partial"


@dataclass(frozen=True, slots=True)
class MeasuredCase:
    """A case with what was measured of it.

    `samples` are those by the client's clock, which all statistics are of. What the TA counted in
    the same calls is apart, so that nobody takes the one for the other."""

    case: Case
    samples: tuple[Sample, ...] = ()
    ta_samples: tuple[Sample, ...] = ()
    first: tuple[First, ...] = ()


@dataclass(frozen=True, slots=True)
class RunData:
    """A run in memory. `incomplete` says why it is not whole; None for a whole one."""

    file: str
    machine: Machine
    run: Run | None = None
    cases: dict[str, MeasuredCase] = field(default_factory=dict)
    first: tuple[First, ...] = ()
    skips: tuple[Skip, ...] = ()
    fails: tuple[Fail, ...] = ()
    teehash: tuple[Teehash, ...] = ()
    end: End | None = None
    incomplete: str | None = None

    @property
    def sound(self) -> tuple[MeasuredCase, ...]:
        """The cases that didn't fail later on: what may be computed with."""
        failed = {fail.case for fail in self.fails}
        return tuple(case for key, case in self.cases.items() if key not in failed)

    @property
    def unit(self) -> str:
        """What a nanosecond of this run is."""
        return "instructions" if self.run is not None and self.run.icount else "ns"

    @property
    def name(self) -> str:
        return self.run.board if self.run else "this machine"

    def title(self, algorithm: str) -> str:
        """As the run says that people write it; its bare name where it doesn't."""
        titles = (one.title for one in self.machine.algorithms if one.name == algorithm)
        return next(titles, algorithm)

    def backend(self, name: str) -> Backend:
        """What the run says of a backend; its bare name where it doesn't."""
        found = (one for one in self.machine.backends if one.name == name)
        return next(found, Backend(name=name, title=name))

    def place(self, backend: str) -> int:
        """Of a backend in the run's own order; strangers come last, as they appeared."""
        names = dict.fromkeys(one.name for one in self.machine.backends)
        if backend not in names:
            names |= dict.fromkeys(case.case.backend for case in self.cases.values())
        return list(names).index(backend) if backend in names else len(names)


_decoder: msgspec.json.Decoder[AnyRecord] = msgspec.json.Decoder(AnyRecord)


def decode_line(line: bytes, *, file: str, number: int) -> AnyRecord:
    """One record; DataError names the line. A newer schema is told from nonsense."""
    try:
        return _decoder.decode(line)
    except msgspec.ValidationError as error:
        where = f"{file}:{number}"
        place, why = "", str(error)
        with contextlib.suppress(msgspec.DecodeError, UnicodeDecodeError):
            data = msgspec.json.decode(line)
            schema = data.get("schema") if isinstance(data, dict) else None
            if isinstance(schema, int) and schema > SCHEMA:
                raise _newer(where, schema) from None
            place, why, _ = in_words(error, data, AnyRecord)
        raise DataError(
            ": ".join(filter(None, (where, "not a record of teemark", place, why))),
            hint="is this a run.ndjson, and untouched? see docs/run-format.md",
        ) from None
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise DataError(
            f"{file}:{number}: not JSON: {error}",
            hint="a run.ndjson has one JSON object a line; see docs/run-format.md",
        ) from None


def _newer(where: str, schema: int) -> DataError:
    return DataError(
        f"{where}: made by a newer teemark: schema {schema}, known here up to {SCHEMA}",
        hint="update teemark",
    )


class Collector:
    """Puts records together in their order; DataError at the first that doesn't fit."""

    def __init__(self, file: str) -> None:
        self.file = file
        self.run: Run | None = None
        self.machine: Machine | None = None
        self.end: End | None = None
        self._cases: dict[str, Case] = {}
        self._samples: dict[str, list[Sample]] = {}
        self._ta_samples: dict[str, list[Sample]] = {}
        self._case_first: dict[str, list[First]] = {}
        self._first: list[First] = []
        self._skips: list[Skip] = []
        self._fails: list[Fail] = []
        self._teehash: list[Teehash] = []

    def add(self, record: AnyRecord, number: int) -> None:
        where = f"{self.file}:{number}"
        if self.end is not None:
            raise DataError(f"{where}: a {_type(record)} record after the end record")
        if self.machine is None and not isinstance(record, Run | Machine):
            raise DataError(
                f"{where}: a {_type(record)} record before the machine record",
                hint="the beginning of the file is missing",
            )
        match record:
            case Run() | Machine():
                self._begin(record, where)
            case Case():
                if record.case in self._cases:
                    raise DataError(f"{where}: a second case record of {record.case}")
                self._cases[record.case] = record
            case Sample():
                if record.case not in self._cases:
                    raise DataError(
                        f"{where}: a sample of {record.case}, which has no case record before it"
                    )
                counted = record.source == "ta-counter"
                of_source = self._ta_samples if counted else self._samples
                of_source.setdefault(record.case, []).append(record)
            case First():
                self._add_first(record)
            case Skip():
                self._skips.append(record)
            case Fail():
                self._fails.append(record)
            case Teehash():
                self._teehash.append(record)
            case End():
                self.end = record

    def _add_first(self, record: First) -> None:
        if record.case is None:
            self._first.append(record)
        else:
            self._case_first.setdefault(record.case, []).append(record)

    def _begin(self, record: Run | Machine, where: str) -> None:
        if record.schema > SCHEMA:
            raise _newer(where, record.schema)
        if isinstance(record, Run):
            if self.run is not None or self.machine is not None:
                raise DataError(f"{where}: a run record that isn't the first line")
            self.run = record
            return
        if self.machine is not None:
            raise DataError(
                f"{where}: a second machine record",
                hint="two runs in one file? a file holds one",
            )
        self.machine = record

    def data(self, cut: str | None = None) -> RunData:
        """What was collected. `cut` says that the file ends in mid-line."""
        if self.machine is None:
            raise DataError(
                f"{self.file}: no machine record, so there is no run in it",
                hint="the program on the board ended before it measured anything",
            )
        incomplete = cut
        if incomplete is None and self.end is None:
            incomplete = "cut off: there is no end record"
        if incomplete is None and self.end is not None and not self.end.complete:
            incomplete = self.end.reason
        return RunData(
            file=self.file,
            machine=self.machine,
            run=self.run,
            cases={
                key: MeasuredCase(
                    case=case,
                    samples=tuple(self._samples.get(key, ())),
                    ta_samples=tuple(self._ta_samples.get(key, ())),
                    first=tuple(self._case_first.get(key, ())),
                )
                for key, case in self._cases.items()
            },
            first=tuple(self._first),
            skips=tuple(self._skips),
            fails=tuple(self._fails),
            teehash=tuple(self._teehash),
            end=self.end,
            incomplete=incomplete,
        )


def _type(record: AnyRecord) -> str:
    return str(record.__struct_config__.tag)


def parse(lines: Iterable[bytes], *, file: str) -> RunData:
    """A run from its lines. Only the very last line may be cut off, and only without newline."""
    collector = Collector(file)
    number = 0
    cut: str | None = None
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            record = decode_line(line, file=file, number=number)
        except DataError:
            if line.endswith(b"\n") or collector.machine is None:
                raise
            cut = f"cut off in the middle of line {number}"
            break
        collector.add(record, number)
    if number == 0:
        raise DataError(f"{file}: the file is empty")
    return collector.data(cut)


def locate(path: Path) -> Path:
    """The file of a run that is named by its file or its folder."""
    if not path.is_dir():
        return path
    for name in (RUN_FILE, PARTIAL_FILE):
        if (path / name).exists():
            return path / name
    raise DataError(
        f"{path}: no {RUN_FILE} in this folder", hint="name a run's folder, or its run.ndjson"
    )


def read(path: Path) -> RunData:
    file = locate(path)
    try:
        with file.open("rb") as stream:
            return parse(stream, file=str(file))
    except FileNotFoundError:
        raise DataError(
            f"{file}: no such file", hint="name a run's folder, or its run.ndjson"
        ) from None
    except OSError as error:
        raise DataError(f"{file}: can't be read: {error.strerror}") from None
