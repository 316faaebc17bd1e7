# SPDX-License-Identifier: BSD-2-Clause
"""Reading run.ndjson: `parse` is pure, `read` takes a file or a run's folder.

A file that was cut off (no `end` record, or a half last line) is still a run, marked incomplete.
Whatever else is wrong is an error that names the file and the line.
"""

import contextlib
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain, pairwise
from pathlib import Path
from typing import IO, Any, Literal, TypeVar, cast

import msgspec

from teemark.base.checked import in_words
from teemark.base.errors import DataError, UsageMistake
from teemark.base.sanitize import harmless_value, suspect
from teemark.base.work import CALL, EMPTY_CALL, NONE, ONESHOT, SHM, Work
from teemark.run import records
from teemark.wording import fmt

R = TypeVar("R", bound=records.Record)
T = TypeVar("T", bound=records.Trouble)

RUN_FILE = "run.ndjson"
PARTIAL_FILE = "run.ndjson.partial"

ANY_DRIVER = "*"
"""Driver in a backend's name that stands for every driver that the board has."""

NO_TEE = "no-tee"
TEE_REFUSED = frozenset(
    {"no-permission", "no-libteec", "no-ta", "no-supplicant", "ta-rejected", "ta-version"}
)
"""Codes of skips that mean that the machine's TEE can't be used as it is."""


@dataclass(frozen=True, slots=True)
class MeasuredCase:
    """A case with its measured values.

    `starts` holds the samples by the client's clock, of each start in which the case was measured;
    all statistics use them. The TA's own times of the same calls are kept apart, so that the two
    can't be mixed up."""

    record: records.Case
    starts: tuple[tuple[records.Sample, ...], ...] = ()
    ta_samples: tuple[records.Sample, ...] = ()
    first: tuple[records.First, ...] = ()
    work: Work = field(init=False)
    """The parsed key."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "work", Work.of(self.record.case))

    @property
    def key(self) -> str:
        return self.record.case

    @property
    def curve(self) -> str | None:
        """Returns the curve over sizes that the case belongs to (`Work.curve`); None if one
        operation works on another number of bytes than the key says."""
        return self.work.curve if self.record.bytes == self.work.size else None

    @property
    def samples(self) -> tuple[records.Sample, ...]:
        """Returns the samples of all starts, one after the other."""
        return self.starts[0] if len(self.starts) == 1 else tuple(chain.from_iterable(self.starts))

    @property
    def repeats(self) -> list[int]:
        """Returns the numbers of operations per call that have samples, in rising order."""
        return sorted({sample.repeat for sample in self.samples})

    def loops(self, repeat: int = 1) -> int:
        """Returns the number of calls in the longest sample with `repeat` operations per call."""
        return max((sample.loops for sample in self.samples if sample.repeat == repeat), default=1)

    def times(self, repeat: int = 1) -> list[list[float]]:
        """Returns the time per call of each sample with `repeat` operations per call, by start."""
        return [
            [sample.ns / sample.loops for sample in samples if sample.repeat == repeat]
            for samples in self.starts
        ]


@dataclass(slots=True)
class StartData:
    """One start of a run: its `machine` and `end` records, and the range of its samples' `seq`."""

    number: int
    kind: Literal["boot", "round"]
    seqs: range
    machine: records.Machine | None = None  # None if the start was cut off before it
    end: records.End | None = None
    cases: set[str] = field(default_factory=set)
    named: set[str] = field(default_factory=set)  # With those that were skipped or failed


@dataclass(frozen=True, slots=True)
class Missing:
    """A case that an incomplete run has fewer samples of than asked for, or none."""

    case: str
    samples: int
    total: int | None  # Samples asked for; None if not yet known


