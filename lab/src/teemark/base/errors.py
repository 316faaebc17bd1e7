# SPDX-License-Identifier: BSD-2-Clause
"""Every error that a user can cause or meet, in one tree. Messages begin in lower case and say what
happened and to what; hints say what to do. Only `teemark.cli` prints them, and exits with the
error's status."""

import difflib
from collections.abc import Iterable


class TeemarkError(Exception):
    """An error: its message says what happened and why, its hint what to do."""

    exit_status = 1

    def __init__(self, message: str, *, hint: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint

    def __str__(self) -> str:
        return self.message


class UsageMistake(TeemarkError):
    """A word on the command line is wrong."""

    exit_status = 2


class UnknownBoard(UsageMistake):
    """No board has that name."""


class ConfigError(TeemarkError):
    """A TOML file is wrong: names the file and the key."""


_BUILD = "run `make build` first (outside a checkout: `teemark vboard install`)"


class MissingOutput(TeemarkError):
    def __init__(self, message: str, *, hint: str | None = _BUILD) -> None:
        super().__init__(message, hint=hint)


class DataError(TeemarkError):
    """A run file can't be read or makes no sense."""


class BoardError(TeemarkError):
    """Something between this machine and a board failed."""


class BootError(BoardError):
    """A virtual board didn't come up."""


class ConnectError(BoardError):
    """A connection couldn't be made."""


class ConnectionLost(BoardError):
    """A connection broke while it was in use."""


class CommandFailed(BoardError):
    """A command ended with an unexpected status."""


class TransferError(BoardError):
    """A file didn't arrive as it was sent."""


class NotWritable(TransferError):
    """A file can't be written at this place."""


class BoardHangs(BoardError):
    """The board doesn't answer, or not in time."""


class TeeHangs(BoardHangs):
    """The board answers, but its TEE doesn't."""


def meant(word: str, words: Iterable[str]) -> str:
    """Returns a question that suggests the nearest known word; "" if no word is near."""
    return "".join(f"did you mean {near}? " for near in difflib.get_close_matches(word, words, n=1))
