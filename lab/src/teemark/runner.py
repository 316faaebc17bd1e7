# SPDX-License-Identifier: BSD-2-Clause
"""Run a plan on a board: cases in, raw records out, nothing lost on the way.

`measure` knows no display and prints nothing: it tells a `Watcher` what arrives. On a board whose
clock counts instructions nothing may be on the wire while it measures, so there the records are
written to a file on the board and fetched afterwards.
"""

from __future__ import annotations

import contextlib
import tempfile
import time
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import IO, TYPE_CHECKING, Protocol

from teemark import __version__, plan, teehash_steps
from teemark.boards.install import tas as installed_tas
from teemark.boards.quiet import quietly
from teemark.boards.ta_key import all_signed_with_published_key
from teemark.errors import BoardError, CommandFailed, ConnectionLost, DataError, TeemarkError
from teemark.plan import Case, Plan
from teemark.run.reader import decode_line
from teemark.run.records import SCHEMA, AnyRecord, End, Machine, Run
from teemark.run.writer import RunWriter

if TYPE_CHECKING:
    from teemark.boards.board import Board

PROGRAM = "teebench"

SSH_FAILED = 255
"""Status of ssh itself; teebench has no such status."""

_QUIET_OPTIONS = ("--settle", "2", "--align-tick", "8", "--quiet-until-end")
"""The kernel's timer ticks every 4 ms."""


class Watcher(Protocol):
    """Sees a run go by."""

    def record(self, record: AnyRecord) -> None:
        """A record arrived."""

    def quiet(self) -> None:
        """Nothing will arrive before the end."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of it. The file is a run in any case, if perhaps an incomplete one."""

    file: Path
    error: TeemarkError | None = None  # why it is incomplete, when that isn't in the file itself


def default_directory(runs: Path, board: str, name: str, now: datetime) -> Path:
    """runs/<UTC timestamp>-<board>-<plan>"""
    return runs / f"{now.astimezone(UTC):%Y%m%dT%H%M%SZ}-{board}-{name}"


def header(board: Board, asked: Plan, cases: Iterable[Case], now: datetime) -> Run:
    """The record that goes before all others."""
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
        cases=sum(1 for _ in cases),
        tas_signed_with_published_key=all_signed_with_published_key(installed_tas()),
    )


def measure(board: Board, asked: Plan, directory: Path, watcher: Watcher) -> Outcome:
    """Run a plan on an open board that is set up.

    A connection that drops, Ctrl-C and a program that dies leave what was measured so far in
    the file, which then has no end record, or one that says that it is incomplete.
    """
    cases = asked.cases
    error: TeemarkError | None = None
    with RunWriter(directory) as writer, tempfile.TemporaryFile() as complaints:
        writer.header(header(board, asked, cases, datetime.now(UTC)))
        sink = _Sink(writer, watcher)
        try:
            if board.deterministic:
                status = _fetch(board, cases, sink, watcher, complaints)
            else:
                status = _stream(board, cases, sink, complaints)
            error = sink.verdict(board.name, status, _text(complaints))
            with contextlib.suppress(KeyboardInterrupt):
                if error is None and sink.end is not None and sink.end.complete:
                    teehash_steps.run(board, asked.teehash, sink.take)
                sink.close()
        except (TeemarkError, OSError) as problem:
            error = (
                problem
                if isinstance(problem, TeemarkError)
                else DataError(f"{directory}: can't be written: {problem.strerror}")
            )
        if sink.machine is None:
            # Nothing was measured: no file that pretends to be a run.
            writer.close()
            writer.partial.unlink(missing_ok=True)
            with contextlib.suppress(OSError):
                directory.rmdir()
            raise error or DataError(f"{board.name}: {PROGRAM} said nothing")
        return Outcome(file=writer.finish(), error=error)


