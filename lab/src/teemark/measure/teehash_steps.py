# SPDX-License-Identifier: BSD-2-Clause
"""Runs the steps of a plan that use teehash, on files with known digests that are made on the
board.

Each run of a step becomes a `teehash` record with teehash's own JSON report, untouched. A wrong
digest is a `fail`, and a step that can't run is a `skip` with its reason.
"""

import hashlib
from collections.abc import Iterator, Sequence

import msgspec

from teemark.base.errors import BoardError, CommandFailed
from teemark.boards import answers
from teemark.boards.board import Board
from teemark.boards.command_lines import ROOMY, quietly
from teemark.plan.file import HashStep
from teemark.run.records import AnyRecord, Fail, Skip, Teehash

PROGRAM = "teehash"

_PATTERN = b"teemark\n"
"""The files repeat this pattern on every board, so that their digests are known in advance."""

# $1: bytes wanted. Prints "disk FOLDER" for a folder with that much room; if only memory has the
# room, where files are always cached, "tmpfs FOLDER". A folder is made as a trial: for root,
# BusyBox's `test -w` says yes on a read-only file system, too.
_FOLDER = f"""\
need=$(( $1 / 1024 + 1024 ))
memory=
for d in {ROOMY}; do
  made=$(mktemp -d "$d/teemark.XXXXXX" 2>/dev/null) && rmdir "$made" || continue
  set -- $(df -P -k "$d" | tail -n 1)
  [ "$4" -ge "$need" ] || continue
  if [ "$1" = tmpfs ]; then [ "$memory" ] || memory=$d; continue; fi
  echo "disk $d" && exit 0
done
[ "$memory" ] && echo "tmpfs $memory" && exit 0
echo "no folder with $need KiB of room" >&2
exit 1
"""

_MEDIA = {"disk": "/.+", "tmpfs": "/.+"}

_MAKE = 'yes teemark | head -c "$1" >"$2" && sync'
_READ = 'cat "$1" >/dev/null'


class _Hashed(msgspec.Struct):
    digest: str | None = None
    error: str | None = None


class _Report(msgspec.Struct):
    """The fields of teehash's report that decide whether the report is kept."""

    files: tuple[_Hashed]


def expected_digest(algorithm: str, size: int) -> str:
    """Returns the digest of the first `size` bytes of the pattern, in hex."""
    digest = hashlib.new(algorithm.replace("sha3-", "sha3_"))
    whole = _PATTERN * (1 << 17)
    for _ in range(size // len(whole)):
        digest.update(whole)
    digest.update(whole[: size % len(whole)])
    return digest.hexdigest()


def records(board: Board, steps: Sequence[HashStep], limit_s: float) -> Iterator[AnyRecord]:
    """Yields the records of all runs; a run may take `limit_s` seconds. Runs of different steps
    take turns, so that a slow minute of the board affects all steps. A step that failed or can't
    run isn't tried again."""
    if not steps:
        return
    sizes = sorted({step.bytes for step in steps})
    try:
        answer = board.ask("a folder for files", _MEDIA, _FOLDER, str(sum(sizes)))
    except CommandFailed as error:
        for step in steps:
            yield Skip(case=step.key, code="no-room", reason=error.message)
        return
    medium, parent = answer.only()
    with board.folder(parent) as folder:
        for size in sizes:
            board.script(_MAKE, str(size), f"{folder}/{size}", timeout=None)
        left = []
        for step in steps:
            if step.cache == "cold" and medium == "tmpfs":
                reason = f"{parent} is in memory: a file there is always cached"
                yield Skip(case=step.key, code="no-disk", reason=reason)
            else:
                left.append((step, expected_digest(step.algorithm, step.bytes)))
        for seq in range(max(step.runs for step in steps)):
            for step, digest in list(left):
                if seq >= step.runs:
                    continue
                file = f"{folder}/{step.bytes}"
                record = _once(board, step, file, digest, seq=seq, limit_s=limit_s)
                if not isinstance(record, Teehash):
                    left.remove((step, digest))
                yield record


def _once(
    board: Board, step: HashStep, file: str, digest: str, *, seq: int, limit_s: float
) -> AnyRecord:
    if step.cache == "warm":
        board.script(_READ, file, timeout=limit_s)
    argv = step.argv(file)
    words = quietly(*argv) if board.deterministic else argv
    result = board.capture(words, check=False, timeout=limit_s)
    complaint = result.complaint.splitlines()[0] if result.complaint else "it said nothing"
    try:
        report = answers.from_json(board.name, "a file's digest", result.stdout)
        (hashed,) = answers.typed(board.name, "a file's digest", report, _Report).files
    except BoardError:
        hashed = _Hashed(error=complaint)
    if result.status != 0 or hashed.error:
        reason = f"{PROGRAM} ended with status {result.status}: {hashed.error or complaint}"
        return Skip(case=step.key, code="teehash-failed", reason=reason)
    if hashed.digest != digest:
        reason = f"wrong digest: {hashed.digest}, but it is {digest}"
        return Fail(case=step.key, reason=reason)
    return Teehash(case=step.key, seq=seq, argv=tuple(argv), report=report)