@dataclass(frozen=True, slots=True)
class RunData:
    """A run in memory. `incomplete` says why the run is not whole; None for a whole run.

    In the file, `seq` counts the samples of one start; here it counts those of the whole run.
    `machine` is the first start's record; `end` has the sums of all starts."""

    file: str
    machine: records.Machine
    header: records.Run | None = None
    starts: tuple[StartData, ...] = ()
    begun: int = 0  # Number of starts, with those that ended before their machine record
    cases: dict[str, MeasuredCase] = field(default_factory=dict)
    first: tuple[records.First, ...] = ()
    legs: tuple[records.Legs, ...] = ()
    skips: tuple[records.Skip, ...] = ()
    fails: tuple[records.Fail, ...] = ()
    teehash: tuple[records.Teehash, ...] = ()
    end: records.End | None = None
    incomplete: str | None = None

    @property
    def sound(self) -> tuple[MeasuredCase, ...]:
        """Returns the cases without a failure, whose samples may be used."""
        failed = {fail.case for fail in self.fails}
        return tuple(case for key, case in self.cases.items() if key not in failed)

    @property
    def starts_a_case(self) -> int:
        """Returns the number of starts of the case that has most. It is less than the run's if one
        of these resumed the run: that measured other cases."""
        return max((len(case.starts) for case in self.sound), default=1)

    @property
    def measured(self) -> tuple[str, ...]:
        """Returns the cases that were measured and didn't fail, teehash's steps included. Every
        count of a run's cases counts these."""
        cases = (case.key for case in self.sound if any(case.starts))
        return (*cases, *dict.fromkeys(record.case for record in self.teehash))

    @property
    def unverified(self) -> int:
        """Returns the number of measured cases whose results nothing checked."""
        return sum(not case.record.verified for case in self.sound if any(case.starts))

    @property
    def samples(self) -> int:
        """Returns the number of samples of all measured cases; each run of teehash counts as
        one."""
        return sum(len(case.samples) for case in self.sound) + len(self.teehash)

    @property
    def missing(self) -> tuple[Missing, ...]:
        """Returns the cases that an incomplete run has too few samples of; () for a whole run."""
        if self.incomplete is None:
            return ()
        recorded = {trouble.case for trouble in (*self.skips, *self.fails)}
        recorded |= {record.case for record in self.teehash}
        starts = self.header.starts if self.header is not None else 1
        missing = []
        for key, measured in self.cases.items():
            total = measured.record.samples * len(measured.record.repeat) * starts
            if key not in recorded and len(measured.samples) < total:
                missing.append(Missing(key, len(measured.samples), total))
        asked_for = (self.header.asked if self.header is not None else None) or ()
        seen = self.cases.keys() | recorded
        unknown = [key for key in asked_for if not any(stands_for(key, case) for case in seen)]
        return (*missing, *(Missing(key, 0, None) for key in unknown))

    @property
    def unmeasured(self) -> dict[str, str]:
        """Returns the reason for each case that has no sample or that failed."""
        # a case that was skipped in one start may have been measured in another
        reasons = {skip.case: skip.reason for skip in self.skips if skip.case not in self.cases}
        reasons |= {fail.case: fail.reason for fail in self.fails}
        lost = [case.case for case in self.missing if case.samples == 0]
        return reasons | dict.fromkeys(lost, f"the run is incomplete: {self.incomplete}")

    @property
    def tee_refused(self) -> tuple[records.Skip, ...]:
        """Returns the skips of cases whose machine has a TEE that couldn't be used."""
        here = self.machine.tee.device is not None
        return tuple(
            skip
            for skip in self.skips
            if skip.code in TEE_REFUSED or (here and skip.code == "no-teec-headers")
        )

    @property
    def as_asked(self) -> bool:
        """Returns true if the run is whole, no case failed, and the machine's TEE, if any, could be
        used."""
        return self.incomplete is None and not self.fails and not self.tee_refused

    @property
    def without_tee(self) -> bool:
        """Returns true if the plan asked for a TEE, and the machine has none."""
        return any(skip.code == NO_TEE for skip in self.skips) and not self.tee_refused

    def untraced(self, case: str) -> str:
        """Returns why the kernel's tracepoints traced no call of this case."""
        if self.machine.settings.trace_events is None:
            return "the run was made without --trace-events"
        reasons = (legs.reason for legs in self.legs if legs.case == case and legs.reason)
        return next(reasons, "no call of this case was traced by the kernel's tracepoints")

    @property
    def icount(self) -> bool:
        """Returns true if the board counts instructions, each as a nanosecond."""
        return self.header is not None and self.header.icount

    @property
    def emulated(self) -> bool:
        """Returns true if the board is emulated, by its board file or as the machine itself
        says."""
        by_machine = self.machine.board.emulated is True
        return by_machine or (self.header is not None and self.header.emulated)

    @property
    def resolution(self) -> float:
        """Returns the step of the run's clock, in the run's unit."""
        return float(self.machine.clock.resolution_ns or 0)

    @property
    def unit(self) -> str:
        """Returns the unit of the run's times: "instructions" or "ns"."""
        return "instructions" if self.icount else "ns"

    @property
    def plan(self) -> str:
        """Returns the plan's name; empty without one."""
        return self.header.plan if self.header is not None else ""

    @property
    def name(self) -> str:
        return self.header.board if self.header else "this machine"

    @property
    def commit(self) -> records.Commit | None:
        """Returns the commit that the run measured; None if the run doesn't say."""
        return self.header.commit if self.header is not None else None

    @property
    def labels(self) -> dict[str, str]:
        return self.header.labels if self.header is not None else {}

    @property
    def origin(self) -> dict[str, str]:
        """Returns the origin of what the run measured: commit, branch and `changes` ("yes" or "no")
        if the commit is known, and `label_KEY` for each label."""
        origin = {}
        if self.commit is not None:
            origin["commit"] = self.commit.hash
            if self.commit.branch is not None:
                origin["branch"] = self.commit.branch
            origin["changes"] = "yes" if self.commit.dirty else "no"
        return origin | {f"label_{key}": value for key, value in self.labels.items()}

    def algorithm(self, name: str) -> records.Algorithm:
        """Returns the run's record of an algorithm; if there is none, one with the bare name."""
        named = (record for record in self.machine.algorithms if record.name == name)
        return next(named, records.Algorithm(name=name, title=name))

    def title(self, algorithm: str) -> str:
        """Returns the algorithm's name as people write it, such as SHA-256."""
        return self.algorithm(algorithm).title

    def backend(self, name: str) -> records.Backend:
        """Returns the run's record of a backend; if there is none, one with the bare name."""
        named = (record for record in self.machine.backends if record.name == name)
        return next(named, records.Backend(name=name, title=name))

    def who(self, work: Work) -> records.Backend:
        """Returns the backend of a case; commands of the user's own TA are computed by that TA."""
        backend = self.backend(work.backend)
        return msgspec.structs.replace(backend, title="your TA") if work.row is CALL else backend

    def words(self, key: str) -> str:
        """Returns a case's name in words, such as `SHA-256 of 4 KiB by the TEE API`."""
        work = Work.of(key)
        if key == EMPTY_CALL:
            return "an empty call"
        if work.row is SHM:
            buffer = f"{fmt.size(work.size or 0)} of {work.algorithm} memory"
            return f"a call with {buffer} ({', '.join(work.words)})"
        parts = [work.workload] * (work.row is not ONESHOT)
        parts += [self.title(work.algorithm)] * (work.algorithm != NONE)
        parts += [word for word in work.words if word != NONE]
        parts += [f"of {fmt.size(work.size or 0)}"] * (work.size is not None)
        parts += [f"in pieces of {fmt.size(work.chunk or 0)}"] * (work.chunk is not None)
        return f"{' '.join(parts)} by {self.who(work).title}"

    def place(self, backend: str) -> int:
        """Returns a backend's index in the run's own order; backends that the run didn't announce
        come last, as they appeared."""
        names = dict.fromkeys(record.name for record in self.machine.backends)
        if backend not in names:
            names |= dict.fromkeys(case.record.backend for case in self.cases.values())
        return list(names).index(backend) if backend in names else len(names)


