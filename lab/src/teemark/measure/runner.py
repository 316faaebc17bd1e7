# SPDX-License-Identifier: BSD-2-Clause
"""Run a plan on a board: cases in, raw records out, nothing lost on the way.

`measure` knows no display and prints nothing: it tells a `Watcher` what arrives. On a board whose
clock counts instructions nothing may be on the wire while it measures, so there the records are
written to a file on the board and fetched afterwards.
"""

from __future__ import annotations

import contextlib
import signal
import tempfile
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import IO, TYPE_CHECKING, Literal

import msgspec

from teemark.base.errors import (
    BoardError,
    CommandFailed,
    ConnectError,
    ConnectionLost,
    DataError,
    TeemarkError,
)
from teemark.boards.install import built_tas
from teemark.boards.quiet import quietly
from teemark.boards.ta_key import all_signed_with_published_key
from teemark.measure import teehash_steps
from teemark.measure.origin import Origin
from teemark.plan import check as plan_check
from teemark.plan import plan
from teemark.plan.plan import Case, Plan
from teemark.run.reader import decode_line, stands_for
from teemark.run.records import SCHEMA, AnyRecord, End, Machine, Run, Start
from teemark.run.records import Case as CaseRecord
from teemark.run.writer import RunWriter
from teemark.version import __version__

if TYPE_CHECKING:
    from teemark.boards.board import Board

PROGRAM = "teebench"

SSH_FAILED = 255
"""Status of ssh itself; teebench has no such status."""

_USAGE = 2
"""Status of teebench where the cases are wrong."""

_QUIET_OPTIONS = ("--settle", "2", "--align-tick", "8", "--quiet-until-end")
"""The kernel's timer ticks every 4 ms."""


_DEFAULT_SAMPLES = 30
_DEFAULT_MIN_US = 100
"""Of teebench."""


class Watcher:
    """Sees a run go by. This one lets it."""

    def record(self, record: AnyRecord) -> None:
        """A record arrived."""

    def quiet(self) -> None:
        """Nothing will arrive before the end."""


