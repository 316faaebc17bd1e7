# SPDX-License-Identifier: BSD-2-Clause
"""What ssh says when it fails, as our errors. Pure: text in, error out."""

from __future__ import annotations

import re
import shlex
from dataclasses import dataclass

from teemark.base import errors
from teemark.boards.endpoint import Endpoint


@dataclass(frozen=True, slots=True)
class _Failure:
    """A connection that wasn't made."""

    board: str
    to: Endpoint
    words: str
    """What ssh says to everybody."""
    debug: str
    """What it says besides at its first level of debugging."""
    rejected: str | None
    """The option of the board file that ssh doesn't take."""

    def seen(self, pattern: str) -> re.Match[str] | None:
        """The last time that it said so."""
        return next(reversed([*re.finditer(pattern, self.debug, re.MULTILINE)]), None)

    def heard(self, pattern: str) -> re.Match[str] | None:
        return re.search(pattern, self.words, re.IGNORECASE | re.MULTILINE)

    def error(
        self, kind: type[errors.TeemarkError], what: str, hint: str | None
    ) -> errors.TeemarkError:
        return kind(f"{self.board}: {what}", hint=hint)


def _whom(failure: _Failure, found: re.Match[str]) -> str:
    """The machine that ssh names: a gateway, perhaps."""
    names = found.groupdict()
    if "host" not in names or f"{names['host']}:{names['port']}" in str(failure.to):
        return str(failure.to)
    return f"{names['host']}:{names['port']}"


def _unknown(failure: _Failure, found: re.Match[str]) -> errors.TeemarkError:
    hint = "check `address` in the board file, or write the number instead of the name"
    if "temporary" in found["why"].lower():
        hint = "no name server answers: write the number instead of the name"
    name = found["name"]
    of = str(failure.to) if name == failure.to.address else name
    return failure.error(errors.AddressUnknown, f"no address known for {of}", hint)


def _fingerprint(failure: _Failure) -> tuple[str, str]:
    """The kind of the host key that was shown, and its fingerprint; empty where unknown."""
    key = failure.seen(r"Server host key: (\S+) (SHA256:\S+)")
    return (key[1], key[2]) if key else ("", "")


def _shown(failure: _Failure) -> str:
    kind, fingerprint = _fingerprint(failure)
    return f": {kind} {fingerprint}" if kind else ""


def _key_type(kind: str) -> str:
    """As ssh-keyscan and the files of the server call it."""
    return next((name for name in ("ed25519", "ecdsa", "rsa", "dss") if name in kind), "")


def _how_to_trust(failure: _Failure) -> str:
    """The command that makes a host key known: one that needs no typing where it goes into the
    file and under the name where ssh will look for it."""
    to = failure.to
    at = failure.seen(r"^debug1: Connecting to (\S+) \[.*\] port (\d+)")
    asked = failure.heard(r"host key is known for (\S+) and")
    if at and not to.options and not to.known_hosts:
        host, port = at[1], at[2]
        if asked is None or asked[1] == (host if port == "22" else f"[{host}]:{port}"):
            kind = _key_type(_fingerprint(failure)[0])
            words = ["ssh-keyscan", *(["-t", kind] if kind else [])]
            words += [*(["-p", port] if port != "22" else []), host]
            return f"take it: {shlex.join(words)} >>~/.ssh/known_hosts"
    by_hand = to.by_hand("-o", "StrictHostKeyChecking=ask")
    return f"connect once by hand, and answer yes: {by_hand} true"


def _not_known(failure: _Failure, _found: re.Match[str]) -> errors.TeemarkError:
    kind = _key_type(_fingerprint(failure)[0]) or "ed25519"
    return failure.error(
        errors.HostKeyMismatch,
        f"the host key of {failure.to} isn't known yet{_shown(failure)}",
        "compare it with the board's own: on its console, `ssh-keygen -lf "
        f"/etc/ssh/ssh_host_{kind}_key.pub` (dropbear: `dropbearkey -y -f "
        f"/etc/dropbear/dropbear_{kind}_host_key`). If it is the same, {_how_to_trust(failure)}",
    )


