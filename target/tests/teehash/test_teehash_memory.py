# SPDX-License-Identifier: BSD-2-Clause
"""When the TEE is short of memory: smaller pieces, fewer sessions, never a wrong digest."""

from __future__ import annotations

import hashlib
import itertools
import random
from pathlib import Path

import pytest
from teehash_program import Program

NOISE = random.Random(11).randbytes(6_000_000)


def line(data: bytes, name: str = "f") -> bytes:
    return f"{hashlib.sha256(data).hexdigest()}  {name}\n".encode()


@pytest.mark.parametrize("reader", ["inline", "thread"])
@pytest.mark.parametrize(
    "refusals", ["".join(d) for d in itertools.product("01", repeat=5)]
)
def test_allocations_refused_in_any_order(
    tee: Program, tmp_path: Path, refusals: str, reader: str
) -> None:
    """A buffer that can't grow may find no room of its old size either, and becomes smaller."""
    (tmp_path / "f").write_bytes(NOISE[:3_000_000])
    done = tee(f"--reader={reader}", "f", "f", cwd=tmp_path, FAKE_REFUSE=refusals)
    if refusals[0] == "1":  # without it there is no session
        assert (done.status, done.out) == (1, b"")
    else:
        assert (done.status, done.out) == (0, line(NOISE[:3_000_000]) * 2), done.said
