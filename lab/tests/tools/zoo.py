# SPDX-License-Identifier: BSD-2-Clause
"""The boards that differ: one table of what each is and what has to come of it, and what is written
into docs/boards.md of what came (`make zoo`)."""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from teemark.base import paths

PAGE = paths.root() / "docs" / "boards.md"
RESULTS = paths.build() / "zoo"
"""A JSON file a board: what came of each step, in words."""

STEPS = ("setup", "doctor", "run --plan quick", "teehash", "removal")

NO_TEE = frozenset({"no-tee"})
LOCKED = frozenset({"ta-rejected"})
ALWAYS = frozenset({"unsupported-algorithm"})


@dataclass(frozen=True, slots=True)
class Animal:
    """A board of boards/, and what has to come of it."""

    board: str
    differs: str
    skips: frozenset[str] = frozenset()
    """Why cases of `quick` may be skipped there, besides what no board can."""
    status: int = 0
    """The exit status of `setup` and of `run`."""
    user: str = ""
    """Who measures: root (""), ann of the TEE's group without root ("group"), ann by su ("su")."""
    tee: bool = True
    """teehash gets an answer from the TEE."""
    proof: str = "true"
    """A command that succeeds on the board if it is what it says."""

    @property
    def name(self) -> str:
        return f"{self.board}-{self.user}" if self.user else self.board

    @property
    def results(self) -> Path:
        return RESULTS / f"{self.name}.json"


ZOO = (
    Animal("qemu-v8", "nothing: 64-bit, glibc 2.41, OpenSSL 3"),
    Animal("qemu-v8", "its user isn't root, but of the group of `/dev/tee0`", user="group"),
    Animal("qemu-v8", "its user is root by `su` alone (`su = true`)", user="su"),
    Animal("qemu-bare", "no TEE (`tee = false`)", skips=NO_TEE, tee=False),
    Animal(
        "qemu-locked",
        "our TAs are signed with a key that its OP-TEE doesn't know (`locked = true`)",
        skips=LOCKED,
        status=1,
        tee=False,
    ),
    Animal(
        "qemu-musl",
        "musl, busybox and dropbear, read-only root, the TAs' folder by `--ta-path`, no libcrypto",
        skips=frozenset({"no-libcrypto"}),
    ),
    Animal("qemu-old", "glibc 2.31 and OpenSSL 1.1 (Debian 11)"),
    Animal(
        "qemu-v8-32",
        "32-bit programs and TAs over a 64-bit kernel and OP-TEE",
        skips=frozenset({"no-ta-impl"}),  # no crypto instructions in a 32-bit TA
    ),
    Animal(
        "qemu-v7",
        "32-bit OP-TEE, kernel, programs and TAs (Cortex-A15)",
        skips=frozenset({"no-ta-impl", "no-ce"}),
        proof='[ "$(uname -m)" = armv7l ]',
    ),
    Animal(
        "qemu-rpi3",
        "a Raspberry Pi 3 with OP-TEE's own port to it: shared memory is a pool of 4 MiB",
        skips=frozenset({"no-ce"}),
        proof='[ "$(nproc)" = 4 ] && grep -q "Raspberry Pi 3" /proc/device-tree/model',
    ),
    Animal(
        "qemu-small",
        "64 MB of memory for Linux, and its clock in 1970",
        proof='[ "$(date +%Y)" = 1970 ] && while read -r name kib _; do case $name in '
        'MemTotal:) [ "$kib" -le 65536 ];; esac || exit 1; done </proc/meminfo',
    ),
)

NOT_TRIED: Mapping[str, str] = {
    "STM32MP1/2, i.MX, TI K3, Rockchip, ZynqMP, Jetson": "no such board is here",
    "musl with a libcrypto; a tee-supplicant linked with musl": "Debian has neither",
    "OpenHarmony's and phones' TEEs": "no such board is here; `qemu-locked` refuses as they do",
}
"""What can't be built here, and why."""

BEGIN, END = "<!-- zoo: make zoo writes this -->\n", "<!-- end of the zoo -->\n"


SAME = "="
"""Stands for what the first board gives in that step, so that rows show how they differ."""


def table() -> str:
    """Returns the table of docs/boards.md, by what the last zoo told, and what wasn't tried."""
    rows = []
    for animal in ZOO:
        file = animal.results
        told = json.loads(file.read_text()) if file.is_file() else {}
        steps = (told.get(step, "not tried") for step in STEPS)
        rows.append((f"`{animal.board}`", animal.differs, *steps))
    return written(rows)


def written(rows: Sequence[Sequence[str]]) -> str:
    """Returns a table of boards in Markdown; the first row's steps are SAME in the rows below."""
    first, *others = rows
    shown = [[SAME if a == b else a for a, b in zip(r[2:], first[2:], strict=True)] for r in others]
    cells = [("board", "what differs", *STEPS), first]
    cells += [(*row[:2], *steps) for row, steps in zip(others, shown, strict=True)]
    lines = [f"| {' | '.join(row)} |" for row in cells]
    missing = [f"- {what}: not tried, {why}" for what, why in NOT_TRIED.items()]
    rule = "|---" * len(cells[0]) + "|"
    return "\n".join((lines[0], rule, *lines[1:], "", *missing, ""))


def in_page(text: str) -> str:
    """Returns the table that a page has."""
    return text.partition(BEGIN)[2].partition(END)[0]


def write() -> None:
    """Writes the table into docs/boards.md."""
    text = PAGE.read_text(encoding="utf-8")
    pattern = re.escape(BEGIN) + ".*?" + re.escape(END)
    new, times = re.subn(pattern, lambda _: BEGIN + table() + END, text, flags=re.S)
    assert times == 1, f"{PAGE} has no place for the zoo's table"
    PAGE.write_text(new, encoding="utf-8")


if __name__ == "__main__":
    write()
