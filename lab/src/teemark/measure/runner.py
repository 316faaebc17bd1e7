# SPDX-License-Identifier: BSD-2-Clause
"""Run a plan on a board: cases in, raw records out, nothing lost on the way.

`measure` knows no display and prints nothing: it tells a `Watcher` what arrives. On a board whose
clock counts instructions nothing may be on the wire while it measures, so there the records are
written to a file on the board and fetched afterwards.
"""

import contextlib
import signal
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal

import msgspec

from teemark.base import errors, shutdown
from teemark.base.work import PKCS11, TEE
from teemark.boards import answers, command_lines
from teemark.boards.board import Board
from teemark.boards.command_lines import quietly
from teemark.boards.install import built_tas
from teemark.boards.shell import LEAVING_S
from teemark.boards.ta_key import all_signed_with_published_key
from teemark.measure import origin, teehash_steps
from teemark.measure.silence import Silence
from teemark.plan import check as plan_check
from teemark.plan.file import CaseLine, Plan, case_lines
from teemark.run import records
from teemark.run.reader import ANY_DRIVER, decode_line, ends, locate, read
from teemark.run.writer import RunWriter
from teemark.version import full_version

PROGRAM = "teebench"

_USAGE = 2
"""Exit status of teebench if the cases are wrong."""

_QUIET_OPTIONS = ("--settle", "2", "--align-tick", "8", "--quiet-until-end")
"""teebench's options on a board that counts instructions; the kernel's timer ticks every 4 ms."""

_DEFAULT_SAMPLES = 30
_DEFAULT_MIN_US = 100
"""teebench's defaults: samples of a case, and microseconds of its shortest sample."""


class RunListener:
    """Is told of the events of a run. This base class ignores them."""

    def record(self, record: records.AnyRecord) -> None:
        """Is called when a record has arrived."""

    def quiet(self) -> None:
        """Hears that no record will arrive before the end."""

    def waiting(self) -> None:
        """Is called after each second in which nothing arrived."""


@dataclass(frozen=True, slots=True)
class Starts:
    """The number of times that a plan is measured, and what is new each time: the board (`boot`),
    or only teebench and its sessions (`round`). `again` prepares the board for the next start; a
    start takes about `guess_s` seconds (0: unknown)."""

    count: int = 1
    kind: Literal["boot", "round"] = "round"
    again: Callable[[], None] = lambda: None
    guess_s: float = 0.0


@dataclass(frozen=True, slots=True)
class Outcome:
    """The result of a measurement: the file of a run, which may be incomplete."""

    file: Path
    error: errors.TeemarkError | None = None  # why the run is incomplete


def header(board: Board, plan: Plan, starts: int, now: datetime, **source: Any) -> records.Run:
    """Returns the first record of a run; `source` has the record's `commit`, `labels`
    (teemark.measure.origin) and `ta_memory`."""
    return records.Run(
        schema=records.SCHEMA,
        teemark=full_version(),
        board=board.name,
        board_summary=board.config.description or None,
        plan=plan.name,
        plan_summary=plan.summary,
        plan_title=plan.title or None,
        command=origin.command(board.name),
        started=now.astimezone(UTC).isoformat(timespec="seconds").replace("+00:00", "Z"),
        emulated=board.emulated,
        icount=board.deterministic,
        cases=len(plan.cases),
        starts=starts,
        asked=plan.keys,
        tas_signed_with_published_key=all_signed_with_published_key(
            [*built_tas(board), *board.guests]
        ),
        firmware=board.firmware,
        **source,
    )


