# SPDX-License-Identifier: BSD-2-Clause
"""Which OP-TEE and TF-A a virtual board boots: Debian's binary, a build from Debian's source
package with options of one's own, or a folder with any build for QEMU.

Builds are kept in build/optee, one folder for each version and set of options.
"""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import os
import shutil
import struct
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from teemark import paths
from teemark.boards.config import VirtualConfig
from teemark.errors import BoardError, MissingOutput, TeemarkError

DEBIAN = "debian"
SOURCE = "source"

_IMAGES = ("tee-header_v2.bin", "tee-pager_v2.bin", "tee-pageable_v2.bin")


@dataclass(frozen=True, slots=True)
class Optee:
    """What a virtual board boots, and what says the names of its addresses."""

    what: str
    """In words."""
    flash: Path
    tas: Path
    """The folder of our TAs, built with `kit`."""
    kit: Path
    """The development kit for TAs that belongs to this OP-TEE."""
    images: Path
    """The folder of the core's images."""
    tfa: Path
    """TF-A's bl31.elf."""
    elf: Path | None = None
    """The core with its symbols; Debian's package has none."""
    ldelf: Path | None = None

    def core_code(self) -> range:
        """Physical addresses of the core's code, by the header of its images."""
        header = (self.images / _IMAGES[0]).read_bytes()
        # magic, version, architecture, flags, number of images; the first image's load address
        magic, _, _, _, _, high, low = struct.unpack_from("<4sBBHIII", header)
        start = high << 32 | low
        if magic != b"OPTE" or high == 0xFFFFFFFF:
            raise BoardError(f"{self.images / _IMAGES[0]}: no header of OP-TEE's images")
        return range(start, start + (self.images / _IMAGES[1]).stat().st_size)


def resolve(recipe: VirtualConfig) -> Optee:
    """The OP-TEE of a board's recipe; built if need be, which takes a minute."""
    if recipe.optee not in (DEBIAN, SOURCE):
        _check(Path(recipe.optee).expanduser())
    if recipe.optee == DEBIAN and recipe.tfa is None:
        return _resolve(recipe)
    with _alone():
        return _resolve(recipe)


@contextlib.contextmanager
def _alone() -> Iterator[None]:
    """One build at a time: two of the same would be in each other's way."""
    lock = paths.optee_builds() / "lock"
    lock.parent.mkdir(parents=True, exist_ok=True)
    with lock.open("w") as stream:
        fcntl.flock(stream, fcntl.LOCK_EX)
        yield


def _resolve(recipe: VirtualConfig) -> Optee:
    tfa = _tfa(recipe)
    if recipe.optee == DEBIAN:
        images = paths.vboard() / "firmware/usr/lib/optee/vexpress-qemu_armv8a"
        flash = paths.vboard() / "flash.bin"
        if recipe.tfa is not None:
            flash = _pack(tfa, images, paths.optee_builds() / f"debian-{_short(str(tfa))}")
        return Optee(
            what=f"Debian's OP-TEE {_version()}",
            flash=flash,
            tas=paths.built_tas(),
            kit=paths.ta_kit(),
            images=images,
            tfa=_bl31(tfa),
        )
    if recipe.optee == SOURCE:
        return _from_source(recipe.options, tfa)
    folder = Path(recipe.optee).expanduser()
    place = paths.optee_builds() / f"own-{_short(str(folder.resolve()))}"
    return _variant(f"OP-TEE of {folder}", folder, tfa, place)


def _tfa(recipe: VirtualConfig) -> Path:
    folder = Path(recipe.tfa).expanduser() if recipe.tfa else paths.vboard() / "tf-a"
    for name in ("bl1.bin", "fip.bin"):
        if not (folder / name).is_file():
            if recipe.tfa is None:
                raise MissingOutput(f"the virtual board isn't built: there is no {folder / name}")
            raise BoardError(
                f"`tfa` names {folder}, which has no {name}",
                hint="name the output of TF-A's build for QEMU: …/build/qemu/release",
            )
    _bl31(folder)
    return folder


def _bl31(folder: Path) -> Path:
    for file in (folder / "bl31.elf", folder / "bl31" / "bl31.elf"):
        if file.is_file():
            return file
    raise BoardError(
        f"{folder} has no bl31.elf", hint="name the output of TF-A's build: …/build/qemu/release"
    )


