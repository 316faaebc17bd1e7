# SPDX-License-Identifier: BSD-2-Clause
"""Where things are: one function a place, so that no other file joins these names."""

from __future__ import annotations

import os
from functools import cache
from pathlib import Path

from teemark.base.errors import ConfigError


def _is_checkout(directory: Path) -> bool:
    return (directory / "lab" / "pyproject.toml").is_file() and (directory / "boards").is_dir()


@cache
def root() -> Path:
    """The checkout: $TEEMARK_ROOT, else the one this package is installed from, else the one
    around the current directory."""
    named = os.environ.get("TEEMARK_ROOT")
    if named:
        directory = Path(named).resolve()
        if not _is_checkout(directory):
            raise ConfigError(
                f"TEEMARK_ROOT is {named}, which is no checkout of teemark",
                hint="set it to the folder that holds lab/ and boards/, or unset it",
            )
        return directory
    here = Path(__file__).resolve()
    cwd = Path.cwd()
    for directory in (*here.parents, cwd, *cwd.parents):
        if _is_checkout(directory):
            return directory
    raise ConfigError(
        "no checkout of teemark found around this program or the current directory",
        hint="run it inside the checkout, or set TEEMARK_ROOT to it",
    )


def boards() -> Path:
    return root() / "boards"


def user_boards() -> Path:
    """Boards of this user, outside any checkout."""
    config = os.environ.get("XDG_CONFIG_HOME") or str(Path.home() / ".config")
    return Path(config) / "teemark" / "boards"


def plans() -> Path:
    return root() / "plans"


def reference() -> Path:
    return root() / "reference"


def runs() -> Path:
    return root() / "runs"


def build() -> Path:
    return root() / "build"


def vboard() -> Path:
    """What vboard/ builds: firmware, kernel, root file system, ssh keys."""
    return build() / "vboard"


def optee_builds() -> Path:
    """OP-TEE from source, and what is made of builds of the user's own."""
    return build() / "optee"


def trace_tools() -> Path:
    """QEMU's plugin, and the program that makes call trees."""
    return build() / "trace"


def instances() -> Path:
    """One folder a running virtual board."""
    return build() / "run"


def built_tas() -> Path:
    return build() / "ta"


def built_programs(architecture: str) -> Path:
    """`architecture` is aarch64, armhf or native."""
    return build() / "host" / architecture