def measure(
    board: Board,
    plan: Plan,
    directory: Path,
    watcher: RunListener,
    starts: Starts | None = None,
    *,
    options: Sequence[str] = (),
    limit_s: float | None = None,
    before: Path | None = None,
    **source: Any,
) -> Outcome:
    """Runs a plan on an open board that is set up. `options` are teebench's; a start may take
    `limit_s` seconds (None: ten times its estimate, at least 600); `source` is for `header`. With
    `before`, a run's file, the new run has its records, too, and the plan is what it lacks.

    A lost connection, Ctrl-C, a full disk, a board or a TEE that hangs, or a program that dies
    leaves the records so far in the file; the end record names the cause. After a TEE that hangs,
    the cases that need no TEE are measured in a start of their own.
    """
    starts = starts or Starts()
    limit_s = limit_s or max(600.0, 10 * seconds(plan, deterministic=board.deterministic))
    with shutdown.undisturbed(), RunWriter(directory) as writer:
        begun = header(board, plan, starts.count, datetime.now(UTC), **source)
        number = earlier = _begin(writer, begun, before)
        error: errors.TeemarkError | None = None
        measured, todo = False, [(plan, starts)] * starts.count
        while todo:
            number += 1
            part, how = todo.pop(0)
            start = records.Start(number=number, kind=how.kind, resumes=before is not None)
            attempt = _Attempt(board, part, writer, watcher, start, options, limit_s)
            cause = attempt.run(how.again if number > earlier + 1 else None)
            if isinstance(cause, errors.TeemarkError):
                error = error or cause
            measured = measured or attempt.machine is not None
            rest = without_tee(part) if isinstance(cause, errors.TeeHangs) else None
            if not measured and rest is None:
                writer.discard()  # leaves no file if nothing was measured
                nothing = f"{board.name}: {PROGRAM} said nothing"
                raise error or cause or errors.DataError(nothing)
            if cause is not None:
                with contextlib.suppress(errors.DataError):
                    attempt.broken_off(cause)
            if isinstance(cause, SystemExit):
                writer.finish()
                raise cause
            if rest is not None:
                todo = [(rest, Starts())]
            elif cause is not None or attempt.end is None or not attempt.end.complete:
                break
        return Outcome(file=writer.finish(), error=error)


def _begin(writer: RunWriter, begun: records.Run, before: Path | None) -> int:
    """Writes a run's first record, and all records of the run that it resumes; returns the number
    of that run's starts."""
    if before is None:
        writer.record(begun)
        return 0
    old = read(before)
    if (head := old.header) is not None:  # What made the run is the command that began it
        labels, keys = head.labels | begun.labels, head.asked or begun.asked
        about = {"asked": keys, "cases": len(keys or ()), "labels": labels}
        begun = msgspec.structs.replace(begun, command=head.command, **about)
    writer.record(begun)
    with locate(before).open("rb") as lines:
        for number, line in enumerate(lines):
            if line.endswith(b"\n") and (number or old.header is None):
                writer.line(line)
    return old.begun


def without_tee(plan: Plan) -> Plan | None:
    """Returns the plan with only its cases that need no TEE; None if no case or every case does."""
    cases = tuple(case for case in plan.cases if not _needs_tee(case))
    if not cases or len(cases) == len(plan.cases):
        return None
    return replace(plan, cases=cases, teehash=())


def _needs_tee(case: CaseLine) -> bool:
    backend = case.work.backend
    return backend in (TEE, PKCS11.name) or backend.startswith(("ta-", "tee-"))


def samples_of(case: CaseLine) -> int:
    """Returns the number of samples of a case that one start takes."""
    return (case.samples or _DEFAULT_SAMPLES) * max(1, len(case.repeat))


def _most_records(plan: Plan) -> int:
    """Returns the number of records of one start above which the board must be sending nonsense:
    ten times the plan's records. A case for any driver counts as thirty cases."""
    samples = sum(
        samples_of(case) * (30 if case.work.backend.endswith(f":{ANY_DRIVER}") else 1)
        for case in plan.cases
    )
    return 2000 + 10 * (samples + 10 * len(plan.cases) + sum(step.runs for step in plan.teehash))


