# SPDX-License-Identifier: BSD-2-Clause
"""`make install` as a distribution's package calls it, and a build without libteec's header."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

HOST = Path(__file__).resolve().parents[1]
HEADER = HOST.parent / "build" / "host" / "include" / "tee_client_api.h"
SYSTEM = Path("/usr/include/tee_client_api.h")


def make(
    build: Path, *words: str | Path, env: dict[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    """With nothing of this checkout's build in reach."""
    command = ["make", "-C", HOST, f"BUILD={build}", f"SYSROOT={build}/none", *words]
    clean = {k: v for k, v in os.environ.items() if not k.startswith(("MAKE", "MFLAGS"))}
    return subprocess.run(
        command, capture_output=True, text=True, check=False, env=clean | (env or {}), timeout=300
    )


def program(path: Path, script: str) -> Path:
    path.write_text("#!/bin/sh\n" + script)
    path.chmod(0o755)
    return path


@pytest.mark.skipif(not HEADER.exists(), reason="there is no libteec header: make vboard")
def test_install_with_the_environment_of_a_package(tmp_path: Path) -> None:
    """CC of two words, CFLAGS and PKG_CONFIG from the environment; below DESTDIR and PREFIX."""
    include = tmp_path / "sysroot" / "include"
    include.mkdir(parents=True)
    (include / "tee_client_api.h").write_bytes(HEADER.read_bytes())
    log = tmp_path / "log"
    compiler = program(tmp_path / "compiler", f'echo "$@" >>"{log}"\nshift\nexec gcc "$@"\n')
    pkg_config = program(tmp_path / "pkg-config", f'[ "$2" = teec ] && echo "-I{include}"\n')
    done = make(
        tmp_path / "build",
        *("-j2", "install", "TEEC=required", f"DESTDIR={tmp_path}/root", "PREFIX=/usr"),
        env={"CC": f"{compiler} --word", "CFLAGS": "-O0 -DASKED", "PKG_CONFIG": str(pkg_config)},
    )
    assert done.returncode == 0, done.stderr
    installed = {path.name: path for path in (tmp_path / "root/usr/bin").iterdir()}
    assert set(installed) == {"teebench", "teehash"}
    assert all(path.stat().st_mode & 0o777 == 0o755 for path in installed.values())
    compiled = [line for line in log.read_text().splitlines() if " -c " in line]
    assert compiled
    assert all(line.startswith("--word") and "-O0 -DASKED" in line for line in compiled)
    said = subprocess.run([installed["teebench"], "--list"], capture_output=True, check=True)
    assert b"built without" not in said.stdout


@pytest.mark.skipif(SYSTEM.exists(), reason="this machine has libteec's header")
def test_without_the_header_the_build_says_so(tmp_path: Path) -> None:
    words = ("-n", "PKG_CONFIG=false", "TEEC_EXPORT=")
    done = make(tmp_path, *words)
    assert done.returncode == 0
    assert "warning: no tee_client_api.h: native programs without any access" in done.stderr
    done = make(tmp_path, *words, "TEEC=required")
    assert done.returncode == 2
    assert "TEEC_EXPORT=" in done.stderr
