# SPDX-License-Identifier: BSD-2-Clause
"""The OP-TEE that a virtual board boots: Debian's binary, a build of Debian's source package with
options, a build of the user's source tree, or the user's finished build for QEMU.

Builds are kept in build/optee, one folder for each version and set of options.
"""

import hashlib
import shutil
import struct
import subprocess
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from teemark.base import paths
from teemark.base.errors import BoardError, MissingOutput
from teemark.boards import build, firmware, optee_tree
from teemark.boards.config import ARMV7, RPI3, BoardFile, VirtualConfig
from teemark.boards.ta_kit import Kit, default_kit
from teemark.run.records import Firmware

DEBIAN = "debian"
SOURCE = "source"

_IMAGES = ("tee-header_v2.bin", "tee-pager_v2.bin", "tee-pageable_v2.bin")
_TFA = ("bl1.bin", "fip.bin")

_RPI3_CORE = 0x10100000
"""The address to which TF-A for the Raspberry Pi 3 loads OP-TEE's core (SEC_DRAM0_BASE)."""

KEEP_FLASH = 24 * 3600
"""Seconds for which an unused flash image is kept."""


@dataclass(frozen=True)
class Optee:
    """The firmware that a virtual board boots, and the files with its symbols."""

    what: str
    """A description for people."""
    flash: Path
    images: Path
    """The folder with the images of OP-TEE's core."""
    kit: Kit
    """The kit that builds TAs for this OP-TEE, which may refuse TAs for another version."""
    source: Path | None = None
    """The user's source tree that this OP-TEE was built from."""

    @property
    def elf(self) -> Path | None:
        """Returns the core's file with symbols; None for Debian's package, which lacks it."""
        return file if (file := self.images / "tee.elf").is_file() else None

    @property
    def ldelf(self) -> Path | None:
        return file if (file := self.images.parent / "ldelf/ldelf.elf").is_file() else None

    @property
    def tfa(self) -> Path:
        """Returns TF-A's bl31.elf, which has symbols."""
        return tfa(self.images) / "bl31.elf"

    def firmware(self) -> tuple[Firmware, ...]:
        """Returns the facts of the firmware, read from the files that are booted."""
        core = (self.images / name for name in _IMAGES)
        return (
            firmware.core(core, self.elf, self.images.parent / "conf.mk", self.source),
            firmware.tfa((tfa(self.images) / name for name in _TFA), self.tfa),
        )

    def core_code(self) -> range:
        """Returns the range of physical addresses of the core's code, from its images' header."""
        _, start = _header(self.images)
        return range(start, start + (self.images / _IMAGES[1]).stat().st_size)


def resolve(recipe: VirtualConfig) -> Optee:
    """Returns the OP-TEE for a board's recipe, after building it if necessary (a minute)."""
    optee = _resolve(recipe)
    if not recipe.locked:
        return optee
    return replace(optee, kit=replace(optee.kit, key=_unknown_key()))


def _unknown_key() -> Path:
    folder = paths.build() / "unknown-key"
    with build.alone(folder):
        key, new = folder / "key.pem", folder / "new"
        if not key.is_file():
            argv = ["openssl", "genrsa", "-out", str(new), "2048"]
            build.step(argv, "no key can be made", ("openssl",))
            new.rename(key)
    return key


def _resolve(recipe: VirtualConfig) -> Optee:
    if recipe.optee == DEBIAN:
        images = paths.vboard() / "firmware/usr/lib/optee/vexpress-qemu_armv8a"
        what = f"Debian's OP-TEE {versions()['optee-os']}"
        return Optee(what, paths.vboard() / "flash.bin", images, default_kit())
    patches = [Path(patch).expanduser() for patch in recipe.patches]
    folder = Path(recipe.optee).expanduser()
    if recipe.optee != SOURCE and not optee_tree.is_tree(folder):
        _check(folder)
        if recipe.options or patches:
            raise BoardError(
                f"`optee` names {folder}, a finished build: it takes no options and no patches",
                hint="name the source tree instead, the folder with core/ and mk/",
            )
        place = paths.optee_builds() / f"own-{_short(str(folder.resolve()))}"
        with build.alone(paths.optee_builds()):
            return _packed(f"OP-TEE of {folder}", folder, place)
    with build.alone(paths.optee_builds()):
        return _build(None if recipe.optee == SOURCE else folder, recipe.options, patches)


def _header(images: Path) -> tuple[bool, int]:
    """Returns whether OP-TEE's core is a 64-bit one, and its load address; raises BoardError."""
    header = (images / _IMAGES[0]).read_bytes()
    # magic, version, architecture, flags, number of images; the first image's load address
    magic, _, architecture, _, _, high, low = struct.unpack_from("<4sBBHIII", header)
    if magic != b"OPTE" or high == 0xFFFFFFFF:
        raise BoardError(f"{images / _IMAGES[0]}: no header of OP-TEE's images")
    return architecture == 1, high << 32 | low


def tfa(images: Path) -> Path:
    """Returns the folder of the TF-A that boots this core: its images and, for a 64-bit core,
    bl31.elf. The header in the folder `images` tells which kind of core it is."""
    wide, start = _header(images)
    name = ARMV7 if not wide else RPI3 if start == _RPI3_CORE else DEBIAN
    return system(name) / "tf-a"