@dataclass(slots=True)
class _Attempt:
    """One start: its raw lines go to the file, its records to the watcher; the end record comes
    last."""

    board: Board
    plan: Plan
    writer: RunWriter
    watcher: RunListener
    start: records.Start
    options: Sequence[str]
    limit_s: float
    machine: records.Machine | None = None
    end: records.End | None = None
    _taken: int = 0
    _wrong: errors.DataError | None = None
    _end_line: bytes = b""

    def run(self, again: Callable[[], None] | None) -> BaseException | None:
        """Runs the start. Returns the exception that broke it off, or None: a TeemarkError, or the
        KeyboardInterrupt or SystemExit of this process."""
        with shutdown.at_last(self._salvage):
            try:
                self.writer.record(self.start)
                with shutdown.heeding():
                    self._heed(again)
                self.writer.line(self._end_line)
            except OSError as problem:
                place = problem.filename or "a temporary file"
                return errors.DataError(f"{place}: can't be written here: {problem.strerror}")
            except (errors.TeemarkError, KeyboardInterrupt, SystemExit) as problem:
                return problem
        return None

    def _heed(self, again: Callable[[], None] | None) -> None:
        """Does what a signal may break off at any moment: all but writing the last record."""
        try:
            if again is not None:
                again()
            self.watcher.record(self.start)
            self._measure()
        except errors.TeemarkError as problem:
            self.board.explain(problem)
            raise

    def _measure(self) -> None:
        lines = case_lines(self.plan.cases).encode()
        # The board file can allow teebench an action that is off by default.
        allowed = ["--allow-rpmb"] if self.board.config.rpmb else []
        argv = [PROGRAM, *allowed, *self.options]
        run = self._stream
        if self.board.deterministic:
            self.watcher.quiet()
            run = self._fetch
        status, complaint = run(argv, lines, Silence(self.board, self.limit_s))
        problem = plan_check.mistake(self.plan, complaint) if status == _USAGE else None
        if problem is not None:
            raise problem
        self._judge(status, complaint)
        if self.end is not None and self.end.complete:
            hashed = teehash_steps.records(self.board, self.plan.teehash, self.limit_s)
            self._take(msgspec.json.encode(record) + b"\n" for record in hashed)

    def _stream(self, argv: list[str], cases: bytes, silence: Silence) -> tuple[int, str]:
        with self.board.stream(argv, stdin=cases) as process:
            self._take(_watched(process.lines(_TICK_S), silence, self.watcher))
            return process.wait(LEAVING_S), process.complaint

    def _fetch(self, argv: list[str], cases: bytes, silence: Silence) -> tuple[int, str]:
        """Fetches the records after the end, since packets would be measured."""
        board, status = self.board, 0
        ending: BaseException | None = None
        with board.folder() as folder:
            board.script('cat >"$1"', f"{folder}/cases", stdin=cases)
            places = ("--cases", f"{folder}/cases", "--output", f"{folder}/records")
            with board.stream(quietly(*argv, *places, *_QUIET_OPTIONS)) as process:
                try:
                    for _ in _watched(process.chunks(_TICK_S), silence, self.watcher):
                        pass
                    status = process.wait(LEAVING_S)
                except (KeyboardInterrupt, SystemExit, errors.TeeHangs) as problem:
                    ending = problem  # what was measured is still on the board
                try:
                    script = 'cd "$1" && cat records 2>/dev/null || cat records.partial'
                    with board.stream(command_lines.script(script, folder)) as read:
                        self._take(read.lines(timeout=_SENDING_S))
                except errors.BoardError:
                    if ending is None:
                        raise
            if ending is not None:
                raise ending
            return status, process.complaint

    def _take(self, lines: Iterable[bytes]) -> None:
        most = _most_records(self.plan)
        for line in lines:
            if not line.endswith(b"\n"):
                continue  # the connection broke in the middle of the line
            self._taken += 1
            if self._taken > most:
                raise errors.BoardError(
                    f"{self.board.name}: {PROGRAM} sends many more records than the plan asks for",
                    hint=f"is it this teemark's? `teemark setup {self.board.name}` installs that",
                )
            if self._is_end(line):
                self._end_line = line
            else:
                self.writer.line(line)

    def _is_end(self, line: bytes) -> bool:
        if not line.strip() or self._wrong is not None:
            return False
        file, number = str(self.writer.final), self.writer.lines + 1
        try:
            record = decode_line(line, file=file, number=number)
        except errors.DataError as error:
            self._wrong = error
            return False
        if isinstance(record, records.Machine):
            self.machine = record
        elif isinstance(record, records.End):
            self.end = record
        self.watcher.record(record)
        return isinstance(record, records.End)

    def _judge(self, status: int, complaint: str) -> None:
        name = self.board.name
        if self._wrong is not None:
            raise self._wrong
        if self.end is not None:
            return
        if shutdown.signalled() and status == 128 + shutdown.signalled():
            shutdown.unwind()  # it ended on our signal, before its end record
        lines = complaint.splitlines()
        lines = [line for line in lines if ": hint: " not in line and not line.startswith("Try '")]
        last = f": {answers.last_line(lines[-1])}" if lines else ""
        how = f"ended with status {status}"
        if status > 128:
            names = {s.value: s.name for s in signal.Signals}
            how = f"was killed by {names.get(status - 128, f'signal {status - 128}')}"
        raise errors.CommandFailed(
            f"{name}: {PROGRAM} {how} before its end record{last}",
            hint=f"see `teemark setup {name}`" if status in (126, 127) else None,
        )

    def broken_off(self, cause: BaseException) -> None:
        """Writes the end record in teebench's place; after unreadable records it writes none."""
        if self._wrong is not None:
            return
        message = cause.message if isinstance(cause, errors.TeemarkError) else None
        reason = "stopped"
        if isinstance(cause, errors.ConnectionLost | errors.ConnectError):
            reason = "connection-lost"
        elif isinstance(cause, errors.CommandFailed):
            reason = "program-failed"
        elif isinstance(cause, KeyboardInterrupt):
            reason = "interrupted"
        elif isinstance(cause, SystemExit):
            message = "teemark was ended by a signal"
        # If teebench had ended properly, its counts stay: a later step was broken off.
        end = self.end or records.End(complete=False, reason=reason)
        end = msgspec.structs.replace(end, complete=False, reason=reason, message=message)
        self.writer.last_record(end)

    def _salvage(self) -> None:
        """Finishes the file as the last act of a process that can't end in order."""
        if self.machine is None and self.start.number == 1:
            self.writer.discard()
            return
        interrupted = shutdown.signalled() == signal.SIGINT
        self.broken_off(KeyboardInterrupt() if interrupted else SystemExit())
        self.writer.finish()


