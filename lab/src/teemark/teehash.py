# SPDX-License-Identifier: BSD-2-Clause
"""teehash as a measuring program: the `[[teehash]]` blocks of a plan, and how they are run.

    [[teehash]]
    sizes = [4488896, "4MiB"]       # of the file, which is made on the board
    algorithms = ["sha256"]
    backends = ["tee", "c"]
    modes = ["stream", "oneshot"]   # one call or many
    caches = ["warm", "cold"]       # is the file in the page cache before?
    chunk = "1MiB"                  # a call when streaming
    reader = "inline"               # who reads: thread, inline or auto
    runs = 8

A block stands for every combination. Each step becomes a case key
`teehash/ALGORITHM/BACKEND/MODE/CACHE/SIZE/CHUNK/READER`, and each run of it a `teehash` record
that holds teehash's own JSON report, untouched. Every digest is checked against one computed
here; a wrong one is a `fail`, and a step that can't run is a `skip` with its reason.
"""

from __future__ import annotations

import contextlib
import hashlib
import itertools
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import msgspec

from teemark.boards.quiet import quietly
from teemark.errors import BoardError, CommandFailed, ConfigError
from teemark.run.records import AnyRecord, Fail, Skip, Teehash

if TYPE_CHECKING:
    from teemark.boards.board import Board

PROGRAM = "teehash"
PREFIX = "teehash"

MODES = ("stream", "oneshot", "auto", "tmpref")
CACHES = ("warm", "cold")
READERS = ("inline", "thread", "auto")

_PATTERN = b"teemark\n"
"""What the files hold, again and again: the same on every board, and its digest known here."""

# $1: bytes wanted. Says a folder that lies on a disk and has the room; with "tmpfs" after it when
# there is none but in memory, where a file is always cached.
_FOLDER = """\
need=$(( $1 / 1024 + 1024 ))
memory=
for d in /data /var/tmp "$HOME" /tmp; do
  [ -d "$d" ] && [ -w "$d" ] || continue
  set -- $(df -P -k "$d" | tail -n 1)
  [ "$4" -ge "$need" ] || continue
  if [ "$1" = tmpfs ]; then [ "$memory" ] || memory=$d; continue; fi
  mktemp -d "$d/teemark.XXXXXX" && echo disk && exit 0
done
[ "$memory" ] && mktemp -d "$memory/teemark.XXXXXX" && echo tmpfs && exit 0
echo "no folder with $need KiB of room" >&2
exit 1
"""

_MAKE = 'yes teemark | head -c "$1" >"$2" && sync'
_READ = 'cat "$1" >/dev/null'


@dataclass(frozen=True, slots=True)
class Step:
    """One way to hash one file, run `runs` times."""

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
            f"{PREFIX}/{self.algorithm}/{self.backend}/{self.mode}/{self.cache}/{self.bytes}/"
            f"{self.chunk}/{self.reader}"
        )

    def argv(self, file: str) -> list[str]:
        words = [
            PROGRAM,
            f"--algorithm={self.algorithm}",
            f"--backend={self.backend}",
            f"--mode={self.mode}",
            f"--chunk={self.chunk}",
            f"--reader={self.reader}",
            "--report=json",
        ]
        if self.mode == "oneshot":
            words.append(f"--oneshot-limit={self.bytes}")
        if self.cache == "cold":
            words.append("--cold")
        return [*words, file]


_WORD = {"modes": MODES, "caches": CACHES}
_LISTS = ("sizes", "algorithms", "backends", *_WORD)
_KEYS = frozenset({*_LISTS, "chunk", "reader", "runs"})


def parse(blocks: object, file: str, parse_size: Callable[[str], int]) -> tuple[Step, ...]:
    """The steps of a plan's `[[teehash]]` blocks; ConfigError names the file and the key."""
    if not isinstance(blocks, list) or not all(isinstance(block, dict) for block in blocks):
        raise ConfigError(f"{file}: teehash: must be tables, [[teehash]]")
    steps: list[Step] = []
    for index, block in enumerate(blocks, 1):
        for step in _expand(block, f"{file}: teehash[{index}].", parse_size):
            if any(step.key == other.key for other in steps):
                raise ConfigError(f"{file}: teehash[{index}]: {step.key} is there twice")
            steps.append(step)
    return tuple(steps)