@dataclass(frozen=True, slots=True)
class Starts:
    """How often a plan is measured, and what is new each time: the board, or only teebench and its
    sessions. `again` makes the board ready for the next start."""

    count: int = 1
    kind: Literal["boot", "round"] = "round"
    again: Callable[[], None] = lambda: None


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of it. The file is a run in any case, if perhaps an incomplete one."""

    file: Path
    error: TeemarkError | None = None  # why it is incomplete


def default_directory(runs: Path, board: str, name: str, now: datetime) -> Path:
    """runs/<UTC timestamp>-<board>-<plan>"""
    return runs / f"{now.astimezone(UTC):%Y%m%dT%H%M%SZ}-{board}-{name}"


def header(
    board: Board, asked: Plan, starts: int, now: datetime, origin: Origin | None = None
) -> Run:
    """The record that goes before all others."""
    origin = origin or Origin()
    cases = asked.cases
    return Run(
        schema=SCHEMA,
        teemark=__version__,
        board=board.name,
        board_summary=board.config.description or None,
        plan=asked.name,
        plan_summary=asked.summary,
        started=now.astimezone(UTC).isoformat(timespec="seconds").replace("+00:00", "Z"),
        emulated=board.emulated,
        icount=board.deterministic,
        cases=len(cases),
        starts=starts,
        asked=_keys(asked),
        tas_signed_with_published_key=all_signed_with_published_key(
            [*built_tas(board), *board.guests]
        ),
        commit=origin.commit,
        labels=dict(origin.labels),
        firmware=board.firmware,
    )


def _keys(asked: Plan) -> tuple[str, ...]:
    return (*(case.key for case in asked.cases), *(step.key for step in asked.teehash))


def measure(
    board: Board,
    asked: Plan,
    directory: Path,
    watcher: Watcher,
    starts: Starts | None = None,
    *,
    options: Sequence[str] = (),
    origin: Origin | None = None,
) -> Outcome:
    """Run a plan on an open board that is set up; `options` are teebench's.

    A connection that drops, Ctrl-C, a full disk and a program that dies leave what was measured so
    far in the file; its end record says what happened.
    """
    starts = starts or Starts()
    cases = asked.cases
    now = datetime.now(UTC)
    with RunWriter(directory) as writer:
        writer.record(header(board, asked, starts.count, now, origin))
        measured = False
        error: TeemarkError | None = None
        for number in range(1, starts.count + 1):
            sink = _Sink(writer, watcher)
            start = Start(number=number, kind=starts.kind)
            leaving: BaseException | None = None
            try:
                if number > 1:
                    starts.again()
                sink.begin(start)
                _one_start(board, asked, cases, sink, watcher, options=options)
                sink.close()
            except TeemarkError as problem:
                error = problem
            except OSError as problem:
                place = problem.filename or "a temporary file"
                error = DataError(f"{place}: can't be written here: {problem.strerror}")
            except (KeyboardInterrupt, SystemExit) as problem:
                leaving = problem
            measured = measured or sink.machine is not None
            if not measured:
                # No file that pretends to be a run.
                writer.discard()
                raise error or leaving or DataError(f"{board.name}: {PROGRAM} said nothing")
            if error is not None or leaving is not None:
                with contextlib.suppress(DataError):
                    sink.broken_off(start, error, leaving)
            if isinstance(leaving, SystemExit):
                writer.finish()
                raise leaving
            if not sink.complete:
                break
        return Outcome(file=writer.finish(), error=error)


def _one_start(
    board: Board,
    asked: Plan,
    cases: Iterable[Case],
    sink: _Sink,
    watcher: Watcher,
    *,
    options: Sequence[str],
) -> None:
    with tempfile.TemporaryFile() as complaints:
        if board.deterministic:
            status = _fetch(board, cases, sink, watcher, complaints, options=options)
        else:
            status = _stream(board, cases, sink, complaints, options=options)
        problem = plan_check.mistake(asked, _text(complaints)) if status == _USAGE else None
        if problem is not None:
            raise problem
        sink.judge(board.name, status, _text(complaints))
    if sink.end is not None and sink.end.complete:
        teehash_steps.run(board, asked.teehash, sink.take)


class _Sink:
    """Takes the raw lines of one start: to the file, and to whoever watches. The end record waits
    for the rest."""

    def __init__(self, writer: RunWriter, watcher: Watcher) -> None:
        self._writer = writer
        self._watcher = watcher
        self._begun = False
        self._wrong: DataError | None = None
        self.machine: Machine | None = None
        self.end: End | None = None
        self._end_line = b""
        self.complete = False
        """Everything was taken, and the end record says so."""

    def begin(self, start: Start) -> None:
        self._writer.record(start)
        self._begun = True
        self._watcher.record(start)

    def take(self, lines: Iterable[bytes]) -> None:
        for line in lines:
            if not line.endswith(b"\n"):
                continue  # the connection broke in the middle of it
            if self._look(line):
                self._end_line = line
            else:
                self._writer.line(line)

    def close(self) -> None:
        """Everything was taken: the end record goes last."""
        self._writer.line(self._end_line)
        self.complete = self.end is not None and self.end.complete

    def broken_off(
        self, start: Start, error: TeemarkError | None, leaving: BaseException | None
    ) -> None:
        """The end record that teebench couldn't write. After nonsense there is none."""
        if self._wrong is not None:
            return
        if not self._begun:
            self._writer.last_record(start)
        message = error.message if error is not None else None
        reason = next((word for kind, word in _REASONS if isinstance(error, kind)), "stopped")
        if isinstance(leaving, KeyboardInterrupt):
            reason = "interrupted"
        elif leaving is not None:
            message = "teemark was ended by a signal"
        # What teebench counted stays, where only what came after it was broken off.
        end = self.end or End(complete=False, reason=reason)
        self._writer.last_record(
            msgspec.structs.replace(end, complete=False, reason=reason, message=message)
        )

    def _look(self, line: bytes) -> bool:
        """Is it the end record?"""
        if not line.strip() or self._wrong is not None:
            return False
        try:
            record = decode_line(line, file=str(self._writer.final), number=self._writer.lines + 1)
        except DataError as error:
            self._wrong = error
            return False
        if isinstance(record, Machine):
            self.machine = record
        elif isinstance(record, End):
            self.end = record
        self._watcher.record(record)
        return isinstance(record, End)

    def judge(self, board: str, status: int, complaint: str) -> None:
        """Raises what is wrong, now that the program ended, unless the records say it."""
        if self._wrong is not None:
            raise self._wrong
        if self.end is not None:
            return
        if status == SSH_FAILED:
            raise ConnectionLost(
                f"{board}: the connection ended before {PROGRAM} did",
                hint="did the board crash, reboot or lose its network? Look at its console",
            )
        lines = [
            line
            for line in complaint.splitlines()
            if ": hint: " not in line and not line.startswith("Try '")
        ]
        said = f": {lines[-1]}" if lines else ""
        how = f"ended with status {status}"
        if status > 128:
            how = f"was killed by {_signal_name(status - 128)}"
        raise CommandFailed(
            f"{board}: {PROGRAM} {how} before its end record{said}",
            argv=[PROGRAM],
            status=status,
            stderr=complaint,
            hint=f"see `teemark setup {board}`" if status in (126, 127) else None,
        )