def _changed(failure: _Failure, _found: re.Match[str]) -> errors.TeemarkError:
    line = failure.heard(r"Offending \S+ key in (.+):(\d+)$")
    name = failure.heard(r"^Host key for (\S+) has changed")
    port = failure.to.port or 22
    words = ["ssh-keygen", *(["-f", line[1]] if line else []), "-R"]
    address = failure.to.address
    words.append(name[1] if name else address if port == 22 else f"[{address}]:{port}")
    known = f" ({line[1]}, line {line[2]})" if line else ""
    return failure.error(
        errors.HostKeyMismatch,
        f"{failure.to} shows another host key than the one known for it{known}{_shown(failure)}",
        f"if the board was installed anew, remove the old key: {shlex.join(words)}; "
        "if not, another machine answers at this address",
    )


def _where_named(failure: _Failure, file: str) -> str:
    if str(failure.to.identity) == file:
        return "check `identity` in the board file"
    return "your ssh configuration names it: check IdentityFile there"


def _unloadable(failure: _Failure, found: re.Match[str]) -> errors.TeemarkError:
    file, why = found["file"], found["why"].lower()
    if file.endswith(".pub"):
        what = f"{file} is the public half of a key"
        hint = f"name the private one, {file.removesuffix('.pub')}, or let ssh-agent hold it"
    elif "bad permissions" in why:
        mode = failure.heard(r"^Permissions (\d+) for")
        what = f"others may read the key {file}{f' (mode {mode[1]})' if mode else ''}, so ssh "
        what, hint = what + "doesn't use it", f"chmod 600 {shlex.quote(file)}"
    elif "permission denied" in why:
        what = f"this user may not read the key {file}"
        hint = "become its owner, or name another: `identity` in the board file"
    elif "passphrase" in why:
        return _locked(failure, file)
    else:
        what = f"{file} is no private key that ssh can read ({found['why']})"
        hint = _where_named(failure, file)
    return failure.error(errors.KeyRefused, what, hint)


def _locked(failure: _Failure, file: str) -> errors.TeemarkError:
    return failure.error(
        errors.KeyRefused,
        f"{failure.to} would take the key {file}, but it has a passphrase and no ssh-agent holds "
        "it open",
        f"ssh-add {shlex.quote(file)} (start an agent first where there is none: "
        "eval $(ssh-agent)); teemark asks for no passphrase",
    )


def _denied(failure: _Failure, found: re.Match[str]) -> errors.TeemarkError:
    to = found["who"] if found["who"] and "@" in found["who"] else str(failure.to)
    accepted = failure.seen(r"^debug1: Server accepts key: (.+?) \S+ SHA256:\S+")
    if accepted:
        return _locked(failure, accepted[1])
    methods = failure.seen(r"Authentications that can continue: (\S+)")
    if methods and "publickey" not in methods[1].split(","):
        return failure.error(
            errors.KeyRefused,
            f"{to} takes no keys, only {methods[1].replace(',', ', ')}",
            "allow them in its configuration (PubkeyAuthentication); teemark asks for no password",
        )
    if failure.seen(r"no mutual signature algorithm"):
        return failure.error(
            errors.KeyRefused,
            f"{to} knows no way to sign with the key that this machine's ssh still uses",
            'an old server: options = ["PubkeyAcceptedAlgorithms=+ssh-rsa"] in the board file, or '
            "an ed25519 key",
        )
    offered = failure.seen(r"^debug1: Offering public key: (.+?) \S+ (SHA256:\S+)")
    if offered is None:
        return failure.error(
            errors.KeyRefused,
            f"there is no key to show to {to}",
            "make one with ssh-keygen, bring its public half to the board (ssh-copy-id), and name "
            'it in the board file: identity = "~/.ssh/…"',
        )
    public = offered[1] if offered[1].endswith(".pub") else f"{offered[1]}.pub"
    words = ["ssh-copy-id", "-i", public]
    words += [*(["-p", str(failure.to.port)] if failure.to.port else [])]
    words.append(to.removesuffix(f":{failure.to.port}"))
    return failure.error(
        errors.KeyRefused,
        f"{to} refuses the key {offered[1]} ({offered[2]})",
        f"is `user` right in the board file? The public key must be in that user's "
        f"authorized_keys there: {shlex.join(words)}; teemark asks for no password",
    )


