# SPDX-License-Identifier: BSD-2-Clause
"""Errors of ours from what ssh says when it fails. Pure: text in, error out."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator

from teemark.base import errors
from teemark.boards.endpoint import Endpoint

# The messages of an ssh that can't connect: a pattern of what it says to everybody, and perhaps,
# after "& ", one of what it says besides at its first level of debugging. The first row that fits
# decides; then come the error and its hint, each of which may go on in an indented line. Names in
# braces are groups of the patterns, or methods of _Failure.
_CONNECT = r"""
^command-line:? line \d+: (?P<why>.+?)\.?$
ConfigError: ssh doesn't accept the `options` in the board file: {why}
they are written as in `man ssh_config`: options = ["NAME=VALUE"]

^(?P<file>/.+?):? line (?P<line>\d+): (?P<why>.+?)\.?$
ConfigError: ssh doesn't accept its own configuration: {file}, line {line}: {why}
mend it there (`man ssh_config`)

remote host identification has changed|^host key for \S+ has changed
HostKeyMismatch: {to} shows another host key than the one known for it{known_at}{fingerprint}
if the board was installed anew, remove the old key: {forget}; if not, another machine answers at
  this address

host key verification failed
HostKeyMismatch: the host key of {to} isn't known yet{fingerprint}
compare it with the board's own: on its console, `ssh-keygen -lf
  /etc/ssh/ssh_host_{key_type}_key.pub` (dropbear: `dropbearkey -y -f
  /etc/dropbear/dropbear_{key_type}_host_key`). If it is the same, connect
  once by hand, and answer yes: {trust} true

could not resolve hostname (?P<name>\S+?): .*temporary
AddressUnknown: no address known for {named_host}
no name server answers: write the number instead of the name

could not resolve hostname (?P<name>\S+?):
AddressUnknown: no address known for {named_host}
check `address` in the board file, or write the number instead of the name

connect to (?:host|address) (?P<host>\S+) port (?P<port>\d+): connection refused
ConnectionRefused: {whom} refuses connections
is its ssh server running, and on the port that the board file says?

connect to (?:host|address) (?P<host>\S+) port (?P<port>\d+): .*(timed out|no route|unreachable)
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
{where_named}

^load key "(?P<file>.+)\.pub":
KeyRefused: {file}.pub is the public half of a key
name the private one, {file}, or let ssh-agent hold it

^permissions (?P<mode>\d+) for [^^]*^load key "(?P<file>.+)": bad permissions
KeyRefused: others may read the key {file} (mode {mode}), so ssh doesn't use it
chmod 600 {quoted}

^load key "(?P<file>.+)": permission denied
KeyRefused: this user may not read the key {file}
become its owner, or name another: `identity` in the board file

^load key "(?P<file>.+)": .*passphrase
KeyRefused: {to} would take the key {file}, but it has a passphrase and no ssh-agent holds it open
ssh-add {quoted} (start an agent first where there is none: eval $(ssh-agent)); teemark asks for no
  passphrase

^load key "(?P<file>.+)": (?P<why>.+)
KeyRefused: {file} is no private key that ssh can read ({why})
{where_named}

too many authentication failures
KeyRefused: {to} has heard of too many keys before the right one
name it in the board file, and no other is tried: identity = "~/.ssh/…"

permission denied
& ^debug1: Server accepts key: (?P<file>.+?) \S+ SHA256:\S+
KeyRefused: {to} would take the key {file}, but it has a passphrase and no ssh-agent holds it open
ssh-add {quoted} (start an agent first where there is none: eval $(ssh-agent)); teemark asks for no
  passphrase

^(?:(?P<who>\S+@\S+): )?permission denied
& Authentications that can continue: (?P<methods>(?!\S*publickey)\S+)
KeyRefused: {who} takes no keys, only {methods}
allow them in its configuration (PubkeyAuthentication); teemark asks for no password

^(?:(?P<who>\S+@\S+): )?permission denied
& ^debug1: Offering public key: (?P<file>.+?)(\.pub)? \S+ (?P<key>SHA256:\S+)
KeyRefused: {who} refuses the key {file} ({key})
is `user` right in the board file? The public key must be in that user's authorized_keys there:
  {copy_id}; teemark asks for no password

^(?:(?P<who>\S+@\S+): )?permission denied
KeyRefused: there is no key to show to {who}
make one with ssh-keygen, bring its public half to the board (ssh-copy-id), and name it in the board
  file: identity = "~/.ssh/…"

no matching (?P<what>.+) found\. their offer: (?P<offer>(?P<first>[^\s,]+).*)
ConnectError: {to} and this machine's ssh have no {what} in common; it offers {offer}
an old ssh server: allow what it offers in the board file: options =
  ["{kind_of_algorithm}=+{first}"]

connection (closed|reset) by|kex_exchange_identification
ConnectError: {to} closed the connection before it was ready
it may still be booting, or its ssh server lets nobody in: look at its log

\A
ConnectError: ssh to {to} failed: {last_word}
try it by hand: {by_hand_loud}
"""

_ALGORITHMS = {"key exchange method": "KexAlgorithms", "cipher": "Ciphers", "mac": "MACs"}
_DEBUG = re.compile(r"debug\d: |OpenSSH_|Authenticated to |Transferred: |Bytes per second: ")


class _Failure(dict[str, str]):
    """A connection that wasn't made: the words of a row, which are looked up when they are used."""

    def __init__(self, to: Endpoint, said: str) -> None:
        super().__init__(to=str(to), address=to.address)
        lines = said.replace("\r", "").splitlines()
        self.endpoint = to
        self.words = "\n".join(line for line in lines if not _DEBUG.match(line))
        self.debug = "\n".join(line for line in lines if _DEBUG.match(line))

    def __missing__(self, name: str) -> str:
        return str(getattr(self, name)())

    def fits(self, patterns: list[str]) -> bool:
        """Whether a row is heard; its groups are words then."""
        groups: dict[str, str] = {}
        for pattern in patterns:
            text = self.debug if pattern.startswith("& ") else self.words
            found = _last(pattern.removeprefix("& "), text)
            if found is None:
                return False
            groups |= {name: text for name, text in found.groupdict().items() if text}
        self.update(groups)
        return True

    def who(self) -> str:
        return self["to"]

    def whom(self) -> str:
        """The machine that ssh names: a gateway, perhaps."""
        named = f"{self['host']}:{self['port']}"
        return self["to"] if named in self["to"] else named

    def named_host(self) -> str:
        return self["to"] if self["name"] == self["address"] else self["name"]

    def last_word(self) -> str:
        return (self.words.strip().splitlines() or ["without a word"])[-1]

    def by_hand_loud(self) -> str:
        return self.endpoint.by_hand("-v")

    def quoted(self) -> str:
        return shlex.quote(self["file"])

    def where_named(self) -> str:
        if str(self.endpoint.identity) == self["file"]:
            return "check `identity` in the board file"
        return "your ssh configuration names it: check IdentityFile there"

    def copy_id(self) -> str:
        port = self.endpoint.port
        words = ["ssh-copy-id", "-i", f"{self['file']}.pub", *(["-p", str(port)] if port else [])]
        return shlex.join([*words, self["who"].removesuffix(f":{port}")])

    def kind_of_algorithm(self) -> str:
        return _ALGORITHMS.get(self["what"].lower(), "HostKeyAlgorithms")

    def fingerprint(self) -> str:
        """The host key that was shown; empty if none was."""
        key = _last(r"Server host key: (\S+ SHA256:\S+)", self.debug)
        return f": {key[1]}" if key else ""

    def key_type(self) -> str:
        """Its kind as ssh-keyscan and the files of the server call it."""
        shown = self["fingerprint"].partition(" SHA256")[0]
        return next((name for name in ("ed25519", "ecdsa", "rsa") if name in shown), "ed25519")

    def known_at(self) -> str:
        line = _last(r"Offending \S+ key in (.+):(\d+)$", self.words)
        return f" ({line[1]}, line {line[2]})" if line else ""

    def forget(self) -> str:
        line = _last(r"Offending \S+ key in (.+):\d+$", self.words)
        name = _last(r"^Host key for (\S+) has changed", self.words)
        port = self.endpoint.port or 22
        plain = self["address"] if port == 22 else f"[{self['address']}]:{port}"
        file = ["-f", line[1]] if line else []
        return shlex.join(["ssh-keygen", *file, "-R", name[1] if name else plain])

    def trust(self) -> str:
        return self.endpoint.by_hand("-o", "StrictHostKeyChecking=ask")


def _last(pattern: str, text: str) -> re.Match[str] | None:
    """The last time that ssh said so."""
    return next(reversed([*re.finditer(pattern, text, re.IGNORECASE | re.MULTILINE)]), None)


def _rows(table: str) -> Iterator[tuple[list[str], type[errors.TeemarkError], str, str]]:
    """The patterns, the error with its message, and the hint of each row."""
    for block in table.strip("\n").split("\n\n"):
        *patterns, error, hint = block.replace("\n  ", " ").split("\n")
        kind, _, what = error.partition(": ")
        yield patterns, getattr(errors, kind), what, hint


def connect_error(board: str, to: Endpoint, said: str) -> errors.TeemarkError:
    """Why ssh could not connect, from what it wrote with LogLevel=DEBUG1."""
    failure = _Failure(to, said)
    _, kind, what, hint = next(row for row in _rows(_CONNECT) if failure.fits(row[0]))
    return kind(f"{board}: {what.format_map(failure)}", hint=hint.format_map(failure))


def lost_error(board: str, to: str, where: str | None = None) -> errors.ConnectionLost:
    return errors.ConnectionLost(
        f"{board}: the connection to {to} broke off",
        hint="the board may have crashed, rebooted or lost power: look at "
        + (where or "its console"),
    )


_CHANNEL = """
exec request failed
BoardError: the ssh server of {to} refuses to run the command
the account may have no shell

open failed|session open refused
BoardError: the ssh server of {to} opens no more sessions
MaxSessions in its configuration
"""


def channel_error(board: str, to: str, said: str) -> errors.TeemarkError | None:
    """A refusal of one command on a connection that lives, from what ssh wrote."""
    return _told(_CHANNEL, board, said, to=to)


# The status and the last words of a program of ours that doesn't run.
_CANNOT_RUN = """
^126 .*permission denied
BoardError: {path} was installed, but doesn't run: {said}
its file system is mounted noexec: name another `directory` in the board file, or remount it there
  (mount -o remount,exec …)

^12[67]\\b
BoardError: {path} was installed, but doesn't run: {said}
the file is there, so it is its loader that isn't, or it is for another machine: the programs are
  built for glibc on the architecture that `uname -m` says

glibc
BoardError: {path} was installed, but doesn't run: {said}
the board's C library is older than the one that the programs were built with

^
BoardError: {path} was installed, but doesn't run: {said}
try it by hand: `teemark shell`
"""


def cannot_run(board: str, path: str, status: int, said: str) -> errors.TeemarkError:
    """Why a program of ours that was put on the board doesn't run there."""
    last = said.strip().splitlines()[-1] if said.strip() else f"status {status}"
    error = _told(_CANNOT_RUN, board, f"{status} {last}", path=path, said=last)
    assert error is not None
    return error


def _told(table: str, board: str, text: str, **names: str) -> errors.TeemarkError | None:
    """The error of the first row of a table that fits."""
    for (pattern,), kind, what, hint in _rows(table):
        if re.search(pattern, text.lower()):
            return kind(f"{board}: {what.format_map(names)}", hint=hint)
    return None


def folder_error(board: str, folders: str, said: str) -> errors.TeemarkError:
    """Why a folder could not be made, from what mkdir wrote."""
    named = re.search(r"directory [^/]?(/.+?)\W?: ", said)
    return transfer_error(board, named[1] if named else folders, said)


# The words of the tools on the board, the error and its hint.
_TRANSFER = """
no space left
NoSpace: no space left for {path}
free some on the board (`teemark exec BOARD -- df -h`), or name another folder

read-only file system
ReadOnly: {path} is on a read-only file system
remount it for writing (teemark exec BOARD -- mount -o remount,rw /), or name another `directory`
  in the board file

permission denied|operation not permitted
TransferError: no permission for {path}
log in as root, or set sudo = true in the board file

a password is required|sudo: not found
TransferError: sudo on the board asks for a password or isn't there
allow it without one for this user (NOPASSWD), or log in as root
"""


def transfer_error(board: str, path: str, said: str) -> errors.TeemarkError:
    """Why a file could not be written or read, from what the tools on the board wrote."""
    last = (said.strip().splitlines() or ["no reason given"])[-1]
    gone = re.search("no such file or directory|not found", said.lower())
    otherwise = f"{board}: {path}{'' if gone else ' could not be copied'}: {last}"
    return _told(_TRANSFER, board, said, path=path) or errors.TransferError(otherwise)