def _allowed(board: Board) -> tuple[str, ...]:
    """What the board file lets teebench do that it doesn't do unasked."""
    return ("--allow-rpmb",) if board.config.rpmb else ()


_REASONS: tuple[tuple[type[TeemarkError], str], ...] = (
    (ConnectionLost, "connection-lost"),
    (ConnectError, "connection-lost"),
    (CommandFailed, "program-failed"),
)


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"


def _stream(
    board: Board,
    cases: Iterable[Case],
    sink: _Sink,
    complaints: IO[bytes],
    *,
    options: Sequence[str],
) -> int:
    """Records come over the wire while the board measures."""
    with tempfile.TemporaryFile() as lines:
        lines.write(plan.case_lines(cases).encode())
        lines.seek(0)
        argv = [PROGRAM, *_allowed(board), *options]
        with board.stream(argv, stdin=lines, stderr=complaints) as process:
            sink.take(process.lines())
            return process.wait()


def _fetch(
    board: Board,
    cases: Iterable[Case],
    sink: _Sink,
    watcher: Watcher,
    complaints: IO[bytes],
    *,
    options: Sequence[str],
) -> int:
    """Records stay on the board until the end."""
    folder = board.script("mktemp -d").text.strip()
    try:
        with tempfile.TemporaryDirectory(prefix="teemark-") as local:
            local_cases = Path(local) / "cases"
            local_cases.write_text(plan.case_lines(cases), encoding="utf-8")
            board.push(local_cases, f"{folder}/cases")
            watcher.quiet()
            places = ("--cases", f"{folder}/cases", "--output", f"{folder}/records")
            command = quietly(PROGRAM, *places, *_QUIET_OPTIONS, *_allowed(board), *options)
            leaving: SystemExit | None = None
            with board.stream(command, stderr=complaints) as process:
                try:
                    status = process.wait()
                except SystemExit as problem:  # what was measured is still on the board
                    leaving = problem
                    process.signal("TERM")
                    status = process.wait(_ENDING_S)
            left = board.script('cd "$1" && ls', folder).text.split()
            for name in ("records", "records.partial"):
                if name in left:
                    board.pull(f"{folder}/{name}", Path(local) / name)
                    with (Path(local) / name).open("rb") as stream:
                        sink.take(stream)
                    break
            if leaving is not None:
                raise leaving
            return status
    finally:
        with contextlib.suppress(BoardError):
            board.script('rm -rf "$1"', folder)


_ENDING_S = 60
"""teebench ends after the step that is under way."""


def _text(stream: IO[bytes]) -> str:
    stream.seek(0)
    return stream.read().decode(errors="replace").strip()


_BYTE_NS = 60.0
"""What a byte takes, checks of the result included: plain C on a small core or under emulation."""

_COUNTED_BYTE_NS = 25.0
_TICKS_S = 0.008
"""On a board that counts instructions: no host slows it down, but each sample waits for a tick."""

_PREPARING_S = 0.05
"""A case's first call, its check, and finding out how many calls make a sample."""


