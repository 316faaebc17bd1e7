# SPDX-License-Identifier: BSD-2-Clause
"""A Trusted Application of the user's: built with a board's kit, and put on the board for as long
as it is measured.

It is a folder as in optee_examples, whose `ta/` has the Makefile; or that folder `ta` itself; or
the signed file, UUID.ta.
"""

from __future__ import annotations

import hashlib
import os
from dataclasses import dataclass
from pathlib import Path

from teemark import paths
from teemark.boards.board import Board
from teemark.boards.optee import build
from teemark.errors import BuildFailed, ConfigError, MissingOutput, UsageMistake


@dataclass(frozen=True, slots=True)
class Built:
    """What is put on the board."""

    name: str
    file: Path
    elf: Path | None
    """With its symbols."""


@dataclass(frozen=True, slots=True)
class OwnTa:
    """As the user named it."""

    path: Path

    @property
    def folder(self) -> Path:
        """Its own, or the one that its file is in."""
        return self.path.absolute().parent if self.path.is_file() else self.path.absolute()

    @property
    def name(self) -> str:
        """Of its folder."""
        return self.folder.parent.name if self.folder.name == "ta" else self.folder.name

    @property
    def makefile(self) -> Path | None:
        for folder in (self.folder / "ta", self.folder):
            if self.path.is_dir() and (folder / "Makefile").is_file():
                return folder / "Makefile"
        return None


def find(path: Path) -> OwnTa:
    """UsageMistake if there is none at that path."""
    ta = OwnTa(path)
    if not path.exists():
        raise UsageMistake(f"{path} doesn't exist", hint=f"`teemark new-ta {path}` makes one")
    if path.is_file() and path.suffix != ".ta":
        raise UsageMistake(
            f"{path} is no Trusted Application", hint="name its folder, or the signed UUID.ta"
        )
    if path.is_dir() and ta.makefile is None:
        raise UsageMistake(
            f"{path} has no ta/Makefile",
            hint="name a folder in the form of optee_examples; `teemark new-ta NAME` makes one",
        )
    return ta


def built(ta: OwnTa, uuid: str, board: Board) -> Built:
    """The TA, built with the board's kit; `uuid` is the one that a plan calls it by."""
    if ta.path.is_file():
        found = [ta.path.absolute()]
    else:
        out = _make(ta, board.ta_kit)
        found = sorted(out.glob("*.ta"))
    mine = [file for file in found if file.stem.lower() == uuid]
    if not mine:
        what = " and ".join(file.stem for file in found) or "nothing"
        raise ConfigError(
            f"the plan's TA is {uuid}, but {ta.path} gives {what}",
            hint="the uuid in [ta] of bench.toml must be that of ta/Makefile's BINARY",
        )
    elf = mine[0].with_suffix(".elf")
    return Built(ta.name, mine[0], elf if elf.is_file() else None)


def _make(ta: OwnTa, kit: Path) -> Path:
    """The folder of what was built. Its Makefile decides, as with optee_examples: only the kit, the
    compiler and where to build are told."""
    assert ta.makefile is not None
    conf = kit / "mk" / "conf.mk"
    if not (kit / "mk" / "ta_dev_kit.mk").is_file():
        raise MissingOutput(
            f"{kit} is no development kit for TAs: it has no mk/ta_dev_kit.mk",
            hint="`make build` fetches one; for a board of your own name its kit: "
            "TA_DEV_KIT_DIR=…/export-ta_arm64",
        )
    narrow = conf.is_file() and "ta_arm32" in conf.read_text(errors="replace")
    default = "arm-linux-gnueabihf-" if narrow else "aarch64-linux-gnu-"
    prefix = os.environ.get("CROSS_COMPILE", default)
    words = f"{ta.folder}\0{kit.resolve()}\0{prefix}"
    out = paths.own_tas() / f"{ta.name}-{hashlib.sha256(words.encode()).hexdigest()[:10]}"
    out.mkdir(parents=True, exist_ok=True)
    for stale in out.glob("*.ta"):
        stale.unlink()
    build(
        [
            *("make", "--no-print-directory", "-C", str(ta.makefile.parent)),
            *(f"TA_DEV_KIT_DIR={kit.resolve()}", f"CROSS_COMPILE={prefix}", f"O={out}", "LDFLAGS="),
        ],
        f"{ta.path} can't be built",
        f"{prefix}gcc",
        BuildFailed,
    )
    return out
