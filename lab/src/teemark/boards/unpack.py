# SPDX-License-Identifier: BSD-2-Clause
"""A folder out of a tar stream that a board sent, and nothing but a folder.

The board may be broken or hostile, and teemark may run as root. So only files, folders and links
within the folder are made: no device node, no pipe, no setuid bit, nothing beside the folder.
"""

from __future__ import annotations

import os
import shutil
import tarfile
from pathlib import Path, PurePosixPath
from typing import IO

from teemark.base.errors import TransferError


def unpack(stream: IO[bytes], folder: Path, board: str) -> list[str]:
    """Unpacks what a board sent into an empty folder; returns what was left out, "NAME: WHY"."""
    left_out: list[str] = []
    links: dict[Path, tarfile.TarInfo] = {}  # made last: nothing is ever written through one
    try:
        with tarfile.open(fileobj=stream, mode="r|") as archive:
            for member in archive:
                why = _member(archive, member, folder, links)
                if why:
                    left_out.append(f"{member.name!r}: {why}")
        for place, link in links.items():
            place.symlink_to(link.linkname)
        for place, link in links.items():
            if not _within(folder, place):
                place.unlink()
                left_out.append(f"{link.name!r}: a link that leads out of the folder")
    except (tarfile.TarError, OSError, ValueError, OverflowError) as error:
        raise TransferError(f"{board}: what it sent can't be unpacked: {error}") from error
    return left_out


def _within(folder: Path, place: Path) -> bool:
    return Path(os.path.realpath(place)).is_relative_to(os.path.realpath(folder))


def _place(folder: Path, name: str) -> Path | None:
    """Where in the folder a name of the archive lies; None: not in it."""
    parts = PurePosixPath(name)
    return None if parts.is_absolute() or ".." in parts.parts else folder / parts


def _member(
    archive: tarfile.TarFile,
    member: tarfile.TarInfo,
    folder: Path,
    links: dict[Path, tarfile.TarInfo],
) -> str | None:
    """Make one; or why not."""
    place = _place(folder, member.name)
    if place is None:
        return "it lies outside of the folder"
    if any(parent in links for parent in place.parents):
        return "it lies behind a link"
    if place == folder or (member.isdir() and place.is_dir()):
        return None
    if place in links or os.path.lexists(place):
        return "it is there twice"
    place.parent.mkdir(parents=True, exist_ok=True)
    if member.issym():
        links[place] = member
        return None
    return _make(archive, member, folder, place)


def _make(
    archive: tarfile.TarFile, member: tarfile.TarInfo, folder: Path, place: Path
) -> str | None:
    if member.isdir():
        place.mkdir(mode=member.mode & 0o777 | 0o700)
    elif member.isfile():
        _file(archive, member, place)
    elif member.islnk():
        first = _place(folder, member.linkname)
        if first is None or not first.is_file():
            return "the second name of a file that isn't in the folder"
        place.hardlink_to(first)
    else:
        return "neither a file nor a folder nor a link"
    return None


def _file(archive: tarfile.TarFile, member: tarfile.TarInfo, place: Path) -> None:
    mode = member.mode & 0o777 | 0o600
    data = archive.extractfile(member)
    assert data is not None
    with os.fdopen(os.open(place, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode), "wb") as out:
        shutil.copyfileobj(data, out)
    os.utime(place, (member.mtime, member.mtime))