_ALGORITHMS = {
    "host key type": "HostKeyAlgorithms",
    "key exchange method": "KexAlgorithms",
    "cipher": "Ciphers",
    "mac": "MACs",
}


def _no_cipher(failure: _Failure, found: re.Match[str]) -> errors.TeemarkError:
    option = _ALGORITHMS.get(found["what"].lower(), "HostKeyAlgorithms")
    offer = found["offer"].split(",")[0].strip()
    return failure.error(
        errors.ConnectError,
        f"{failure.to} and this machine's ssh have no {found['what']} in common; it offers "
        f"{found['offer'].strip()}",
        "an old ssh server: allow what it offers in the board file: "
        f'options = ["{option}=+{offer}"]',
    )


# What ssh says when it can't connect; the first pattern that is heard decides. Below it either the
# error with its hint, or the function that makes one. Names in braces are those of the pattern and:
# to, whom (the machine that ssh names), address, by_hand, named (where a key is named), option.
_CONNECT = r"""
^command-line:? line \d+: (?P<why>.+?)\.?$
ConfigError: ssh doesn't accept{option} of `options` in the board file: {why}
they are written as in `man ssh_config`: options = ["NAME=VALUE"]

^(?P<file>/.+?):? line (?P<line>\d+): (?P<why>.+?)\.?$
ConfigError: ssh doesn't accept its own configuration: {file}, line {line}: {why}
mend it there (`man ssh_config`)

remote host identification has changed|^host key for \S+ has changed
_changed

host key verification failed
_not_known

could not resolve hostname (?P<name>\S+?): (?P<why>.+)
_unknown

connect to (?:host|address) (?P<host>\S+) port (?P<port>\d+): connection refused
ConnectionRefused: {whom} refuses connections
is its ssh server running, and on the port that the board file says?

(connect to (?:host|address) (?P<host>\S+) port (?P<port>\d+): ).*(timed out|no route|unreachable)
ConnectTimeout: {whom} doesn't answer
is it switched on, and is this machine on its network? try: ping {address}

during banner exchange
ConnectTimeout: {to} takes the connection, but doesn't answer as an ssh server does
is it one, on the port that the board file says? It may also hang, or still be booting

banner line contains invalid|invalid protocol|bad protocol
ConnectError: what answers at {to} is no ssh server
check `address` and `port` in the board file

timed out|no route to host|network is unreachable
ConnectTimeout: {to} doesn't answer
is it switched on, and is this machine on its network? try: ping {address}

^no such identity: (?P<file>.+): no such file
KeyRefused: there is no key file {file}
{named}

^load key "(?P<file>.+)": (?P<why>.+)
_unloadable

agent refused operation
KeyRefused: {to} would take a key that ssh-agent has, but the agent doesn't sign with it
it may want a touch, a PIN or a confirmation: see `ssh-add -l`, and try {by_hand} true

too many authentication failures
KeyRefused: {to} has heard of too many keys before the right one
name it in the board file, and no other is tried: identity = "~/.ssh/…"

^(?:(?P<who>\S+): )?permission denied
_denied

no matching (?P<what>.+) found\. their offer: (?P<offer>.+)
_no_cipher

connection (closed|reset) by|kex_exchange_identification
ConnectError: {to} closed the connection before it was ready
it may still be booting, or its ssh server lets nobody in: look at its log
"""
_MAKERS = {
    make.__name__: make
    for make in (_changed, _not_known, _unknown, _unloadable, _denied, _no_cipher)
}


def _from_row(failure: _Failure, found: re.Match[str], row: list[str]) -> errors.TeemarkError:
    if row[0] in _MAKERS:
        return _MAKERS[row[0]](failure, found)
    kind, _, what = row[0].partition(": ")
    words = found.groupdict() | {
        "to": str(failure.to),
        "whom": _whom(failure, found),
        "address": failure.to.address,
        "by_hand": failure.to.by_hand(),
        "named": _where_named(failure, found.groupdict().get("file", "")),
        "option": f' "{failure.rejected}"' if failure.rejected else " an option",
    }
    return failure.error(getattr(errors, kind), what.format_map(words), row[1].format_map(words))


