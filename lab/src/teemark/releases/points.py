# SPDX-License-Identifier: BSD-2-Clause
"""Keeps the results of each version in a folder, by content: the same sources, options, plan and
programs are measured once, and results of several machines are merged by copying folders."""

import hashlib
import re
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct

from teemark.base import paths, shutdown
from teemark.base.console import json_text, say, working
from teemark.base.errors import BoardError, DataError, TeemarkError
from teemark.base.files import write_whole
from teemark.base.work import Work
from teemark.boards import VirtualBoard, own_ta
from teemark.boards.config import BoardFile
from teemark.boards.optee import compiler
from teemark.boards.own_ta import OwnTa
from teemark.exact import record
from teemark.exact.record import TaCalls
from teemark.measure import runner
from teemark.model.compare import CaseReading, readings
from teemark.plan.file import Plan, case_lines
from teemark.releases.versions import Repository, Version
from teemark.run import reader
from teemark.run.reader import RUN_FILE
from teemark.run.records import Commit

FILE = "version.json"

FASTER = "CFG_BUILD_IN_TREE_TA=n"
"""Leaves out OP-TEE's own TAs, a fifth of the build: no case here needs them."""


class Point(Struct, frozen=True, kw_only=True):
    """One version's result, beside its run if it could be measured."""

    version: Version
    release: bool  # False: a bisection measured it, and it is no point of the line
    reason: str = ""  # Why it wasn't measured, or not whole
    plan: str
    board: str
    compiler: str
    options: tuple[str, ...] = ()
    unread: tuple[str, ...] = ()  # Our options that this version doesn't know, with their values


class _Measured(Point, frozen=True, kw_only=True):
    """A version's result with its readings, as `releases --json` writes it."""

    readings: tuple[CaseReading, ...]


class _File(Struct, frozen=True):
    versions: tuple[_Measured, ...]


@dataclass(frozen=True)
class Kept:
    """A version's result and the folder or file that has it."""

    folder: Path
    point: Point
    readings: Mapping[str, CaseReading] = field(default_factory=dict)
    """Readings of the run, in instructions a call, by case; {} without a run."""

    @property
    def name(self) -> str:
        return self.point.version.name

    @property
    def commit(self) -> str:
        return self.point.version.commit

    def cost(self, case: str) -> float | None:
        """Returns the instructions of a case; None if they weren't counted."""
        reading = self.readings.get(case)
        return reading.least if reading is not None and reading.steady else None


@dataclass(frozen=True)
class Line:
    """The plan and the way to measure it, which are the same for all versions."""

    file: BoardFile
    repository: Repository
    plan: Plan
    place: Path
    """The folder of the results."""
    calls: TaCalls = field(default_factory=TaCalls)
    options: tuple[str, ...] = ()

    def folder(self, version: Version) -> Path:
        """Returns the folder of a version's result. Its name has the digest of all that decides
        the figures: sources, options, compiler, board, plan, and our programs and TAs."""
        lines = case_lines(self.plan.cases), *(step.key for step in self.plan.teehash)
        words = (version.tree, *sorted(self.options), compiler(), str(self.file.config), *lines)
        digest = hashlib.sha256("\0".join((*words, _programs(self.calls.ta))).encode()).hexdigest()
        return self.place / f"{re.sub(r'[^A-Za-z0-9_.-]', '-', version.name)}-{digest[:12]}"

    def measure(self, version: Version, *, release: bool = True, retry: bool = False) -> Kept:
        """Returns a version's result, after building, booting and measuring it if necessary. A
        version that can't be built or booted is a result with its reason."""
        folder = self.folder(version)
        kept = read(folder)
        if kept is not None and not (retry and kept.point.reason):
            if release and not kept.point.release:
                self._write(folder, msgspec.structs.replace(kept.point, release=True))
            return kept
        shutil.rmtree(folder, ignore_errors=True)  # of a command that was interrupted
        point = Point(
            version=version,
            release=release,
            plan=self.plan.name,
            board=self.file.name,
            compiler=compiler(),
            options=self.options,
        )
        try:
            board = self.build(version)
            unread = board.optee.images.parent / "unread"
            if unread.is_file():
                point = msgspec.structs.replace(point, unread=tuple(unread.read_text().split()))
            self._run(board, version, folder)
        except (BoardError, DataError) as error:
            point = msgspec.structs.replace(point, reason=_why(error))
            say(f"teemark: {version.name}: {point.reason}")
        self._write(folder, point)
        result = read(folder)
        assert result is not None
        return result

    def build(self, version: Version) -> VirtualBoard:
        """Returns a board, not yet booted, with a build of the version."""
        if not version.commit:
            return VirtualBoard(record.with_optee(self.file, "debian", ()))
        faster = (FASTER,) if self.repository.has(version, FASTER.partition("=")[0]) else ()
        with self.repository.checked_out(version) as tree:
            board = VirtualBoard(record.with_optee(self.file, str(tree), (*faster, *self.options)))
            with working(f"building OP-TEE {version.name} …"):
                board.optee  # noqa: B018 - builds it, while its source is there
        return board

    def _run(self, board: VirtualBoard, version: Version, folder: Path) -> None:
        guest = own_ta.build_for(self.calls.ta, self.plan.ta, board)
        with (
            own_ta.ready_board(board, guest),
            working(f"{self.plan.name} on OP-TEE {version.name} …"),
        ):
            outcome = runner.measure(
                board,
                self.plan,
                folder,
                runner.RunListener(),
                commit=Commit(hash=version.commit) if version.commit else None,
                labels={"optee": version.name, "date": version.date},
            )
        if outcome.error is not None:
            raise outcome.error
        why = reader.read(folder).incomplete
        if why is not None:  # a signal ended it: nothing is kept
            raise KeyboardInterrupt if shutdown.signalled() else DataError(f"{folder}: {why}")

    def _write(self, folder: Path, point: Point) -> None:
        write_whole(folder / FILE, json_text(msgspec.to_builtins(point)))


