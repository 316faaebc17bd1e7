# SPDX-License-Identifier: BSD-2-Clause
"""Build steps: make or our scripts make the files that a board needs and that aren't there yet."""

import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from contextlib import AbstractContextManager
from pathlib import Path

from teemark.base import files
from teemark.base.errors import BoardError, MissingOutput


def alone(folder: Path) -> AbstractContextManager[None]:
    """Returns a lock: two builds into one folder would overwrite each other's files."""
    return files.alone(folder / "lock")


def step(
    argv: Sequence[str], failed: str, needs: Sequence[str] = ("make", "aarch64-linux-gnu-gcc")
) -> None:
    """Runs the build step `argv`; its output goes to stderr, since stdout is for data. Raises
    MissingOutput if a program in `needs` isn't installed. If the step fails, raises a BoardError
    with its `error:` and `hint:` lines, otherwise with `failed` and its last lines."""
    for program in needs:
        if shutil.which(program) is None:
            package = _PACKAGES.get(program, program)
            hint = f"install it, for example: apt install {package}"
            raise MissingOutput(f"there is no {program} on this machine", hint=hint)
    # OP-TEE's build scripts need Python modules that our own environment has.
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
        message = errors[-1] if errors else failed + ":\n" + "\n".join(lines[-12:])
        raise BoardError(message, hint=hints[-1] if hints else None)


_PACKAGES = {
    "aarch64-linux-gnu-gcc": "gcc-aarch64-linux-gnu libc6-dev-arm64-cross",
    "fdtput": "device-tree-compiler",
    "arm-linux-gnueabihf-gcc": "gcc-arm-linux-gnueabihf libc6-dev-armhf-cross",
}
"""Debian's packages, by the names of their programs, where the two names differ."""
