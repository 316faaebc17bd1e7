# SPDX-License-Identifier: BSD-2-Clause
"""Facts about firmware images, read from the very files that are booted: the notes of a build may
be older than the files in its folder."""

import hashlib
import re
from collections.abc import Iterable
from pathlib import Path

from teemark.base.sanitize import harmless, harmless_line
from teemark.git import git
from teemark.run.records import Commit, Firmware

_OPTEE = re.compile(rb"([\x21-\x7e]+) \(((?:gcc|clang)[\x20-\x7e]*)\) (#\d+ [\x20-\x7e]*)")
_TFA = re.compile(rb"(v\d[\x21-\x7e]*\([a-z]+\):[\x21-\x7e]*)\0")
_FLAGS = re.compile(rb"GNU C\d[\x20-\x7e]*")  # DW_AT_producer of the first C source
_COMPILER = re.compile(rb"GCC: [\x20-\x7e]*|(?:\w+ )?clang version [\x20-\x7e]*")  # in .comment
_SETTING = re.compile(r"^(CFG_\w+)=(.*)$", re.M)


def digest(files: Iterable[Path]) -> str:
    """Returns the SHA-256 of the files' contents, in their order, with their lengths."""
    sha256 = hashlib.sha256()
    for file in files:
        data = file.read_bytes()
        sha256.update(len(data).to_bytes(8, "little") + data)
    return sha256.hexdigest()


def core(
    images: Iterable[Path], elf: Path | None, configuration: Path, source: Path | None = None
) -> Firmware:
    """Returns the facts of OP-TEE's core. `images` are booted; `elf` is the same code with symbols.
    `configuration` is the build's conf.mk, which Debian's package lacks. `source` is the source
    tree if the build lies outside of it."""
    images = tuple(images)
    match = next((m for file in images if (m := _OPTEE.search(file.read_bytes()))), None)
    words = [harmless_line(part.decode("ascii")) for part in match.groups()] if match else []
    settings = {}
    if configuration.is_file():
        settings = dict(_SETTING.findall(harmless(configuration.read_text(errors="replace"))))
    return Firmware(
        name="OP-TEE",
        sha256=digest(images),
        version=" ".join([words[0], words[2]]) if words else None,
        compiler=words[1] if words else None,
        flags=_told(elf, _FLAGS),
        configuration=settings,
        commit=commit(source or configuration.parent, "core/arch/arm/kernel"),
    )


def tfa(images: Iterable[Path], elf: Path) -> Firmware:
    images = tuple(images)
    match = next((m for file in images if (m := _TFA.search(file.read_bytes()))), None)
    return Firmware(
        name="TF-A",
        sha256=digest(images),
        version=harmless_line(match[1].decode("ascii")) if match else None,
        compiler=_told(elf, _COMPILER),
        flags=_told(elf, _FLAGS),
        commit=commit(elf.parent, "bl31"),
    )


def commit(folder: Path, mark: str) -> Commit | None:
    """Returns the commit of the git tree around a build. Returns None if there is no tree, or if
    the tree lacks the path `mark` and so is not the build's source."""
    top = git(folder, "rev-parse", "--show-toplevel")
    return Commit.checked_out(folder) if top and (Path(top) / mark).exists() else None


def _told(elf: Path | None, pattern: re.Pattern[bytes]) -> str | None:
    """Returns the first text in the file that matches; None if there is none, or no file."""
    try:
        match = pattern.search(elf.read_bytes()) if elf is not None else None
    except OSError:
        return None
    return harmless_line(match[0].decode("ascii")) if match else None