def _watched(parts: Iterable[bytes], silence: Silence, watcher: RunListener) -> Iterator[bytes]:
    """Yields teebench's output in parts. After each part, and during silence, checks the board."""
    for part in parts:
        if part:
            yield part
        else:
            watcher.waiting()
        silence.look(heard=bool(part))


_TICK_S = 1.0
_SENDING_S = 600.0
"""Seconds allowed for fetching all records: 6 MB over the slowest connection."""

_BYTE_NS = 60.0
"""Nanoseconds for a byte, with checking the result: plain C on a small core, or emulation."""

_COUNTED_BYTE_NS = {"tee": 90.0, "ta-c": 45.0, "c": 45.0, "": 5.0}
"""Nanoseconds for a byte on a board that counts instructions, by backend; "": all others."""
_TICKS_S = 0.008
"""Seconds that each sample waits for a tick on a board that counts instructions."""

_UNCOUNTED = 0.45
"""Time of a call on a virtual board that doesn't count, divided by the time on one that does."""

_TRACED_LEAST, _TRACED_MOST, _TRACED_S = 6, 32, 0.5
"""Fewest and most traced calls of a case, and the seconds for all of them, as in teebench."""
_TRACE_S = 0.015
"""Seconds to start and stop the kernel's tracing for each traced call."""

_PREPARING_S = 0.05
_PREPARING_CALLS = 3
"""Calls before a case's samples: a first one, a check, and one to find the calls of a sample."""
_HASHING_S = 0.9
"""Seconds of a teehash run besides its bytes: for the program, the file and a session."""


def seconds(plan: Plan, *, deterministic: bool, events: bool = False) -> float:
    """Returns the estimated seconds of one start of a plan, without booting. The board's speed
    isn't known: the estimate is right within a factor of two on the virtual boards, and too long
    for fast hardware. `events` adds the tracing of each TEE case after the samples."""
    rates, slow = (_COUNTED_BYTE_NS, 1.0) if deterministic else ({"": _BYTE_NS}, _UNCOUNTED)
    total = 0.0
    for case in plan.cases:
        samples = case.samples or _DEFAULT_SAMPLES
        shortest = (case.min_us if case.min_us is not None else _DEFAULT_MIN_US) / 1e6
        rate = rates.get(case.work.backend, rates[""]) + case.work.row.byte_ns
        work = rate * 1e-9 * (case.work.size or 0)
        call = case.work.row.least_ms / 1e3 * slow if _needs_tee(case) else 0.0
        total += _PREPARING_S + _PREPARING_CALLS * (call + work)
        for repeat in case.repeat or (1,):
            each = max(shortest, call + repeat * work)
            total += samples * (each + (_TICKS_S if deterministic else 0.0))
        if events and _needs_tee(case):
            traced = min(max(_TRACED_S / (call + work), _TRACED_LEAST), _TRACED_MOST)
            total += traced * (call + work + _TRACE_S)
    for step in plan.teehash:
        total += step.runs * (_HASHING_S + rates.get(step.backend, rates[""]) * 1e-9 * step.bytes)
    return total


def took_before(runs: Path, board: str, plan: Plan, starts: int, *, events: bool) -> float | None:
    """Returns the seconds that the last complete run in the folder `runs` took, with the same
    board, cases, number of starts and `events`; None if there is no such run."""
    for file in sorted(runs.glob(f"*-{board}-{plan.name}/run.ndjson"), reverse=True):
        try:
            first, whole = ends(file)
            began = datetime.fromisoformat(first.started).timestamp()
            same = whole and first.asked == plan.keys and first.starts == starts
            text = file.read_bytes() if same else b""
            if not same or b'"resumes":true' in text or events != (b'"trace_events":true' in text):
                continue
        except (OSError, ValueError, errors.DataError):
            continue
        took = file.stat().st_mtime - began
        return took if 0 < took < 86400 else None
    return None
