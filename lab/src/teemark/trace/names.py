# SPDX-License-Identifier: BSD-2-Clause
"""Names of TAs and of their commands: from C headers, or from a TOML file with tables such as
["fd02c9da-306c-48c7-a49c-bbd827ae86ee"] that have `name = "pkcs11"`, `commands = { 0 = "PING" }`.
"""

import re
import tomllib
import uuid
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

from teemark.base.errors import UsageMistake
from teemark.base.results import RESULTS
from teemark.base.sanitize import harmless, harmless_line

KNOWN = Path(__file__).with_name("names.toml")

_ORIGINS = ("unknown origin", "client API", "communication", "TEE", "trusted application")

_UUID = re.compile(
    r"#define\s+(\w+?)_?UUID\w*\s*\\?\s*\{\s*(0x[0-9a-f]+)\s*,\s*(0x[0-9a-f]+)\s*,\s*"
    r"(0x[0-9a-f]+)\s*,\s*\\?\s*\{((?:\s*\\?\s*0x[0-9a-f]+\s*,?){8})",
    re.I,
)
_COMMAND = re.compile(
    r"(?:^\s*#define\s+|\b)(\w*CMD_\w+)\s*(?:=|[ \t])\s*(0x[0-9a-f]+|\d+)\b", re.M | re.I
)


@dataclass(slots=True)
class Names:
    tas: dict[str, str] = field(default_factory=dict)
    commands: dict[tuple[str, int], str] = field(default_factory=dict)

    def ta(self, ta: str) -> str:
        return self.tas.get(ta, f"TA {ta[:8]}")

    def command(self, ta: str, number: int) -> str:
        name = self.commands.get((ta, number))
        return name if name is not None else f"command {number}"


def result(code: int) -> str:
    """Returns the name of a TEE_Result; its number if it has no name."""
    return RESULTS.get(code, f"0x{code:08x}")


def origin(number: int) -> str:
    """Returns who gave a result, by libteec's return origin."""
    return _ORIGINS[number if number < len(_ORIGINS) else 0]


def read(files: Iterable[Path]) -> Names:
    """Returns the names that the files give; later files override earlier ones. Raises UsageMistake
    if a file can't be read. A header without a TA's UUID gives no names."""
    names = Names()
    for file in files:
        try:
            text = harmless(file.read_text(encoding="utf-8", errors="replace"))
        except OSError as error:
            raise UsageMistake(f"{file}: can't be read: {error.strerror}") from None
        if file.suffix == ".toml":
            _toml(names, text, file)
        else:
            _header(names, text)
    return names


def _header(names: Names, text: str) -> None:
    """Reads a header of a single TA: its UUID is an initializer, its commands are macros or an
    enum."""
    uuids = _UUID.findall(text)
    if len(uuids) != 1:
        return
    name, *parts = uuids[0]
    numbers = [int(word, 16) for word in re.findall(r"0x[0-9a-fA-F]+", " ".join(parts))]
    node = int.from_bytes(bytes(numbers[5:]), "big")
    try:
        low, mid, high, *clock = numbers[:5]
        ta = str(uuid.UUID(fields=(low, mid, high, clock[0], clock[1], node)))
    except ValueError:
        return
    names.tas[ta] = re.sub(r"^(PTA|TA)_|_(PTA|TA)$", "", name).lower()
    for command, number in _COMMAND.findall(text):
        short = command.rpartition("CMD_")[2]
        names.commands.setdefault((ta, int(number, 0)), short)


def _toml(names: Names, text: str, file: Path) -> None:
    try:
        for key, entry in tomllib.loads(text).items():
            ta = str(uuid.UUID(key))
            if "name" in entry:
                names.tas[ta] = harmless_line(str(entry["name"]))
            for number, name in entry.get("commands", {}).items():
                names.commands[ta, int(number, 0)] = harmless_line(str(name))
    except (tomllib.TOMLDecodeError, ValueError, AttributeError, TypeError) as error:
        raise UsageMistake(
            f"{file}: no file of names: {error}",
            hint='write ["UUID"], then name = "…" and commands = { 0 = "…" }',
        ) from None
