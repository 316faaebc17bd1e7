# SPDX-License-Identifier: BSD-2-Clause
"""The versions that decide the figures of the exact board besides our own code: those of the
software that it runs, and that of the compiler."""

import subprocess

from teemark.base.errors import MissingOutput
from teemark.boards.config import BoardFile, VirtualConfig
from teemark.boards.optee import DEBIAN, resolve, versions

COMPILER = "aarch64-linux-gnu-gcc"

_PACKAGES = ("tf-a", "kernel", "libc", "optee-client", "openssl")


def compiler() -> str:
    """Returns the first line of what the compiler says of itself."""
    try:
        done = subprocess.run([COMPILER, "--version"], capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        raise MissingOutput(f"{COMPILER} isn't there or doesn't run") from None
    return done.stdout.splitlines()[0]


def made_by(file: BoardFile) -> dict[str, str]:
    """Returns each version by its name. An OP-TEE that the user built is what the gate judges, so
    it has no version here."""
    assert isinstance(file.config, VirtualConfig)
    known = versions()
    found = {"compiler": compiler(), "optee": "a build of one's own"}
    if file.config.optee == DEBIAN:
        found["optee"] = known["optee-os"]
    elif file.config.optee == "source":
        found["optee"] = resolve(file.config).what
    return found | {name: known[name] for name in _PACKAGES}
