# SPDX-License-Identifier: BSD-2-Clause
"""Where files are: one function per place, so that no other file builds these paths."""

import os
from functools import cache
from pathlib import Path

from teemark.base.errors import ConfigError
from teemark.version import __version__


def _is_checkout(directory: Path) -> bool:
    return (directory / "lab" / "pyproject.toml").is_file() and (directory / "boards").is_dir()


@cache
def root() -> Path:
    """Returns the folder that holds boards/, plans/, reference/ and the sources: the checkout that
    $TEEMARK_ROOT names, else the one that this package is installed from, else what the
    wheel brings."""
    named = os.environ.get("TEEMARK_ROOT")
    if named:
        directory = Path(named).resolve()
        if not _is_checkout(directory):
            raise ConfigError(
                f"TEEMARK_ROOT is {named}, which is no checkout of teemark",
                hint="set it to the folder that holds lab/ and boards/, or unset it",
            )
        return directory
    for directory in Path(__file__).resolve().parents:
        if _is_checkout(directory):
            return directory
    if _SHIPPED.is_dir():
        return _SHIPPED
    raise ConfigError(
        "no checkout of teemark found around this program", hint="set TEEMARK_ROOT to one"
    )


_SHIPPED = Path(__file__).resolve().parents[1] / "shipped"
"""The wheel's replacement for a checkout (mk/dist fills it): data, sources, and the programs and
TAs for boards."""


def in_checkout() -> bool:
    """Returns true if a checkout is used, false if all comes from the wheel."""
    return root() != _SHIPPED


def prebuilt() -> Path:
    """Returns the programs and TAs for boards that the wheel brings; a checkout has no such
    folder."""
    return root() / "prebuilt"


def boards() -> Path:
    return root() / "boards"


def user_config() -> Path:
    """Returns the folder of this user's settings and boards, outside any checkout."""
    config = os.environ.get("XDG_CONFIG_HOME") or str(Path.home() / ".config")
    return Path(config) / "teemark"


def plans() -> Path:
    return root() / "plans"


def reference() -> Path:
    return root() / "reference"


def runs() -> Path:
    """Returns the folder for runs: in the checkout, otherwise in the current folder."""
    return (root() if in_checkout() else Path.cwd()) / "runs"


def build() -> Path:
    """Returns the folder for what is built: in the checkout, otherwise in the user's cache."""
    if in_checkout():
        return root() / "build"
    cache = os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
    return Path(cache) / "teemark" / __version__


def vboard() -> Path:
    """Returns the folder of what vboard/ builds: firmware, kernel, root file system, ssh keys."""
    return build() / "vboard"


def systems() -> Path:
    """Returns the folder with a folder for each system of vboard/systems that was made; its file
    `ready` is written last."""
    return build() / "systems"


def optee_builds() -> Path:
    """Returns the folder of OP-TEE's builds from source, the user's own builds included."""
    return build() / "optee"


def trace_tools() -> Path:
    """Returns the folder of QEMU's plugin and of the program that makes call trees."""
    return build() / "trace"


def instances() -> Path:
    """Returns the folder that has a subfolder for each running virtual board."""
    return build() / "run"


def built_tas() -> Path:
    """Returns the folder of the TAs for the virtual board's OP-TEE."""
    shipped = prebuilt() / "ta"
    return shipped if shipped.is_dir() else build() / "ta"


def built_programs(kind: str) -> Path:
    """Returns the folder of the programs of a kind: aarch64, armhf or native; a suffix -glibc or
    -musl means those for people's boards (host/Makefile)."""
    shipped = prebuilt() / "host" / kind
    return shipped if shipped.is_dir() else build() / "host" / kind
