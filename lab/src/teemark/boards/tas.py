# SPDX-License-Identifier: BSD-2-Clause
"""Finds out whether a board's TEE takes our Trusted Applications, by a session with each."""

from collections.abc import Sequence
from dataclasses import dataclass

from teemark.base import errors
from teemark.boards.answers import from_json, last_line, typed
from teemark.boards.board import Board
from teemark.boards.config import SshConfig
from teemark.run.reader import NO_TEE

NO_MEMORY = "no-memory"

HANGS_S = 30.0
"""Seconds without an answer after which the TEE is said to hang. Loading a TA takes at most some
seconds, even on the slowest boards."""


@dataclass(frozen=True, slots=True)
class Ta:
    """One of our TAs on a board, and the result of opening a session with it."""

    uuid: str
    name: str  # of the TA's folder in ta/
    opened: bool
    code: str | None = None
    reason: str | None = None
    hint: str | None = None
    published_key: bool | None = None
    """True if the installed file is signed with the key that OP-TEE publishes; None if it isn't
    installed, or its content isn't known here."""


def built(board: Board) -> dict[str, str]:
    """Returns our TAs for this board: their names, by UUID."""
    folder = board.tas
    names = {path.stem: path.relative_to(folder).parts[0] for path in folder.glob("*/**/*.ta")}
    return {path.stem: names.get(path.stem, "TA") for path in sorted(folder.glob("*.ta"))}


def open_each(board: Board) -> tuple[Ta, ...]:
    """Returns the result of opening a session with each of our TAs; TeeHangs if none comes back."""
    tas = built(board)
    if not tas:
        return ()
    about = "which TAs the TEE takes"
    try:
        result = board.capture(["teebench", "--open-tas", *tas], check=False, silence=HANGS_S)
    except (errors.ConnectError, errors.ConnectionLost):
        raise
    except errors.BoardError:
        why = f"no session with a TA came back within {HANGS_S:g} s"
        raise board.tee_hangs(why) from None
    opened = {}
    for line in filter(bytes.strip, result.stdout.split(b"\n")):
        answer = from_json(board.name, about, line)
        if answer.get("step") not in ("full", "failed"):
            continue
        uuid = str(answer.get("about"))
        opened_it = answer["step"] == "full"
        answer |= {"uuid": uuid, "name": tas.get(uuid, "TA"), "opened": opened_it}
        opened[uuid] = typed(board.name, about, answer, Ta)
    if not opened.keys() >= tas.keys():
        raise errors.CommandFailed(
            f"{board.name}: teebench doesn't say {about}; it ended with status {result.status}: "
            f"{last_line(result.complaint)}"
        )
    return tuple(opened[uuid] for uuid in tas)


def absent(tas: Sequence[Ta]) -> str | None:
    """Returns why the board has no TEE; None if it has one."""
    return next((ta.reason for ta in tas if ta.code == NO_TEE), None)


def refused(board: Board, tas: Sequence[Ta]) -> errors.BoardError | None:
    """Returns the error if a TA can't be used. A TA that is too large for the TEE's memory is no
    error: the cases that need it are skipped."""
    bad = [ta for ta in tas if not ta.opened and ta.code != NO_MEMORY]
    if not bad:
        return None
    first = bad[0]
    hint = first.hint
    if first.code == "ta-rejected" and isinstance(board.config, SshConfig):
        hint = (
            f"they were built with {board.kit.folder} and signed with "
            f"{board.kit.key or 'its key'}: name the kit of this board's OP-TEE in the board file "
            "(ta_kit), and its key (ta_key) if the kit has none"
        )
    return errors.BoardError(
        f"{board.name}: {len(bad)} of {len(tas)} TAs can't be used: {first.reason}", hint=hint
    )