class _Sink:
    """Takes raw lines: to the file, and to whoever watches. The end record waits for the rest."""

    def __init__(self, writer: RunWriter, watcher: Watcher) -> None:
        self._writer = writer
        self._watcher = watcher
        self._number = 1  # the header
        self._wrong: DataError | None = None
        self.machine: Machine | None = None
        self.end: End | None = None
        self._end_line = b""

    def take(self, lines: Iterable[bytes]) -> None:
        for line in lines:
            self._number += 1
            if self._look(line):
                self._end_line = line
            else:
                self._writer.line(line)

    def close(self) -> None:
        """Everything was taken: the end record goes last."""
        if self._end_line:
            self._writer.line(self._end_line)

    def _look(self, line: bytes) -> bool:
        """Is it the end record?"""
        if not line.strip() or self._wrong is not None:
            return False
        try:
            record = decode_line(line, file=str(self._writer.final), number=self._number)
        except DataError as error:
            if line.endswith(b"\n"):  # else the connection broke: the reader says so
                self._wrong = error
            return False
        if isinstance(record, Machine):
            self.machine = record
        elif isinstance(record, End):
            self.end = record
        self._watcher.record(record)
        return isinstance(record, End)

    def verdict(self, board: str, status: int, complaint: str) -> TeemarkError | None:
        """What is wrong, now that the program ended; None when nothing is, or when the records
        say it themselves."""
        if self._wrong is not None:
            return self._wrong
        if self.end is not None:
            return None
        if status == SSH_FAILED:
            return ConnectionLost(
                f"{board}: the connection ended before {PROGRAM} did",
                hint="did the board crash, reboot or lose its network? Look at its console",
            )
        said = f": {complaint.splitlines()[-1]}" if complaint else ""
        return CommandFailed(
            f"{board}: {PROGRAM} ended with status {status} before its end record{said}",
            argv=[PROGRAM],
            status=status,
            stderr=complaint,
            hint=f"install it with `teemark setup {board}`" if status == 127 else None,
        )


def _allowed(board: Board) -> tuple[str, ...]:
    """What the board file lets teebench do that it doesn't do unasked."""
    return ("--allow-rpmb",) if board.config.rpmb else ()


def _stream(board: Board, cases: Iterable[Case], sink: _Sink, complaints: IO[bytes]) -> int:
    """Records come over the wire while the board measures."""
    with tempfile.TemporaryFile() as lines:
        lines.write(plan.case_lines(cases).encode())
        lines.seek(0)
        with board.stream([PROGRAM, *_allowed(board)], stdin=lines, stderr=complaints) as process:
            sink.take(process.lines())
            return process.wait()


def _fetch(
    board: Board, cases: Iterable[Case], sink: _Sink, watcher: Watcher, complaints: IO[bytes]
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
            command = quietly(PROGRAM, *places, *_QUIET_OPTIONS, *_allowed(board))
            with board.stream(command, stderr=complaints) as process:
                status = process.wait()
            left = board.script('cd "$1" && ls', folder).text.split()
            for name in ("records", "records.partial"):
                if name in left:
                    board.pull(f"{folder}/{name}", Path(local) / name)
                    with (Path(local) / name).open("rb") as stream:
                        sink.take(stream)
                    break
            return status
    finally:
        with contextlib.suppress(BoardError):
            board.script('rm -rf "$1"', folder)


def _text(stream: IO[bytes]) -> str:
    stream.seek(0)
    return stream.read().decode(errors="replace").strip()


@dataclass(slots=True)
class Progress:
    """Counts records, and says how far a run is. Samples are interleaved over all cases, so
    their share is the share of the time, as far as one can know."""

    asked: dict[str, int]  # samples expected, by case
    files: dict[str, int] = field(default_factory=dict)  # runs of teehash expected, by case
    hashed: int = 0  # runs of teehash seen: they come after all samples
    cases: int = 0
    skipped: int = 0
    failed: int = 0
    samples: int = 0
    current: str = ""
    began: float | None = None  # of the first sample

    @classmethod
    def of(cls, asked: Plan, default_samples: int = 30) -> Progress:
        return cls(
            {
                case.key: (case.samples or default_samples) * max(1, len(case.repeat))
                for case in asked.cases
            },
            {step.key: step.runs for step in asked.teehash},
        )

    def see(self, record: AnyRecord) -> None:
        kind = record.__struct_config__.tag
        key = getattr(record, "case", None)
        if kind == "sample":
            # what a TA counted along is no sample of its own
            self.samples += getattr(record, "source", "") != "ta-counter"
            self.current = key or ""
            if self.began is None:
                self.began = time.monotonic()
        elif kind == "teehash":
            self.hashed += 1
            self.current = key or ""
        elif kind == "case":
            self.cases += 1
            self.current = key or ""
        elif kind in ("skip", "fail"):
            self.skipped += kind == "skip"
            self.failed += kind == "fail"
            self.asked.pop(key or "", None)
            self.files.pop(key or "", None)

    @property
    def files_expected(self) -> int:
        return max(self.hashed, sum(self.files.values()))

    @property
    def expected(self) -> int:
        return sum(self.asked.values())

    def seconds_left(self, now: float) -> float | None:
        """None before there is something to tell from."""
        if self.began is None or self.samples < 20 or now - self.began < 1:
            return None
        return (now - self.began) / self.samples * max(0, self.expected - self.samples)