def _expand(
    block: dict[str, object], where: str, parse_size: Callable[[str], int]
) -> Iterator[Step]:
    for key in block:
        if key not in _KEYS:
            raise ConfigError(
                f"{where}{key}: no such key", hint="known: " + ", ".join(sorted(_KEYS))
            )

    def size(key: str, value: object) -> int:
        if isinstance(value, int) and not isinstance(value, bool) and value >= 0:
            return value
        try:
            return parse_size(value) if isinstance(value, str) else parse_size("")
        except ValueError:
            raise ConfigError(
                f"{where}{key}: {value!r} is no size",
                hint='bytes as a number, or a text such as "4KiB"',
            ) from None

    def words(key: str, default: str) -> list[str]:
        values = block.get(key, [default])
        known = _WORD.get(key)
        if not isinstance(values, list) or not values:
            raise ConfigError(f"{where}{key}: must be a list with something in it")
        for value in values:
            if not isinstance(value, str) or (known and value not in known):
                hint = "known: " + ", ".join(known) if known else None
                raise ConfigError(f"{where}{key}: {value!r} isn't known", hint=hint)
        return values

    sizes = block.get("sizes")
    if not isinstance(sizes, list) or not sizes:
        raise ConfigError(f"{where}sizes: missing", hint="sizes of the files, such as [4488896]")
    reader = block.get("reader", "inline")
    if reader not in READERS:
        raise ConfigError(f"{where}reader: {reader!r} isn't known", hint=", ".join(READERS))
    runs = block.get("runs", 8)
    if not isinstance(runs, int) or isinstance(runs, bool) or runs < 1:
        raise ConfigError(f"{where}runs: must be a whole number from 1 on, not {runs!r}")
    chunk = size("chunk", block.get("chunk", 1 << 20))
    for algorithm, number, backend, mode, cache in itertools.product(
        words("algorithms", "sha256"),
        [size("sizes", value) for value in sizes],
        words("backends", "tee"),
        words("modes", "stream"),
        words("caches", "warm"),
    ):
        yield Step(number, algorithm, backend, mode, cache, chunk, str(reader), runs)


def expected_digest(algorithm: str, size: int) -> str:
    """Of the first `size` bytes of the pattern."""
    digest = hashlib.new(algorithm.replace("sha3-", "sha3_"))
    whole = _PATTERN * (1 << 17)
    for _ in range(size // len(whole)):
        digest.update(whole)
    digest.update(whole[: size % len(whole)])
    return digest.hexdigest()


def run(board: Board, steps: Iterable[Step], take: Callable[[Iterable[bytes]], None]) -> None:
    """Run all steps on the board and hand the lines of their records to `take`."""
    take(msgspec.json.encode(record) + b"\n" for record in records(board, tuple(steps)))


def records(board: Board, steps: tuple[Step, ...]) -> Iterator[AnyRecord]:
    """The records of all runs. Runs of different steps take turns, so that a slow minute of the
    board falls on all of them; a step that failed or can't run isn't tried again."""
    if not steps:
        return
    sizes = sorted({step.bytes for step in steps})
    try:
        made = board.script(_FOLDER, str(sum(sizes)))
    except CommandFailed as error:
        for step in steps:
            yield Skip(case=step.key, code="no-room", reason=error.message)
        return
    folder, medium = made.text.split()
    try:
        for size in sizes:
            board.script(_MAKE, str(size), f"{folder}/{size}")
        left = []
        for step in steps:
            if step.cache == "cold" and medium == "tmpfs":
                reason = f"{folder} is in memory: a file there is always cached"
                yield Skip(case=step.key, code="no-disk", reason=reason)
            else:
                left.append((step, expected_digest(step.algorithm, step.bytes)))
        for seq in range(max(step.runs for step in steps)):
            for step, digest in list(left):
                if seq >= step.runs:
                    continue
                record = _once(board, step, f"{folder}/{step.bytes}", digest, seq)
                if not isinstance(record, Teehash):
                    left.remove((step, digest))
                yield record
    finally:
        with contextlib.suppress(BoardError):
            board.script('rm -rf "$1"', folder)


def _once(board: Board, step: Step, file: str, digest: str, seq: int) -> AnyRecord:
    if step.cache == "warm":
        board.script(_READ, file)
    argv = step.argv(file)
    result = board.capture(quietly(*argv) if board.deterministic else argv, check=False)
    said = result.complaint.splitlines()[0] if result.complaint else "it said nothing"
    try:
        report = msgspec.json.decode(result.stdout)
    except msgspec.DecodeError:
        report = None
    files = report.get("files") if isinstance(report, dict) else None
    first = files[0] if isinstance(files, list) and files and isinstance(files[0], dict) else {}
    if result.status != 0 or not isinstance(report, dict) or first.get("error"):
        reason = f"{PROGRAM} ended with status {result.status}: {first.get('error') or said}"
        return Skip(case=step.key, code="teehash-failed", reason=reason)
    if first.get("digest") != digest:
        return Fail(
            case=step.key,
            reason=f"wrong digest: {first.get('digest')}, but it is {digest}",
        )
    return Teehash(case=step.key, seq=seq, argv=tuple(argv), report=report)