def _why(error: TeemarkError) -> str:
    """Returns an error in one line: its first, and what a compiler said in the others."""
    first, *others = error.message.strip().split("\n")
    detail = next((line.strip() for line in others if "rror" in line), "")
    return " ".join(filter(None, (first.partition(" (above: ")[0], detail)))


def _programs(ta: OwnTa | None) -> str:
    """Returns a digest of what measures: the TAs' sources, the user's own too, and teebench."""
    teebench = paths.built_programs("aarch64") / "teebench"
    sha256 = hashlib.sha256(teebench.read_bytes() if teebench.is_file() else b"")
    for top in (paths.root() / "ta", paths.root() / "common", *([ta.source] if ta else [])):
        for path in sorted(top.rglob("*")) if top.is_dir() else [top]:
            kinds = (".c", ".h", ".mk", ".S", ".ta", "")
            tested = "tests" in path.relative_to(top).parts
            if path.is_file() and path.suffix in kinds and not tested:
                sha256.update(path.read_bytes())
    return sha256.hexdigest()


def read(folder: Path) -> Kept | None:
    """Returns the result in a folder; None if there is none, or only part of one."""
    try:
        point = msgspec.json.decode((folder / FILE).read_bytes(), type=Point)
    except FileNotFoundError:
        return None
    except (OSError, msgspec.DecodeError) as error:
        raise DataError(f"{folder / FILE}: can't be read: {error}") from None
    has_run = not point.reason and (folder / RUN_FILE).is_file()
    return Kept(folder, point, readings(reader.read(folder)) if has_run else {})


def releases(place: Path) -> list[Kept]:
    """Returns the results of a folder that are points of its line, in the order of the versions:
    by the time of the commit, and for each version the newest result. Of a file that `releases
    --json` wrote it returns all."""
    if place.is_file():
        return _of_file(place)
    found: dict[str, tuple[float, Kept]] = {}
    for file in sorted(place.glob(f"*/{FILE}")):
        kept = read(file.parent)
        if kept is None or not kept.point.release:
            continue
        age = file.stat().st_mtime
        if kept.name not in found or found[kept.name][0] < age:
            found[kept.name] = age, kept
    return sorted((kept for _, kept in found.values()), key=_order)


def _of_file(file: Path) -> list[Kept]:
    try:
        versions = msgspec.json.decode(file.read_bytes(), type=_File).versions
    except (OSError, msgspec.DecodeError) as error:
        raise DataError(f"{file}: no output of `releases --json`: {error}") from None
    results = []
    for each in versions:
        whole = (replace(r, work=Work.of(r.case) if r.world else None) for r in each.readings)
        results.append(Kept(file, each, {reading.key: reading for reading in whole}))
    return results


def as_data(kept: Kept) -> dict[str, Any]:
    """Returns a result with its readings for a file from which `releases` reads it again. What a
    case does is left out: its key says it."""
    slim = [replace(reading, work=None) for reading in kept.readings.values()]
    data: dict[str, Any] = msgspec.to_builtins(kept.point)
    return data | {"readings": msgspec.to_builtins(slim)}


def _order(kept: Kept) -> tuple[str, int, tuple[int, ...]]:
    version = kept.point.version
    numbers = tuple(map(int, re.findall(r"\d+", kept.name)))
    return version.date, version.time, numbers


def prune(keep: int) -> int:
    """Removes all but the `keep` builds of OP-TEE that were used last; returns how many. Results
    stay: a version that was measured isn't built again."""
    ready = sorted(
        paths.optee_builds().glob("tree-*/ready"), key=lambda file: -file.stat().st_mtime
    )
    for file in ready[keep:]:
        file.unlink()  # first: half a build is no build
        shutil.rmtree(file.parent, ignore_errors=True)
    return len(ready[keep:])


def whole(points: Sequence[Kept]) -> list[Kept]:
    """Returns the results that have a run."""
    return [kept for kept in points if kept.readings]