def _version() -> str:
    """Of Debian's binary package."""
    file = paths.vboard() / "VERSIONS"
    if not file.is_file():
        raise MissingOutput(f"the virtual board isn't built: there is no {file}")
    for line in file.read_text().splitlines():
        name, _, value = line.partition("=")
        if name == "optee-os":
            return value
    return ""


def _check(folder: Path) -> None:
    """Is it the output of OP-TEE's build, with all that is needed?"""
    needed = [f"core/{name}" for name in (*_IMAGES, "tee.elf")]
    needed.append("export-ta_arm64/mk/ta_dev_kit.mk")
    missing = [name for name in needed if not (folder / name).is_file()]
    if missing:
        raise BoardError(
            f"`optee` names {folder}, which has no {' and no '.join(missing)}",
            hint="name the output of OP-TEE's build for PLATFORM=vexpress-qemu_armv8a with "
            "CFG_ARM64_core=y CFG_ARM_GICV3=y CFG_USER_TA_TARGETS=ta_arm64: "
            "…/out/arm-plat-vexpress",
        )


def _from_source(options: Sequence[str], tfa: Path) -> Optee:
    builds = paths.optee_builds()
    version_file = builds / "src" / "version"
    if not version_file.is_file():
        _script("optee-source")
    version = version_file.read_text().strip()
    words = sorted(set(options))
    out = builds / f"{version}-{_short(version, *words)}"
    ready = out / "ready"
    if not ready.is_file():
        _script("optee", str(out), *words)
        _check(out)
        ready.write_text(" ".join(words) + "\n")
    what = f"OP-TEE {version} from source"
    return _variant(what + (f" with {' '.join(words)}" if words else ""), out, tfa, out)


def _variant(what: str, out: Path, tfa: Path, place: Path) -> Optee:
    images = out / "core"
    ldelf = out / "ldelf" / "ldelf.elf"
    return Optee(
        what=what,
        flash=_pack(tfa, images, place),
        tas=_tas(out / "export-ta_arm64", place / "tas"),
        kit=out / "export-ta_arm64",
        images=images,
        tfa=_bl31(tfa),
        elf=images / "tee.elf",
        ldelf=ldelf if ldelf.is_file() else None,
    )


def _pack(tfa: Path, images: Path, place: Path) -> Path:
    """A flash image of them, made again when one of them is newer."""
    flash = place / f"flash-{_short(str(tfa))}.bin"
    parts = [tfa / "bl1.bin", tfa / "fip.bin", *(images / name for name in _IMAGES)]
    if not flash.is_file() or any(p.stat().st_mtime > flash.stat().st_mtime for p in parts):
        _script("flash", str(tfa), str(images), str(flash))
    return flash


def _tas(kit: Path, out: Path) -> Path:
    """Our TAs, built with the kit: an OP-TEE may refuse those of another version's."""
    build(
        [
            *("make", "--no-print-directory", "-C", str(paths.root() / "ta"), "all"),
            *(f"TA_DEV_KIT_DIR={kit.resolve()}", f"OUT={out.resolve()}"),
        ],
        "the TAs can't be built with this OP-TEE's development kit",
    )
    return out


def _short(*words: str) -> str:
    return hashlib.sha256("\0".join(words).encode()).hexdigest()[:10]


def _script(name: str, *args: str) -> None:
    build(
        [str(paths.root() / "vboard" / "scripts" / name), *args],
        f"vboard/scripts/{name} failed",
    )


def build(
    argv: list[str],
    failed: str,
    compiler: str = "aarch64-linux-gnu-gcc",
    error: type[TeemarkError] = BoardError,
) -> None:
    """Runs make, or a script that does; `failed` begins the error. Steps are said on stderr: stdout
    is for data. OP-TEE's build scripts need Python modules that our own environment has."""
    for program in ("make", compiler):
        if shutil.which(program) is None:
            raise MissingOutput(f"there is no {program} on this machine", hint="run `make deps`")
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ.get('PATH', '')}"
    done = subprocess.run(
        argv,
        stdin=subprocess.DEVNULL,
        stdout=sys.stderr.fileno(),
        stderr=subprocess.PIPE,
        env=os.environ | {"PATH": path},
        check=False,
    )
    if done.returncode != 0:
        lines = done.stderr.decode(errors="replace").strip().splitlines()
        errors = [line.removeprefix("error: ") for line in lines if line.startswith("error: ")]
        hints = [line.removeprefix("hint: ") for line in lines if line.startswith("hint: ")]
        said = errors[-1] if errors else failed + ":\n" + "\n".join(lines[-12:])
        raise error(said, hint=hints[-1] if hints else None)
