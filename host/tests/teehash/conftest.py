# SPDX-License-Identifier: BSD-2-Clause
"""Runs teehash natively: under sanitizers, with a TEE of the tests' own, and beside sha256sum."""

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from teehash_program import Program

HERE = Path(__file__).resolve().parent
BUILT = HERE.parents[2] / "build" / "tests" / "teehash"

Make = Callable[..., None]
"""It is that of ../conftest.py."""


@pytest.fixture(scope="session")
def built(make: Make) -> Path:
    make("-C", HERE, "all")
    return BUILT


@pytest.fixture(scope="session")
def teehash(built: Path) -> Program:
    """With the backend `c`, under AddressSanitizer and UndefinedBehaviorSanitizer."""
    return Program(str(built / "teehash"), ("--backend=c",))


@pytest.fixture(scope="session")
def bare(built: Path) -> Program:
    """Without any option."""
    return Program(str(built / "teehash"))


@pytest.fixture(scope="session")
def tee(built: Path) -> Program:
    """With the backend `tee` over a TEE that fails on demand (fake_tee.c)."""
    return Program(str(built / "teehash-tee"), (), {"LD_LIBRARY_PATH": str(built / "lib")})


@pytest.fixture(scope="session")
def threads(built: Path) -> Program:
    """Under ThreadSanitizer."""
    return Program(str(built / "teehash-thread"), ("--backend=c",))


@pytest.fixture(scope="session")
def native(make: Make) -> Program:
    """The program as it is installed, without sanitizers."""
    make("-C", HERE.parents[1], "ARCH=native", "teehash")
    path = HERE.parents[2] / "build" / "host" / "native" / "teehash"
    return Program(str(path), ("--backend=c",))


@pytest.fixture(scope="session")
def sha256sum() -> Program:
    return Program("sha256sum")


def _older(results: bytes) -> bytes:
    """Results of -c as they were before coreutils 9.4: escaped only if there is a line end."""
    lines = results.split(b"\n")
    for i, line in enumerate(lines):
        escapes = {b"\\\\": b"\\", b"\\n": b"\n", b"\\r": b"\r"}
        plain = re.sub(rb"\\[\\nr]", lambda found: escapes[found[0]], line[1:])
        if line.startswith(b"\\") and b"\n" not in plain:
            lines[i] = plain
    return b"\n".join(lines)


@pytest.fixture(scope="session")
def as_sha256sum(
    sha256sum: Program, tmp_path_factory: pytest.TempPathFactory
) -> Callable[[bytes], bytes]:
    """Our results of -c as this machine's sha256sum would say them."""
    directory = tmp_path_factory.mktemp("escapes")
    (directory / "\\").write_bytes(b"")
    said = sha256sum("-c", stdin=sha256sum("\\", cwd=directory).out, cwd=directory).out
    assert said in (b"\\: OK\n", b"\\\\\\: OK\n")
    return _older if said == b"\\: OK\n" else bytes
