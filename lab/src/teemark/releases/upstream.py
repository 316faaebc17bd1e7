# SPDX-License-Identifier: BSD-2-Clause
"""Findings in OP-TEE as data: where each stands in the source, and the change of single lines that
mends it. Looks whether they still hold in a tree. No copy of OP-TEE's source is kept here."""

import difflib
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from msgspec import Struct

from teemark.base import paths
from teemark.base.checked import parse_toml, read_text
from teemark.base.errors import DataError

State = Literal["holds", "mended", "rewritten", "gone"]
"""`rewritten`: the function is there, and neither what is wrong nor its mend is in it."""

GRAVEST: tuple[State, ...] = ("holds", "rewritten", "gone", "mended")


class Mend(Struct, frozen=True, forbid_unknown_fields=True):
    """A change of a line in a function, or anywhere in a file; `before` becomes `after`."""

    file: str
    before: str
    after: str
    function: str = ""


class Upstream(Struct, frozen=True, forbid_unknown_fields=True):
    name: str
    what: str
    mend: tuple[Mend, ...]
    case: str = ""  # what shows it, in instructions; "": no figure does
    options: tuple[str, ...] = ()  # of OP-TEE's build, with which it shows
    since: str = ""
    until: str = ""
    thread: str = ""  # upstream's, or the commit that brought it


class _File(Struct, frozen=True, forbid_unknown_fields=True):
    finding: tuple[Upstream, ...]


def load() -> tuple[Upstream, ...]:
    file = paths.reference() / "upstream.toml"
    read: _File = parse_toml(read_text(file), _File, str(file))
    return read.finding


def _pattern(text: str) -> re.Pattern[str]:
    return re.compile(r"\s+".join(map(re.escape, text.split())))


def _span(source: str, function: str) -> tuple[int, int] | None:
    """Returns where a function's definition stands in a C file, as OP-TEE formats it: its body
    ends with a brace at the beginning of a line. Without a function, that is the whole file."""
    if not function:
        return 0, len(source)
    head = rf"^\w[^\n;]*\b{re.escape(function)}\([^;{{]*?\)[^;{{]*\{{.*?^\}}"
    match = re.search(head, source, re.M | re.S)
    return match.span() if match is not None else None


@dataclass(frozen=True, slots=True)
class Looked:
    """The state of a finding in a source tree of OP-TEE."""

    finding: Upstream
    state: State
    patch: str = ""
    """The mend as a patch for that tree, if the finding holds."""
    before: int | None = None  # instructions of the finding's case, if measured
    after: int | None = None  # the same with the mend


def look(tree: Path, finding: Upstream) -> Looked:
    """Looks for a finding in a source tree, and makes the patch that mends it there."""
    states: list[State] = []
    changed: dict[str, tuple[str, str]] = {}
    for mend in finding.mend:
        try:
            source = (tree / mend.file).read_text(encoding="utf-8", errors="surrogateescape")
        except FileNotFoundError:
            return Looked(finding, "gone")
        except OSError as error:
            raise DataError(f"{tree / mend.file}: can't be read: {error.strerror}") from None
        original, now = changed.get(mend.file, (source, source))
        span = _span(now, mend.function)
        if span is None:
            return Looked(finding, "gone")
        body = now[slice(*span)]
        if mend.after and _pattern(mend.after).search(body):
            states.append("mended")
        elif (match := _pattern(mend.before).search(body)) is not None:
            states.append("holds")
            at = span[0] + match.start(), span[0] + match.end()
            if not mend.after:  # the whole line
                at = now.rfind("\n", 0, at[0]) + 1, now.find("\n", at[1]) + 1
            changed[mend.file] = original, now[: at[0]] + mend.after + now[at[1] :]
        else:
            states.append("rewritten" if mend.after else "mended")
    state = next(state for state in GRAVEST if state in states)
    if set(states) == {"holds", "mended"}:
        state = "rewritten"  # one of two lines was changed: somebody has to look
    patch = ""
    for file, texts in changed.items():
        old, new = (text.splitlines(keepends=True) for text in texts)
        patch += "".join(difflib.unified_diff(old, new, f"a/{file}", f"b/{file}"))
    return Looked(finding, state, patch if state == "holds" else "")
