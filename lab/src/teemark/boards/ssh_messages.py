# SPDX-License-Identifier: BSD-2-Clause
"""Turns ssh's messages into teemark's errors. Pure: text in, error out."""

import re
import shlex
from collections.abc import Iterator, Mapping
from importlib.resources import files

from teemark.base import errors
from teemark.boards.answers import last_line
from teemark.boards.endpoint import Endpoint

_ALGORITHMS = {"key exchange method": "KexAlgorithms", "cipher": "Ciphers", "mac": "MACs"}
_KEY_TYPES = ("ed25519", "ecdsa", "rsa")  # As ssh-keyscan spells them
_DEBUG = re.compile(r"debug\d: |OpenSSH_|Authenticated to |Transferred: |Bytes per second: ")


def _names(to: Endpoint, words: str, debug: str, groups: Mapping[str, str]) -> dict[str, str]:
    file, name = groups.get("file", ""), groups.get("name", "")
    who = groups.get("who", str(to))
    machine = f"{groups.get('host')}:{groups.get('port')}"  # as ssh names it: may be a gateway
    shown = _last(r"Server host key: ((\S+) SHA256:\S+)", debug)
    offending = _last(r"Offending \S+ key in (.+):(\d+)$", words)
    changed = _last(r"^Host key for (\S+) has changed", words)
    plain = to.address if to.port in (None, 22) else f"[{to.address}]:{to.port}"
    forget = ["ssh-keygen", *(["-f", offending[1]] if offending else [])]
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
        "kind_of_algorithm": _ALGORITHMS.get(groups.get("what", "").lower(), "HostKeyAlgorithms"),
        "fingerprint": f": {shown[1]}" if shown else "",
        "key_type": next((kind for kind in _KEY_TYPES if shown and kind in shown[2]), "ed25519"),
        "known_at": f" ({offending[1]}, line {offending[2]})" if offending else "",
        "forget": shlex.join(forget),
        **groups,
    }


def _last(pattern: str, text: str) -> re.Match[str] | None:
    return next(reversed([*re.finditer(pattern, text, re.IGNORECASE | re.MULTILINE)]), None)


def _rows(table: str) -> Iterator[tuple[list[str], type[errors.TeemarkError], str, str]]:
    """Yields each row of a table: its patterns, its error's type and message, and its hint."""
    text = files("teemark.boards").joinpath("ssh_messages.txt").read_text(encoding="utf-8")
    section = re.sub("^#.*\n", "", text, flags=re.M).partition(f"== {table} ==\n")[2]
    for block in section.partition("\n== ")[0].strip("\n").split("\n\n"):
        *patterns, error, hint = block.replace("\n  ", " ").split("\n")
        kind, _, what = error.partition(": ")
        yield patterns, getattr(errors, kind), what, hint


def connect_error(board: str, to: Endpoint, log: str) -> errors.TeemarkError:
    """Returns the error of a failed connection, from ssh's output with LogLevel=DEBUG1."""
    lines = log.replace("\r", "").splitlines()
    words = "\n".join(line for line in lines if not _DEBUG.match(line))
    debug = "\n".join(line for line in lines if _DEBUG.match(line))
    for patterns, kind, what, hint in _rows("connect"):
        matches = [
            _last(pattern.removeprefix("& "), debug if pattern.startswith("& ") else words)
            for pattern in patterns
        ]
        if all(matches):
            groups = {k: v for match in matches if match for k, v in match.groupdict().items() if v}
            names = _names(to, words, debug, groups)
            return kind(f"{board}: {what.format_map(names)}", hint=hint.format_map(names))
    raise AssertionError("the last row of the table fits")


def cannot_run(board: str, path: str, status: int, output: str) -> errors.TeemarkError:
    """Returns the error of an installed program of ours that doesn't run on the board."""
    last = last_line(output) if output.strip() else f"status {status}"
    error = error_in("program", board, f"{status} {last}", path=path, said=last)
    assert error is not None
    return error


def error_in(table: str, board: str, text: str, **names: str) -> errors.TeemarkError | None:
    """Returns the error of a table's first row whose pattern matches; None if none does."""
    for (pattern,), kind, what, hint in _rows(table):
        if re.search(pattern, text.lower()):
            return kind(f"{board}: {what.format_map(names)}", hint=hint)
    return None


def folder_error(board: str, folders: str, output: str) -> errors.TeemarkError:
    """Returns the error of a folder that could not be made, from mkdir's message."""
    named = re.search(r"directory [^/]?(/.+?)\W?: ", output)
    return transfer_error(board, named[1] if named else folders, output)


def transfer_error(board: str, path: str, output: str) -> errors.TeemarkError:
    """Returns the error of a file that could not be copied, from the board's messages."""
    gone = re.search("no such file or directory|not found", output.lower())
    otherwise = f"{board}: {path}{'' if gone else ' could not be copied'}: {last_line(output)}"
    error = root_error(board, output) or error_in("transfer", board, output, path=path)
    return error or errors.TransferError(otherwise)


def root_error(board: str, output: str) -> errors.TeemarkError | None:
    """Returns the error if sudo or su refused, from its message; None if the command ran."""
    return error_in("root", board, output, said=last_line(output))
