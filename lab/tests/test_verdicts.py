# SPDX-License-Identifier: BSD-2-Clause
"""What the report says of sessions, buffers, storage and limits, and when it is silent."""

from __future__ import annotations

import json

import pytest

from teemark.model import models
from teemark.model.verdicts import Verdict, judge
from teemark.report import report
from teemark.run import reader

DEFECT = "storage/truncate/tee-ree-fs/65536"


def made(times: dict[str, int], size: dict[str, int] | None = None, **skips: str) -> reader.RunData:
    """A run with these cases, each so many nanoseconds a call, always the same."""
    records: list[dict[str, object]] = [{"type": "machine", "schema": 1, "teebench": "0.1.0"}]
    records += [
        {"type": "skip", "case": DEFECT, "code": code, "reason": reason, "hint": "Create anew."}
        for code, reason in ((word.replace("_", "-"), text) for word, text in skips.items())
    ]
    for key in times:
        workload, algorithm, backend, parameters = key.split("/", 3)
        records.append(
            {
                "type": "case",
                "case": key,
                "workload": workload,
                "algorithm": algorithm,
                "backend": backend,
                "parameters": parameters,
                "bytes": (size or {}).get(key),
                "verified": True,
                "samples": 8,
                "repeat": [1],
                "loops": [1],
                "rpcs_per_call": 31 if "tee-ree-fs" in key else None,
            }
        )
    for seq, (key, ns) in enumerate([*times.items()] * 8):
        records.append(
            {"type": "sample", "case": key, "seq": seq, "repeat": 1, "loops": 1, "ns": ns}
            | {"source": "client-clock"}
        )
    records.append({"type": "end", "complete": True, "reason": "done"})
    return reader.parse([json.dumps(record).encode() + b"\n" for record in records], file="x")


def verdicts(
    times: dict[str, int], size: dict[str, int] | None = None, **skips: str
) -> dict[str, Verdict]:
    run = made(times, size, **skips)
    return {verdict.key: verdict for verdict in judge(run, models.build(run))}


EMPTY = {"invoke/none/tee/none": 400_000}


def test_a_session_is_worth_keeping() -> None:
    first = {"session/first-open/tee/none": 100_000_000, "session/open/tee/none": 700_000}
    said = verdicts(EMPTY | first)["keep-the-session"]
    assert "as 250 empty calls" in said.claim
    assert "100\N{NO-BREAK SPACE}ms" in said.evidence
    assert "700\N{NO-BREAK SPACE}µs" in said.evidence
    assert said.confidence == "high"
    assert "keep-the-session" not in verdicts(EMPTY | {"session/first-open/tee/none": 400_000})


@pytest.mark.parametrize(("temporary", "said"), [(3_000_000, True), (1_050_000, False)])
def test_buffers_are_worth_allocating(temporary: int, said: bool) -> None:
    times = {
        "shm/temporary/tee/in/64": 900_000,
        "shm/allocated/tee/in/64": 400_000,
        "shm/temporary/tee/in/1048576": temporary,
        "shm/allocated/tee/in/1048576": 1_000_000,
    }
    found = verdicts(times, {key: int(key.rpartition("/")[2]) for key in times})
    assert ("shared-buffers" in found) == said
    if said:
        assert "1\N{NO-BREAK SPACE}MiB" in found["shared-buffers"].claim
        assert "3.0×" in found["shared-buffers"].claim  # noqa: RUF001


def test_storage_is_compared_with_what_is_on_the_disk() -> None:
    times = {
        "storage/create/tee-ree-fs/7000": 70_000_000,
        "storage/create/file-fsync/7000": 7_000_000,
        "storage/create/file/7000": 4_000,
    }
    said = verdicts(times, dict.fromkeys(times, 7000))["stored-objects"]
    assert "7000\N{NO-BREAK SPACE}B" in said.claim
    assert "10.0×" in said.claim  # noqa: RUF001
    assert "31.0 times" in said.evidence
    del times["storage/create/file-fsync/7000"]
    assert "stored-objects" not in verdicts(times)


def test_a_defect_of_the_tee_is_a_caution() -> None:
    said = verdicts(EMPTY, tee_defect="it loses objects")["tee-defect"]
    assert (said.kind, said.advice) == ("caution", "Create anew.")
    assert said.claim.endswith("it loses objects.")
    assert DEFECT in said.evidence
    assert "tee-defect" not in verdicts(EMPTY, no_rpmb="there is none")


def test_memcpy_is_drawn_as_a_limit() -> None:
    sizes = (1024, 65536, 1048576)
    digests = {f"oneshot/sha256/{by}/{n}": 400_000 + 20 * n for by in ("tee", "c") for n in sizes}
    copies = {f"copy-limit/memcpy/c/{n}": 100 + n // 10 for n in (64, *sizes)}

    def page(times: dict[str, int]) -> str:
        return report.make([made(times, {k: int(k.rpartition("/")[2]) for k in times})]).html

    assert "Dotted: memcpy()" not in page(digests)
    with_limit = page(digests | copies)
    assert "Dotted: memcpy()" in with_limit
    assert ">memcpy</text>" in with_limit