def connect_error(
    board: str, to: Endpoint, said: str, rejected: str | None = None
) -> errors.TeemarkError:
    """Why ssh could not connect, from what it wrote with LogLevel=DEBUG1. `rejected` is the
    option of the board file that it doesn't take."""
    lines = said.replace("\r", "").splitlines()
    words = [line for line in lines if not _DEBUG.match(line)]
    debug = "\n".join(line for line in lines if _DEBUG.match(line))
    failure = _Failure(board, to, "\n".join(words), debug, rejected)
    for block in _CONNECT.strip().split("\n\n"):
        pattern, *row = block.split("\n")
        found = failure.heard(pattern)
        if found:
            return _from_row(failure, found, row)
    last = next((line for line in reversed(words) if line.strip()), "without a word")
    return failure.error(
        errors.ConnectError, f"ssh to {to} failed: {last}", f"try it by hand: {to.by_hand('-v')}"
    )


_DEBUG = re.compile(r"debug\d: |OpenSSH_|Authenticated to |Transferred: |Bytes per second: ")


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
        what, hint = "refuses to run the command", "the account may have no shell"
    elif "open failed" in text or "session open refused" in text:
        what, hint = "opens no more sessions", "MaxSessions in its configuration"
    else:
        return None
    return errors.BoardError(f"{board}: the ssh server of {to} {what}", hint=hint)


def cannot_run(board: str, path: str, status: int, said: str) -> errors.BoardError:
    """Why a program of ours that was put on the board doesn't run there."""
    last = said.strip().splitlines()[-1] if said.strip() else f"status {status}"
    text = last.lower()
    hint = "try it by hand: `teemark shell`"
    if status == 126 and "permission denied" in text:
        hint = (
            "its file system is mounted noexec: name another `directory` in the board file, or "
            "remount it there (mount -o remount,exec …)"
        )
    elif status in (126, 127):
        hint = (
            "the file is there, so it is its loader that isn't, or it is for another machine: the "
            "programs are built for glibc on the architecture that `uname -m` says"
        )
    elif "glibc" in text:
        hint = "the board's C library is older than the one that the programs were built with"
    return errors.BoardError(f"{board}: {path} was installed, but doesn't run: {last}", hint=hint)


def folder_error(board: str, folders: str, said: str) -> errors.TransferError:
    """Why a folder could not be made, from what mkdir wrote."""
    named = re.search(r"directory [^/]?(/.+?)\W?: ", said)
    return transfer_error(board, named[1] if named else folders, said)


# What the tools on the board say, the error and its hint.
_TRANSFER = """
no space left
NoSpace: no space left for {path}
free some on the board (`teemark exec BOARD -- df -h`), or name another folder

read-only file system
ReadOnly: {path} is on a read-only file system
remount it for writing, or name another `directory` in the board file

permission denied|operation not permitted
TransferError: no permission for {path}
log in as root, or set sudo = true in the board file

a password is required|sudo: not found
TransferError: sudo on the board asks for a password or isn't there
allow it without one for this user (NOPASSWD), or log in as root
"""


def transfer_error(board: str, path: str, said: str) -> errors.TransferError:
    """Why a file could not be written or read, from what the tools on the board wrote."""
    for block in _TRANSFER.strip().split("\n\n"):
        pattern, error, hint = block.split("\n")
        if re.search(pattern, said.lower()):
            kind, _, what = error.partition(": ")
            made: errors.TransferError = getattr(errors, kind)(
                f"{board}: {what.format(path=path)}", hint=hint
            )
            return made
    lines = said.strip().splitlines() or ["no reason given"]
    if re.search("no such file or directory|not found", said.lower()):
        return errors.TransferError(f"{board}: {path}: {lines[-1]}")
    return errors.TransferError(f"{board}: {path} could not be copied: {lines[-1]}")
