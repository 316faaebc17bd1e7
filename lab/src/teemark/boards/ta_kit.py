# SPDX-License-Identifier: BSD-2-Clause
"""OP-TEE's TA development kit: it builds the Trusted Applications that one OP-TEE takes.

Each kit and key has a folder of its own for the TAs built with it (ta/Makefile names it), so that
no board gets the TAs of another.
"""

import hashlib
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

from teemark.base import paths
from teemark.base.errors import BoardError, ConfigError, MissingOutput
from teemark.boards import build

OWN = "own"
"""Name of the folder for the user's own TAs, beside ours."""

_NEEDED = ("mk/ta_dev_kit.mk", "mk/conf.mk")

_MAKE = ("env", "-u", "TA_SIGN_KEY", "make")
"""Runs make without the environment's TA_SIGN_KEY: only the kit's key or a named key may sign."""


@dataclass(frozen=True, slots=True)
class Kit:
    folder: Path
    """The kit's folder: export-ta_arm64 or export-ta_arm32; Yocto calls it export-user_ta."""
    key: Path | None = None
    """The file of the key that signs the TAs; None: the kit's own key."""

    def ours(self) -> Path:
        """Returns the folder of our TAs: it has the signed TAs, and for each source folder one with
        its intermediate files. `make build` makes the TAs of the virtual board's kit; with another
        kit they are built now if necessary."""
        if self == default_kit():
            return paths.built_tas()
        self._check()
        place = self._place()
        with build.alone(place):
            self._make(paths.root() / "ta", "our TAs can't be built")
        return place

    def build(self, source: Path) -> list[Path]:
        """Builds the user's TA in the folder `source`, whose Makefile includes the kit's, as in
        optee_examples. Returns the signed TAs; nothing is written into `source`."""
        self._check()
        name = hashlib.sha256(str(source.resolve()).encode()).hexdigest()[:10]
        out = self._place() / OWN / f"{source.resolve().name}-{name}"
        kept = out.with_name(f"{out.name}.made")  # always whole: a board may be given it now
        with build.alone(out):
            for before in out.rglob("*.ta"):
                before.unlink()  # an earlier build may have had another UUID
            self._make(source, f"the TA in {source} can't be built", f"O={out}")
            tas = sorted(out.rglob("*.ta"))
            kept.mkdir(exist_ok=True)
            for file in tas:
                for each in (file.with_suffix(".elf"), file):
                    if each.is_file():
                        shutil.copy2(each, kept / ".new")
                        (kept / ".new").replace(kept / each.name)
        if not tas:
            raise BoardError(
                f"`make` in {source} made no TA in {out}",
                hint="its Makefile has to include $(TA_DEV_KIT_DIR)/mk/ta_dev_kit.mk, and to "
                "leave O, the folder of what is built, as it is given",
            )
        return [kept / file.name for file in tas]

    def _check(self) -> None:
        if not all((self.folder / name).is_file() for name in _NEEDED):
            if self == default_kit():
                raise MissingOutput("the virtual board's TA development kit isn't there")
            raise ConfigError(
                f"{self.folder} is no TA development kit: it has no {' or no '.join(_NEEDED)}",
                hint="name the folder export-ta_arm64 or export-ta_arm32 of OP-TEE's build",
            )
        if self.key is not None and not self.key.is_file():
            raise ConfigError(f"there is no key {self.key} to sign TAs with")
        for path in (self.folder, self.key):
            if path is not None and len(str(path).split()) != 1:
                raise ConfigError(
                    f"{str(path)!r} has a space in it, and OP-TEE's kit takes none",
                    hint="move it, or name a link to it without one",
                )

    def _arguments(self) -> list[str]:
        """Returns kit, key and compiler as words for make; they win over the environment."""
        words = [f"TA_DEV_KIT_DIR={self.folder.absolute()}", f"CROSS_COMPILE={self._compiler()}"]
        words.append(f"BUILD={paths.build()}")
        return words + ([f"TA_SIGN_KEY={self.key.absolute()}"] if self.key is not None else [])

    def _compiler(self) -> str:
        settings = (self.folder / "mk" / "conf.mk").read_text(encoding="utf-8", errors="replace")
        return "arm-linux-gnueabihf-" if "sm := ta_arm32\n" in settings else "aarch64-linux-gnu-"

    def _place(self) -> Path:
        argv = [*_MAKE, "-s", "-C", str(paths.root() / "ta"), "place", *self._arguments()]
        done = subprocess.run(argv, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise BoardError(f"ta/Makefile doesn't say where TAs go: {done.stderr.strip()}")
        return Path(done.stdout.strip())

    def _make(self, source: Path, failed: str, *words: str) -> None:
        argv = [*_MAKE, "--no-print-directory", "-C", str(source), "all", *self._arguments()]
        needs = ("make", f"{self._compiler()}gcc")
        build.step([*argv, *words], f"{failed} with the kit {self.folder}", needs)


def default_kit() -> Kit:
    """Returns the virtual board's kit, for whose OP-TEE `make build` makes our TAs."""
    return Kit(paths.vboard() / "ta_dev_kit")