def stands_for(pattern: str, key: str) -> bool:
    """Returns true if the key `pattern` stands for the case `key`; `afalg:*` stands for every
    driver that the board found."""
    if pattern == key or f":{ANY_DRIVER}/" not in pattern:
        return pattern == key
    wanted, measured = Work.of(pattern), Work.of(key)
    return (
        wanted.driver == ANY_DRIVER
        and bool(measured.driver)
        and replace(wanted, backend=wanted.by) == replace(measured, backend=measured.by)
    )


_decoder: msgspec.json.Decoder[records.AnyRecord] = msgspec.json.Decoder(records.AnyRecord)


_NO_LONGER_READ = b'{"type":"timeline"'
"""Begins the records of teehash's context switches that teemark 0.1 wrote."""

LINE_MAX = 8 << 20
"""Largest line of a run's file, bytes; a board may send lines half as long (boards/shell.py)."""


def ends(file: Path) -> tuple[records.Run, bool]:
    """Returns the first record of a run, and whether its last record says that the run is whole;
    nothing between is read. Raises OSError, or DataError if the file is no run."""
    with file.open("rb") as lines:
        first = decode_line(next(_lines(lines, file), b""), file=str(file), number=1)
        lines.seek(max(0, file.stat().st_size - 4096))
        tail = lines.read().splitlines()
    if not isinstance(first, records.Run):
        raise DataError(f"{file}: its first line is no record of a run")
    try:
        last = decode_line(tail[-1], file=str(file), number=0) if tail else None
    except DataError:
        last = None  # the run was cut off
    return first, isinstance(last, records.End) and last.complete