def seconds(asked: Plan, *, deterministic: bool) -> float:
    """How long one start of a plan takes, roughly, without booting: a board isn't known before it
    was measured. Right within a factor of two on the virtual boards; fast hardware is faster."""
    byte = (_COUNTED_BYTE_NS if deterministic else _BYTE_NS) * 1e-9
    total = 0.0
    for case in asked.cases:
        samples = case.samples or _DEFAULT_SAMPLES
        shortest = (case.min_us if case.min_us is not None else _DEFAULT_MIN_US) / 1e6
        work = byte * (case.work.size or 0)
        call = case.work.row.least_ms / 1e3
        total += _PREPARING_S
        for repeat in case.repeat or (1,):
            each = max(shortest, call + repeat * work)
            total += samples * (each + (_TICKS_S if deterministic else 0.0))
    for step in asked.teehash:
        total += step.runs * (0.5 + byte * step.bytes)
    return total


def took_before(runs: Path, board: str, asked: Plan, starts: int) -> float | None:
    """Seconds from the beginning to the end of the last whole run of the same cases on the same
    board, started as often; None if none is kept in the folder `runs`."""
    wanted = _keys(asked)
    for file in sorted(runs.glob(f"*-{board}-{asked.name}/run.ndjson"), reverse=True):
        try:
            with file.open("rb") as lines:
                first = decode_line(lines.readline(), file=str(file), number=1)
                lines.seek(max(0, file.stat().st_size - 4096))
                last = decode_line(lines.read().splitlines()[-1], file=str(file), number=0)
            began = datetime.fromisoformat(first.started) if isinstance(first, Run) else None
        except (OSError, ValueError, IndexError, DataError):
            continue
        if not isinstance(first, Run) or began is None:
            continue
        whole = isinstance(last, End) and last.complete
        if whole and first.asked == wanted and first.starts == starts:
            took = file.stat().st_mtime - began.timestamp()
            return took if 0 < took < 86400 else None
    return None


@dataclass(slots=True)
class Progress:
    """Counts records, and says how far a run is. Samples are interleaved over all cases, so
    their share is the share of the time, as far as one can know."""

    asked: dict[str, int]  # samples expected, by case, in each start
    files: dict[str, int] = field(default_factory=dict)  # runs of teehash, likewise
    starts: int = 1  # expected
    start: int = 1
    hashed: int = 0  # runs of teehash seen: they come after all samples of a start
    cases: int = 0  # of this start, as the next two
    skipped: int = 0
    failed: int = 0
    samples: int = 0
    current: str = ""
    began: float | None = None  # of the first sample
    _any: set[str] = field(default_factory=set)  # keys that stand for several cases

    @classmethod
    def of(cls, asked: Plan, starts: int = 1) -> Progress:
        return cls(
            {
                case.key: (case.samples or _DEFAULT_SAMPLES) * max(1, len(case.repeat))
                for case in asked.cases
            },
            {step.key: step.runs for step in asked.teehash},
            starts,
        )

    def see(self, record: AnyRecord) -> None:
        kind = record.__struct_config__.tag
        key = getattr(record, "case", None)
        if isinstance(record, Start):
            self.start = record.number
            self.cases = self.skipped = self.failed = 0
        elif kind == "sample":
            # what a TA counted along is no sample of its own
            self.samples += getattr(record, "source", "") != "ta-counter"
            self.current = key or ""
            if self.began is None:
                self.began = time.monotonic()
        elif kind in ("teehash", "timeline"):
            self.hashed += 1
            self.current = key or ""
        elif isinstance(record, CaseRecord):
            self.cases += 1
            self.current = record.case
            self._count(record)
        elif kind in ("skip", "fail"):
            self.skipped += kind == "skip"
            self.failed += kind == "fail"
            self.asked.pop(key or "", None)
            self.files.pop(key or "", None)

    def _count(self, found: CaseRecord) -> None:
        """A case of each driver, where any driver was asked for."""
        if found.case in self.asked:
            return
        for key in [key for key in self.asked if stands_for(key, found.case)]:
            self._any.add(key)
        if any(stands_for(key, found.case) for key in self._any):
            self.asked[found.case] = found.samples * len(found.repeat)
        for key in self._any:
            self.asked.pop(key, None)

    @property
    def files_expected(self) -> int:
        return max(self.hashed, sum(self.files.values()) * self.starts)

    @property
    def expected(self) -> int:
        return sum(self.asked.values()) * self.starts

    def seconds_left(self, now: float) -> float | None:
        """None before there is something to tell from."""
        if self.began is None or self.samples < 20 or now - self.began < 1:
            return None
        return (now - self.began) / self.samples * max(0, self.expected - self.samples)
