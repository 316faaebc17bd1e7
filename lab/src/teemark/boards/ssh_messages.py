# SPDX-License-Identifier: BSD-2-Clause
"""What ssh says when it fails, as our errors. Pure: text in, error out."""

from __future__ import annotations

from collections.abc import Callable

from teemark import errors

Maker = Callable[[str, str], errors.TeemarkError]
"""(board's name, `user@address`) into an error."""


def _refused(board: str, to: str) -> errors.BoardError:
    return errors.ConnectionRefused(
        f"{board}: {to} refuses connections",
        hint="is its ssh server running, and on the port that the board file says?",
    )


def _timeout(board: str, to: str) -> errors.BoardError:
    return errors.ConnectTimeout(
        f"{board}: {to} doesn't answer",
        hint="is it switched on, and is this machine on its network? try: ping",
    )


def _unknown(board: str, to: str) -> errors.BoardError:
    return errors.AddressUnknown(
        f"{board}: no address known for {to}",
        hint="check `address` in the board file, or write the number instead of the name",
    )


def _changed(board: str, to: str) -> errors.BoardError:
    return errors.HostKeyMismatch(
        f"{board}: {to} shows another host key than the one known for it",
        hint="if the board was installed anew, remove the old key with `ssh-keygen -R`; "
        "if not, another machine answers at this address",
    )


def _not_known(board: str, to: str) -> errors.BoardError:
    return errors.HostKeyMismatch(
        f"{board}: the host key of {to} isn't known yet",
        hint=f"connect once by hand and compare its key: ssh {to}",
    )


def _denied(board: str, to: str) -> errors.BoardError:
    return errors.KeyRefused(
        f"{board}: {to} refuses the key",
        hint="check `user` and `identity` in the board file, and that the public key is in the "
        "board's authorized_keys (`ssh-copy-id`); passwords are not asked for",
    )


def _no_identity(board: str, to: str) -> errors.BoardError:
    return errors.KeyRefused(
        f"{board}: the key file for {to} can't be used",
        hint="check `identity` in the board file; a private key must be readable by you alone "
        "(chmod 600)",
    )


def _no_cipher(board: str, to: str) -> errors.BoardError:
    return errors.ConnectError(
        f"{board}: {to} and this machine's ssh have no algorithm in common",
        hint="an old ssh server: allow what it offers with `options` in the board file, such as "
        '"HostKeyAlgorithms=+ssh-rsa"',
    )


def _closed(board: str, to: str) -> errors.BoardError:
    return errors.ConnectError(
        f"{board}: {to} closed the connection before it was ready",
        hint="it may still be booting, or its ssh server lets nobody in: look at its log",
    )


def _bad_option(board: str, to: str) -> errors.ConfigError:
    return errors.ConfigError(
        f"{board}: ssh doesn't accept the options for {to}",
        hint="check `options` in the board file (`man ssh_config`)",
    )


# In order: the first text that occurs decides.
_CONNECT: tuple[tuple[str, Maker], ...] = (
    ("remote host identification has changed", _changed),
    ("host key for", _changed),
    ("host key verification failed", _not_known),
    ("could not resolve hostname", _unknown),
    ("connection refused", _refused),
    ("timed out", _timeout),
    ("no route to host", _timeout),
    ("network is unreachable", _timeout),
    ("unprotected private key file", _no_identity),
    ("bad permissions", _no_identity),
    ("load key", _no_identity),
    ("no such identity", _no_identity),
    ("not accessible", _no_identity),
    ("permission denied", _denied),
    ("too many authentication failures", _denied),
    ("no matching", _no_cipher),
    ("bad configuration option", _bad_option),
    ("command-line:", _bad_option),
    ("connection closed by", _closed),
    ("connection reset by", _closed),
    ("kex_exchange_identification", _closed),
)


def connect_error(board: str, to: str, said: str) -> errors.TeemarkError:
    """Why ssh could not connect, from what it wrote."""
    text = said.lower()
    for part, make in _CONNECT:
        if part in text:
            return make(board, to)
    last = said.strip().splitlines()[-1] if said.strip() else "without a word"
    return errors.ConnectError(
        f"{board}: ssh to {to} failed: {last}", hint=f"try it by hand: ssh -v {to} true"
    )


def lost_error(board: str, to: str, where: str | None = None) -> errors.ConnectionLost:
    return errors.ConnectionLost(
        f"{board}: the connection to {to} broke off",
        hint="the board may have crashed, rebooted or lost power: look at "
        + (where or "its console"),
    )


def channel_error(board: str, to: str, said: str) -> errors.BoardError | None:
    """A refusal of one command on a connection that lives, from what ssh wrote."""
    text = said.lower()
    if "exec request failed" in text:
        return errors.BoardError(
            f"{board}: the ssh server of {to} refuses to run the command",
            hint="it may be too long, or the account may have no shell",
        )
    if "session open refused" in text or "open failed" in text:
        return errors.BoardError(
            f"{board}: the ssh server of {to} opens no more sessions",
            hint="another program may hold them; MaxSessions in its configuration",
        )
    return None


def transfer_error(board: str, path: str, said: str) -> errors.TransferError:
    """Why a file could not be written or read, from what the tools on the board wrote."""
    text = said.lower()
    if "no space left" in text:
        return errors.NoSpace(
            f"{board}: no space left for {path}",
            hint="free some on the board (`teemark exec BOARD -- df -h`), or name another folder",
        )
    if "read-only file system" in text:
        return errors.ReadOnly(
            f"{board}: {path} is on a read-only file system",
            hint="remount it for writing, or name another `directory` in the board file",
        )
    if "permission denied" in text or "operation not permitted" in text:
        return errors.TransferError(
            f"{board}: no permission for {path}",
            hint="log in as root, or set sudo = true in the board file",
        )
    if "a password is required" in text or "sudo: not found" in text:
        return errors.TransferError(
            f"{board}: sudo on the board asks for a password or isn't there",
            hint="allow it without one for this user (NOPASSWD), or log in as root",
        )
    if "no such file or directory" in text or "not found" in text:
        last = said.strip().splitlines()[-1]
        return errors.TransferError(f"{board}: {path}: {last}")
    last = said.strip().splitlines()[-1] if said.strip() else "no reason given"
    return errors.TransferError(f"{board}: {path} could not be copied: {last}")