def versions() -> dict[str, str]:
    """Returns the versions of the virtual board's packages, by the packages' names."""
    file = paths.vboard() / "VERSIONS"
    if not file.is_file():
        raise MissingOutput(f"the virtual board isn't built: there is no {file}")
    lines = file.read_text(encoding="utf-8").splitlines()
    return dict(line.split("=", 1) for line in lines if "=" in line)


COMPILER = "aarch64-linux-gnu-gcc"


def compiler() -> str:
    """Returns the first line of `COMPILER --version`; MissingOutput if it doesn't run."""
    try:
        done = subprocess.run([COMPILER, "--version"], capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        raise MissingOutput(f"{COMPILER} isn't there or doesn't run") from None
    return done.stdout.splitlines()[0]


def made_by(file: BoardFile) -> dict[str, str]:
    """Returns, by name, the versions that decide a board's exact figures besides our own code:
    those of its packages and of the compiler. The gate judges an OP-TEE that the user built, so no
    version is given for it."""
    assert isinstance(file.config, VirtualConfig)
    packages = versions()
    optee = "a build of one's own"
    if file.config.optee == DEBIAN:
        optee = packages["optee-os"]
    elif file.config.optee == SOURCE:
        optee = resolve(file.config).what
    names = ("tf-a", "kernel", "libc", "optee-client", "openssl")
    return {"compiler": compiler(), "optee": optee} | {name: packages[name] for name in names}


def _check(folder: Path) -> None:
    needed = [f"core/{name}" for name in (*_IMAGES, "tee.elf")]
    needed.append(f"{_kit(folder).name}/mk/ta_dev_kit.mk")
    missing = [name for name in needed if not (folder / name).is_file()]
    if missing:
        lacks = f"has no {' and no '.join(missing)}" if folder.is_dir() else "is no folder"
        raise BoardError(
            f"`optee` names {folder}, which {lacks}",
            hint="name the output of OP-TEE's build for PLATFORM=vexpress-qemu_armv8a with "
            "CFG_ARM64_core=y CFG_ARM_GICV3=y CFG_USER_TA_TARGETS=ta_arm64: "
            "…/out/arm-plat-vexpress",
        )


def _kit(out: Path) -> Path:
    narrow, wide = out / "export-ta_arm32", out / "export-ta_arm64"
    return narrow if narrow.is_dir() and not wide.is_dir() else wide


def _build(source: Path | None, options: Sequence[str], patches: Sequence[Path]) -> Optee:
    """Builds the user's source tree `source`, or Debian's sources if it is None, unless the same
    contents, patches and options were built before. The user's tree, and any tree with patches, is
    copied first and built in the copy."""
    builds, words = paths.optee_builds(), sorted(set(options))
    tree, version_file = source or builds / "src" / "tree", builds / "src" / "version"
    if source is None and not version_file.is_file():
        _script("optee-source")
    version = version_file.read_text().strip() if source is None else optee_tree.version(source)
    out = builds / f"{version}-{_short(version, *words)}"
    if copied := source is not None or bool(patches):
        out = builds / f"tree-{optee_tree.digest(tree, patches, words)[:16]}"
    if not (out / "ready").is_file():
        # Always in one place: a compiler cache finds a file again by its name.
        copy, fresh = builds / "making" / "tree", builds / "making" / "out"
        try:
            if copied:
                optee_tree.copy(tree, patches, copy)
            _script("optee", str(copy if copied else tree), version, str(fresh), *words)
            _check(fresh)
            shutil.rmtree(out, ignore_errors=True)
            fresh.rename(out)
        finally:
            shutil.rmtree(copy.parent, ignore_errors=True)
        (out / "ready").write_text(" ".join(words) + "\n")
    (out / "ready").touch()  # `teemark releases --prune` keeps those used last
    what = f"OP-TEE {version} {'from source' if source is None else f'of {source}'}"
    changes = [*(patch.name for patch in patches), *([" ".join(words)] if words else [])]
    return _packed(what + "".join(f" with {change}" for change in changes), out, out, source)


def _packed(what: str, out: Path, place: Path, source: Path | None = None) -> Optee:
    images = out / "core"
    return Optee(what, _pack(images, place), images, Kit(_kit(out)), source)


def _pack(images: Path, place: Path) -> Path:
    """Returns the file of a flash image with these images. Its name has the digest of their
    contents, since the times of a copied tree say nothing. Older flash images stay for a day, as a
    board may be booting from them."""
    tf_a = tfa(images)
    parts = [*(tf_a / name for name in _TFA), *(images / name for name in _IMAGES)]
    flash = place / f"flash-{firmware.digest(parts)[:16]}.bin"
    if not flash.is_file():
        _script("flash", str(tf_a), str(images), str(flash))
    flash.touch()
    for image in place.glob("flash-*.bin"):
        if time.time() - image.stat().st_mtime > KEEP_FLASH:
            image.unlink()
    return flash


def system(name: str) -> Path:
    """Returns the folder of a system of vboard/systems, after making it if necessary."""
    if name == DEBIAN:
        return paths.vboard()
    place = paths.systems() / name
    with build.alone(place):
        _script("system", name)
    return place


def _short(*words: str) -> str:
    return hashlib.sha256("\0".join(words).encode()).hexdigest()[:10]


def _script(name: str, *args: str) -> None:
    build.step(
        ["env", f"BUILD={paths.build()}", str(paths.root() / "vboard/scripts" / name), *args],
        f"vboard/scripts/{name} failed",
    )
