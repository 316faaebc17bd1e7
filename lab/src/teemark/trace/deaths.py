# SPDX-License-Identifier: BSD-2-Clause
"""Reads why Trusted Applications died from the secure console's text: OP-TEE prints the panic's
code or the abort, the addresses at which the TA's files were loaded, and the call stack. Pure."""

import re
from collections.abc import Mapping
from dataclasses import dataclass

from teemark.trace.symbols import Elf

_LINE = re.compile(
    r"TA panicked with code (?P<code>0x[\da-f]{1,8})|User mode (?P<abort>[\w-]+) at address"
    r"|Status of TA (?P<ta>[\da-f-]{36})|\[\d+\] (?P<file>[\da-f-]{36}) @ (?P<load>0x[\da-f]{1,16})"
    r"|E/LD: +(?P<at>0x[\da-f]{1,16})\s*$"
)


@dataclass(frozen=True, slots=True)
class Death:
    """How a TA died. `stack` has the innermost address first: the UUID of the file that it lies in
    and the offset in that file, or "" and the address where no file is known."""

    ta: str
    why: str
    stack: tuple[tuple[str, int], ...] = ()

    def frames(self, elfs: Mapping[str, Elf]) -> str:
        """Returns the call stack in words, by the names in the TAs' files (UUID: file)."""
        words = []
        for file, offset in self.stack:
            symbol = elfs[file].table.find(offset) if file in elfs else None
            place = f"{file[:8]}+0x{offset:x}" if file else f"0x{offset:x}"
            words.append(f"{symbol.name}+0x{offset - symbol.address:x}" if symbol else place)
        return " ← ".join(words)


def deaths(console: str) -> list[Death]:
    """Returns the deaths of TAs that a secure console tells of, in their order."""
    found: list[Death] = []
    why, files = "", dict[int, str]()
    for line in console.splitlines():
        match = _LINE.search(line)
        if match is None:
            continue
        if match["code"] or match["abort"]:
            why = f"panic with code {match['code']}" if match["code"] else match["abort"]
        elif match["ta"]:
            found.append(Death(match["ta"], why or "no reason given"))
            why, files = "", {}
        elif match["load"]:
            files[int(match["load"], 16)] = match["file"]
        elif found and (files or found[-1].stack):
            last, address = found[-1], int(match["at"], 16)
            load = max((at for at in files if at <= address), default=None)
            place = ("", address) if load is None else (files[load], address - load)
            found[-1] = Death(last.ta, last.why, (*last.stack, place)[:_STACK])
    return found


_STACK = 32  # Frames that are kept of one death