def _lines(stream: IO[bytes], file: Path) -> Iterator[bytes]:
    """Yields the lines of a run's file, which may come from anywhere; DataError for a long one."""
    while line := stream.readline(LINE_MAX + 1):
        if len(line) > LINE_MAX:
            hint = "a run.ndjson has one JSON object a line; see docs/run-format.md"
            raise DataError(f"{file}: a line has more than {LINE_MAX >> 20} MiB", hint=hint)
        yield line


def decode_line(line: bytes, *, file: str, number: int) -> records.AnyRecord:
    """Returns one record, its texts made harmless. Raises DataError with the number of the line; a
    newer schema has a message of its own."""
    try:
        if suspect(line):
            clean: records.AnyRecord = msgspec.convert(
                harmless_value(msgspec.json.decode(line)), cast(Any, records.AnyRecord)
            )
            return clean
        return _decoder.decode(line)
    except msgspec.ValidationError as error:
        where = f"{file}:{number}"
        place, why = "", str(error)
        with contextlib.suppress(msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            data = msgspec.json.decode(line)
            schema = data.get("schema") if isinstance(data, dict) else None
            if isinstance(schema, int) and schema > records.SCHEMA:
                raise _newer(where, schema) from None
            place, why, _ = in_words(error, data, records.AnyRecord)
        raise DataError(
            ": ".join(filter(None, (where, "not a record of teemark", place, why))),
            hint="is this a run.ndjson, and untouched? see docs/run-format.md",
        ) from None
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        why = "nested too deep" if isinstance(error, RecursionError) else f"not JSON: {error}"
        raise DataError(
            f"{file}:{number}: {why}",
            hint="a run.ndjson has one JSON object a line; see docs/run-format.md",
        ) from None


def _newer(where: str, schema: int) -> DataError:
    return DataError(
        f"{where}: made by a newer teemark: schema {schema}, known here up to {records.SCHEMA}",
        hint="update teemark",
    )


class _Collector:
    """Collects a run's records in their order; raises DataError at the first that doesn't fit."""

    def __init__(self, file: str) -> None:
        self.file = file
        self.run: records.Run | None = None
        self._starts: list[StartData] = []
        self._next_seq = 0
        self._resumed = 0  # Index of the last start that resumes the run
        self._cases: dict[str, records.Case] = {}
        # Samples by case, then by start
        self._samples: dict[str, dict[int, list[records.Sample]]] = defaultdict(dict)
        self._ta_samples: dict[str, list[records.Sample]] = defaultdict(list)
        self._first: dict[str | None, list[records.First]] = defaultdict(list)
        self._others: dict[type[records.Record], list[Any]] = defaultdict(list)

    @property
    def machine(self) -> records.Machine | None:
        return self._starts[0].machine if self._starts else None

    def add(self, record: records.AnyRecord, number: int) -> None:
        where = f"{self.file}:{number}"
        start = self._starts[-1] if self._starts else None
        if start and self._resumed and not isinstance(record, records.Sample):
            self._forget(getattr(record, "case", None), start)
        match record:
            # Nearly all records are samples, so these are checked first, and quickly.
            case records.Sample() if start and not start.end and record.case in start.cases:
                self._add_sample(record, start)
            case records.Run() | records.Machine() if record.schema > records.SCHEMA:
                raise _newer(where, record.schema)
            case _ if wrong := self._misplaced(record, start):
                hint = "is a part of the file missing, or are two runs in it? A file holds one"
                raise DataError(f"{where}: {wrong}", hint=hint)
            case records.Run():
                self.run = record
            case records.Start():
                seqs = range(self._next_seq, self._next_seq)
                self._starts.append(StartData(record.number, record.kind, seqs))
                self._resumed = len(self._starts) - 1 if record.resumes else self._resumed
            case records.Machine() if start is not None:
                start.machine = record
            case records.Machine():  # schema 1: no start records, one start
                self._starts.append(StartData(1, "round", range(0), record))
            case records.Case() if start is not None:
                start.cases.add(record.case)
                self._cases.setdefault(record.case, record)
            case records.First():
                self._first[record.case].append(record)
            case records.End() if start is not None:
                start.end = record
            case _:
                self._others[type(record)].append(record)

    def _forget(self, case: str | None, start: StartData) -> None:
        """Leaves out what earlier starts have of a case, at its first record in a resuming start:
        that is `first` or `case`, or it was skipped, failed, or is a step of teehash."""
        if case is None or case in start.named:
            return
        start.named.add(case)
        for by_case in (self._cases, self._samples, self._ta_samples, self._first):
            by_case.pop(case, None)
        for kind in (records.Skip, records.Fail, records.Legs, records.Teehash):
            self._others[kind] = [other for other in self._others[kind] if other.case != case]

    def _misplaced(  # noqa: PLR0911 - a return a rule
        self, record: records.AnyRecord, start: StartData | None
    ) -> str | None:
        kind = record.__struct_config__.tag
        case = getattr(record, "case", None)
        match record:
            case records.Run():
                return "a run record that isn't the first line" if self.run or start else None
            case records.Start() if start and start.end is None and not record.resumes:
                return "a start record before the end of the start before it"
            case records.Start():
                before = len(self._starts)
                wrong = f"start {record.number} after start {before or 'none'}"
                return wrong if record.number != before + 1 else None
            case records.Machine():
                return "a second machine record" if start and start.machine else None
        ended = isinstance(record, records.End) and not record.complete  # may precede `machine`
        if start is None or not (start.machine or ended):
            return f"a {kind} record before the machine record"
        if start.end is not None:
            return f"a {kind} record after the end record"
        if kind == "case" and case in start.cases:
            return f"a second case record of {case}"
        if kind in ("sample", "legs") and case not in start.cases:
            return f"a {kind} of {case}, which has no case record before it"
        return None

    def _add_sample(self, record: records.Sample, start: StartData) -> None:
        # All samples of a case share one string, which saves 75 MB per million samples.
        msgspec.structs.force_setattr(record, "case", self._cases[record.case].case)
        if start.seqs.start:
            record = msgspec.structs.replace(record, seq=record.seq + start.seqs.start)
        self._next_seq = max(self._next_seq, record.seq + 1)
        if record.source == "ta-counter":
            self._ta_samples[record.case].append(record)
        else:
            self._samples[record.case].setdefault(start.number, []).append(record)

    def _all(self, kind: type[R]) -> tuple[R, ...]:
        return tuple(self._others[kind])

    def _by_case(self, kind: type[T]) -> tuple[T, ...]:
        first: dict[str, T] = {}
        for record in self._all(kind):
            first.setdefault(record.case, record)
        return tuple(first.values())

    def data(self, cut: str | None = None) -> RunData:
        """Returns the collected run; `cut` says where the file ends in mid-line, None if it
        doesn't."""
        offsets = [start.seqs.start for start in self._starts] + [self._next_seq]
        for start, seqs in zip(self._starts, pairwise(offsets), strict=True):
            start.seqs = range(*seqs)
        starts = tuple(start for start in self._starts if start.machine)
        if not starts or (machine := starts[0].machine) is None:
            raise DataError(
                f"{self.file}: no machine record, so there is no run in it",
                hint="the program on the board ended before it measured anything",
            )
        counted = self._starts[self._resumed :]
        ends = [start.end for start in counted if start.end is not None]
        total = self.run.starts if self.run is not None else len(starts)
        return RunData(
            file=self.file,
            machine=machine,
            header=self.run,
            starts=starts,
            begun=len(self._starts),
            cases={
                key: MeasuredCase(
                    record=case,
                    starts=tuple(map(tuple, self._samples[key].values())),
                    ta_samples=tuple(self._ta_samples[key]),
                    first=tuple(self._first[key]),
                )
                for key, case in self._cases.items()
            },
            first=tuple(self._first[None]),
            legs=self._all(records.Legs),
            skips=self._by_case(records.Skip),
            fails=self._by_case(records.Fail),
            teehash=self._all(records.Teehash),
            end=_together(ends) if len(ends) == len(counted) else None,
            incomplete=_incomplete(cut, ends, len(counted), total),
        )


def _together(ends: Sequence[records.End]) -> records.End:
    """Returns one end record for all starts: counts are summed, the other fields are the last
    start's."""
    if len(ends) == 1:
        return ends[0]
    sums: dict[str, Any] = {}
    for name in ("samples", "ta_samples", "thrown_away", "duration_ns"):
        counts = [value for end in ends if (value := getattr(end, name)) is not None]
        sums[name] = sum(counts) if counts else None
    return msgspec.structs.replace(ends[-1], complete=all(end.complete for end in ends), **sums)


_SIGNALS = {
    "interrupted": "interrupted (Ctrl-C, SIGINT)",
    "terminated": "ended by SIGTERM",
    "hung-up": "ended by SIGHUP",
}


def _incomplete(
    cut: str | None, ends: Sequence[records.End], starts: int, total: int
) -> str | None:
    why = cut
    bad = next((end for end in ends if not end.complete), None)
    if why is None and bad is not None:
        why = bad.message or _SIGNALS.get(bad.reason, bad.reason)
    if why is None and len(ends) < starts:
        why = "cut off: there is no end record, so teemark itself was killed, or still runs"
    if total == 1:
        return why
    if why is not None:
        return f"{why} (in start {starts} of {total})"
    return f"{starts} of {total} starts were measured" if starts < total else None


def parse(lines: Iterable[bytes], *, file: str) -> RunData:
    """Returns a run from its lines. Only the last line may be cut off, and only if it has no
    newline."""
    collector = _Collector(file)
    number = 0
    cut: str | None = None
    for number, line in enumerate(lines, 1):
        if not line.strip() or line.startswith(_NO_LONGER_READ):
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
        raise DataError(f"{file}: the file is empty", hint="measure again: `teemark run`")
    return collector.data(cut)


def locate(path: Path) -> Path:
    """Returns the file of a run; `path` is that file or its folder."""
    if not path.is_dir():
        return path
    for name in (RUN_FILE, PARTIAL_FILE):
        if (path / name).exists():
            return path / name
    raise UsageMistake(
        f"{path}: no {RUN_FILE} in this folder", hint="name a run's folder, or its run.ndjson"
    )


def read(path: Path) -> RunData:
    file = locate(path)
    try:
        with file.open("rb") as stream:
            return parse(_lines(stream, file), file=str(file))
    except FileNotFoundError:
        raise UsageMistake(
            f"{file}: no such file", hint="name a run's folder, or its run.ndjson"
        ) from None
    except OSError as error:
        raise DataError(f"{file}: can't be read: {error.strerror}") from None
