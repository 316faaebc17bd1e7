# SPDX-License-Identifier: BSD-2-Clause
"""Does a board's TEE take our Trusted Applications? A session with each says so."""

from __future__ import annotations

from dataclasses import dataclass

import msgspec

from teemark.base import errors
from teemark.boards.answers import from_json, last_line
from teemark.boards.board import Board
from teemark.boards.config import SshConfig

PROGRAM = "teebench"

_REFUSED = "ta-rejected"
NO_TEE = "no-tee"

HANGS_S = 30.0
"""Seconds without an answer after which the TEE is said to hang. To load a TA takes at most some
seconds on the slowest boards."""


class Answer(msgspec.Struct, frozen=True, kw_only=True):
    """Holds what came back when a session was to be opened; a line of `teebench --open-tas`."""

    ta: str
    opened: bool
    memory: bool = False  # the TEE had no memory left for it
    code: str | None = None
    reason: str | None = None
    hint: str | None = None


@dataclass(frozen=True, slots=True)
class Ta:
    uuid: str
    name: str  # of its folder in ta/


def built(board: Board) -> tuple[Ta, ...]:
    """Our TAs that belong on a board."""
    folder = board.tas
    names = {path.name: path.relative_to(folder).parts[0] for path in folder.glob("*/**/*.ta")}
    return tuple(Ta(path.stem, names.get(path.name, "TA")) for path in sorted(folder.glob("*.ta")))


def open_each(board: Board) -> dict[Ta, Answer]:
    """Try every TA of ours on a board with a TEE."""
    tas = built(board)
    if not tas:
        return {}
    argv = [PROGRAM, "--open-tas", *(ta.uuid for ta in tas)]
    try:
        result = board.capture(argv, check=False, silence=HANGS_S)
    except errors.BoardError as error:
        if isinstance(error, errors.ConnectError | errors.ConnectionLost):
            raise
        raise errors.TeeHangs(
            f"{board.name}: the TEE doesn't answer: no session with a TA came back within "
            f"{HANGS_S:g} s",
            hint="see the secure world's console; only a reboot ends calls that hang",
        ) from None
    about = "which TAs the TEE takes"
    lines = (line for line in result.stdout.split(b"\n") if line.strip())
    answers = [from_json(board.name, about, line, Answer) for line in lines]
    by_uuid = {answer.ta: answer for answer in answers}
    if any(ta.uuid not in by_uuid for ta in tas):
        raise errors.CommandFailed(
            f"{board.name}: {PROGRAM} doesn't say {about}; it ended with status {result.status}: "
            f"{last_line(result.complaint)}",
            status=result.status,
        )
    return {ta: by_uuid[ta.uuid] for ta in tas}


def absent(answers: dict[Ta, Answer]) -> str | None:
    """Why the board has no TEE; None if it has one."""
    reasons = {answer.reason for answer in answers.values() if answer.code == NO_TEE}
    return next(iter(reasons), None)


def refused(board: Board, answers: dict[Ta, Answer]) -> errors.TaRefused | None:
    """The error where one is of no use. A TA that is too large for the TEE's memory is none: the
    cases that need it are skipped."""
    bad = [answer for answer in answers.values() if not (answer.opened or answer.memory)]
    if not bad:
        return None
    first = bad[0]
    hint = first.hint
    if first.code == _REFUSED and isinstance(board.config, SshConfig):
        hint = (
            f"they were built with {board.kit.folder} and signed with "
            f"{board.kit.key or 'its key'}: name the kit of this board's OP-TEE in the board file "
            "(ta_kit), and its key (ta_key) if the kit has none"
        )
    return errors.TaRefused(
        f"{board.name}: {len(bad)} of {len(answers)} TAs can't be used: {first.reason}", hint=hint
    )
