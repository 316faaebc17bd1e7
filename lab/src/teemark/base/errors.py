# SPDX-License-Identifier: BSD-2-Clause
"""Every error that a user can cause or meet, in one tree.

    TeemarkError                     exit status 1; `hint` says what to do about it
    ├── UsageMistake                 exit status 2: a word on the command line is wrong
    │   └── UnknownBoard
    ├── ConfigError                  a TOML file is wrong: names the file and the key
    ├── MissingOutput                what `make build` makes isn't there
    ├── DataError                    a run file can't be read or makes no sense
    └── BoardError                   something between us and a board
        ├── BootError                a virtual board didn't come up
        ├── ConnectError             no connection
        │   ├── AddressUnknown
        │   ├── ConnectionRefused
        │   ├── ConnectTimeout
        │   ├── HostKeyMismatch
        │   └── KeyRefused
        ├── ConnectionLost           there was one, and it went away
        ├── CommandFailed            the board ran our command, which failed
        ├── TransferError            a file didn't arrive as it was sent
        │   ├── NoSpace
        │   └── ReadOnly
        ├── TaRefused                the TEE doesn't take a Trusted Application
        └── TeeHangs                 the board answers, its TEE doesn't

Messages begin in lower case and say what happened and to what; hints say what to do. Only
`teemark.cli` prints them.
"""

from __future__ import annotations


class TeemarkError(Exception):
    """What, why (the message) and what to do (the hint)."""

    exit_status = 1

    def __init__(self, message: str, *, hint: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint

    def __str__(self) -> str:
        return self.message


class UsageMistake(TeemarkError):
    exit_status = 2


class UnknownBoard(UsageMistake):
    pass


class ConfigError(TeemarkError):
    pass


_BUILD = "run `make build` first (outside a checkout: `teemark vboard install`)"


class MissingOutput(TeemarkError):
    def __init__(self, message: str, *, hint: str | None = _BUILD) -> None:
        super().__init__(message, hint=hint)


class DataError(TeemarkError):
    pass


class BoardError(TeemarkError):
    pass


class BootError(BoardError):
    pass


class ConnectError(BoardError):
    pass


class AddressUnknown(ConnectError):
    pass


class ConnectionRefused(ConnectError):
    pass


class ConnectTimeout(ConnectError):
    pass


class HostKeyMismatch(ConnectError):
    pass


class KeyRefused(ConnectError):
    pass


class ConnectionLost(BoardError):
    pass


class CommandFailed(BoardError):
    """A command of ours ended with a status that it shouldn't have."""

    def __init__(self, message: str, *, status: int, hint: str | None = None) -> None:
        super().__init__(message, hint=hint)
        self.status = status


class TransferError(BoardError):
    pass


class NoSpace(TransferError):
    pass


class ReadOnly(TransferError):
    pass


class TaRefused(BoardError):
    pass


class TeeHangs(BoardError):
    pass
