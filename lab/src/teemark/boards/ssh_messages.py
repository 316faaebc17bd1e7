# SPDX-License-Identifier: BSD-2-Clause
"""Errors of ours from what ssh says when it fails. Pure: text in, error out."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Mapping

from teemark.base import errors
from teemark.boards.endpoint import Endpoint

# The messages of an ssh that can't connect: a pattern of what it says to everybody, and perhaps,
# after "& ", one of what it says besides at its first level of debugging. The first row that fits
# decides; then come the error and its hint, each of which may go on in an indented line. Names in
# braces are groups of the patterns, or what `_names` knows.
_CONNECT = r"""
^command-line:? line \d+: (?P<why>.+?)\.?$
ConfigError: ssh doesn't accept the `options` in the board file: {why}
they are written as in `man ssh_config`: options = ["NAME=VALUE"]

^(?P<file>/.+?):? line (?P<line>\d+): (?P<why>.+?)\.?$
ConfigError: ssh doesn't accept its own configuration: {file}, line {line}: {why}
mend it there (`man ssh_config`)

remote host identification has changed|^host key for \S+ has changed
ConnectError: {to} shows another host key than the one known for it{known_at}{fingerprint}
if the board was installed anew, remove the old key: {forget}; if not, another machine answers at
  this address

host key verification failed
ConnectError: the host key of {to} isn't known yet{fingerprint}
compare it with the board's own: on its console, `ssh-keygen -lf
  /etc/ssh/ssh_host_{key_type}_key.pub` (dropbear: `dropbearkey -y -f
  /etc/dropbear/dropbear_{key_type}_host_key`). If it is the same, connect
  once by hand, and answer yes: {trust} true

could not resolve hostname (?P<name>\S+?): .*temporary
ConnectError: no address known for {named_host}
no name server answers: write the number instead of the name

could not resolve hostname (?P<name>\S+?):
ConnectError: no address known for {named_host}
check `address` in the board file, or write the number instead of the name

connect to (?:host|address) (?P<host>\S+) port (?P<port>\d+): connection refused
ConnectError: {whom} refuses connections
is its ssh server running, and on the port that the board file says?

connect to (?:host|address) (?P<host>\S+) port (?P<port>\d+): .*(timed out|no route|unreachable)
ConnectError: {whom} doesn't answer
is it switched on, and is this machine on its network? try: ping {address}

during banner exchange
ConnectError: {to} takes the connection, but doesn't answer as an ssh server does
is it one, on the port that the board file says? It may also hang, or still be booting

banner line contains invalid|invalid protocol|bad protocol
ConnectError: what answers at {to} is no ssh server
check `address` and `port` in the board file

timed out|no route to host|network is unreachable
ConnectError: {to} doesn't answer
is it switched on, and is this machine on its network? try: ping {address}

^no such identity: (?P<file>.+): no such file
ConnectError: there is no key file {file}
{where_named}

^load key "(?P<file>.+)\.pub":
ConnectError: {file}.pub is the public half of a key
name the private one, {file}, or let ssh-agent hold it

^permissions (?P<mode>\d+) for [^^]*^load key "(?P<file>.+)": bad permissions
ConnectError: others may read the key {file} (mode {mode}), so ssh doesn't use it
chmod 600 {quoted}

^load key "(?P<file>.+)": permission denied
ConnectError: this user may not read the key {file}
become its owner, or name another: `identity` in the board file

^load key "(?P<file>.+)": .*passphrase
ConnectError: {to} would take the key {file}, but it has a passphrase and no ssh-agent holds it open
ssh-add {quoted} (start an agent first where there is none: eval $(ssh-agent)); teemark asks for no
  passphrase

^load key "(?P<file>.+)": (?P<why>.+)
ConnectError: {file} is no private key that ssh can read ({why})
{where_named}

too many authentication failures
ConnectError: {to} has heard of too many keys before the right one
name it in the board file, and no other is tried: identity = "~/.ssh/…"

permission denied
& ^debug1: Server accepts key: (?P<file>.+?) \S+ SHA256:\S+
ConnectError: {to} would take the key {file}, but it has a passphrase and no ssh-agent holds it open
ssh-add {quoted} (start an agent first where there is none: eval $(ssh-agent)); teemark asks for no
  passphrase

^(?:(?P<who>\S+@\S+): )?permission denied
& Authentications that can continue: (?P<methods>(?!\S*publickey)\S+)
ConnectError: {who} takes no keys, only {methods}
allow them in its configuration (PubkeyAuthentication); teemark asks for no password

^(?:(?P<who>\S+@\S+): )?permission denied
& ^debug1: Offering public key: (?P<file>.+?)(\.pub)? \S+ (?P<key>SHA256:\S+)
ConnectError: {who} refuses the key {file} ({key})
is `user` right in the board file? The public key must be in that user's authorized_keys there:
  {copy_id}; teemark asks for no password

^(?:(?P<who>\S+@\S+): )?permission denied
ConnectError: there is no key to show to {who}
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
_KEY_TYPES = ("ed25519", "ecdsa", "rsa")  # As ssh-keyscan and the files of a server call them
_DEBUG = re.compile(r"debug\d: |OpenSSH_|Authenticated to |Transferred: |Bytes per second: ")


def _names(to: Endpoint, words: str, debug: str, found: Mapping[str, str]) -> dict[str, str]:
    """Returns what stands for the names in braces of a row; `found` are the groups of its
    patterns."""
    file, name = found.get("file", ""), found.get("name", "")
    who = found.get("who", str(to))
    machine = f"{found.get('host')}:{found.get('port')}"  # that ssh names: a gateway, perhaps
    shown = _last(r"Server host key: ((\S+) SHA256:\S+)", debug)
    known = _last(r"Offending \S+ key in (.+):(\d+)$", words)
    changed = _last(r"^Host key for (\S+) has changed", words)
    plain = to.address if to.port in (None, 22) else f"[{to.address}]:{to.port}"
    forget = ["ssh-keygen", *(["-f", known[1]] if known else [])]
    forget += ["-R", changed[1] if changed else plain]
    copy = ["ssh-copy-id", "-i", f"{file}.pub", *(["-p", str(to.port)] if to.port else [])]
    in_board_file = str(to.identity) == file
    return {
        "to": str(to),
        "address": to.address,
        "who": who,
        "whom": str(to) if machine in str(to) else machine,
        "named_host": str(to) if name == to.address else name,
        "last_word": (words.strip().splitlines() or ["without a word"])[-1],
        "by_hand_loud": to.by_hand("-v"),
        "trust": to.by_hand("-o", "StrictHostKeyChecking=ask"),
        "quoted": shlex.quote(file),
        "where_named": "check `identity` in the board file"
        if in_board_file
        else "your ssh configuration names it: check IdentityFile there",
        "copy_id": shlex.join([*copy, who.removesuffix(f":{to.port}")]),
        "kind_of_algorithm": _ALGORITHMS.get(found.get("what", "").lower(), "HostKeyAlgorithms"),
        "fingerprint": f": {shown[1]}" if shown else "",
        "key_type": next((kind for kind in _KEY_TYPES if shown and kind in shown[2]), "ed25519"),
        "known_at": f" ({known[1]}, line {known[2]})" if known else "",
        "forget": shlex.join(forget),
        **found,
    }


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
    lines = said.replace("\r", "").splitlines()
    words = "\n".join(line for line in lines if not _DEBUG.match(line))
    debug = "\n".join(line for line in lines if _DEBUG.match(line))
    for patterns, kind, what, hint in _rows(_CONNECT):
        found = [
            _last(pattern.removeprefix("& "), debug if pattern.startswith("& ") else words)
            for pattern in patterns
        ]
        if all(found):
            groups = {name: text for one in found if one for name, text in one.groupdict().items()}
            names = _names(to, words, debug, {name: x for name, x in groups.items() if x})
            return kind(f"{board}: {what.format_map(names)}", hint=hint.format_map(names))
    raise AssertionError("the last row of the table fits")


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
TransferError: no space left for {path}
free some on the board (`teemark exec BOARD -- df -h`), or name another folder

read-only file system
TransferError: {path} is on a read-only file system
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
