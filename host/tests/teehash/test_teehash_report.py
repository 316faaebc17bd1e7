# SPDX-License-Identifier: BSD-2-Clause
"""--report: every figure with unit, source and resolution, or null with a reason; a breakdown
that adds up."""

import json
import os
from pathlib import Path
from typing import Any

import pytest
from teehash_program import Program

FIGURES = {
    "host": {
        "total_time", "file_read_time", "cpu_time", "run_queue_wait",
        "context_switches", "voluntary_context_switches", "involuntary_context_switches",
        "peak_memory", "buffer_memory", "disk_read", "reads",
    },
    "hashing": {
        "elapsed_time", "cpu_time", "cpu_utilization", "context_switches",
        "voluntary_context_switches", "involuntary_context_switches",
    },
    "tee": {
        "invoke_count", "hash_operations", "hashed_bytes", "hash_compute_time", "tee_time",
        "ree_time", "ta_stack_high_water",
        "world_switches", "rpc_count", "secure_interruptions", "secure_storage_accesses",
    },
    "first": {
        "context_open", "session_open", "first_invoke", "buffer_alloc", "open_all", "close",
        "sessions",
    },
    "derived": {
        "hash_rate", "latency_per_call", "empty_call", "overhead_per_call",
        "cpu_utilization", "io_to_compute_ratio",
    },
}  # fmt: skip


def check(text: bytes) -> dict[str, Any]:
    def refuse(word: str) -> None:
        raise AssertionError(f"{word} in JSON")

    report: dict[str, Any] = json.loads(text, parse_constant=refuse)
    for group, keys in FIGURES.items():
        assert set(report[group]) == keys
        for key, row in report[group].items():
            assert row["unit"], key
            if row["value"] is None:
                assert row["reason"], key
            else:
                assert row["source"], key
                assert row["resolution"], key
                assert row["value"] >= 0, key
    parts = report["breakdown"]["parts"]
    assert sum(part["ns"] for part in parts) == report["breakdown"]["total_ns"]
    assert parts[-1]["part"] == "unexplained"
    assert all(part["ns"] >= 0 for part in parts), parts
    return report


@pytest.mark.parametrize("options", [[], ["-j2"], ["--mode=stream", "--reader=thread"],
                                     ["--mode=stream", "--reader=inline"], ["--cold"]])  # fmt: skip
def test_figures(teehash: Program, tmp_path: Path, options: list[str]) -> None:
    (tmp_path / "a").write_bytes(os.urandom(3_000_000))
    (tmp_path / "b").write_bytes(b"b")
    done = teehash("--report=json", "--chunk=256K", *options, "a", "gone", "b", cwd=tmp_path)
    report = check(done.out)
    assert done.status == 1
    assert report["complete"] is True
    assert [file["name"] for file in report["files"]] == ["a", "gone", "b"]
    assert report["files"][1]["digest"] is None
    assert report["files"][1]["error"] == "No such file or directory"
    assert (report["files_total"], report["files_failed"]) == (3, 1)
    assert report["tee"]["hash_operations"]["value"] == 2
    assert report["tee"]["hashed_bytes"]["value"] == 3_000_001
    assert report["tee"]["invoke_count"]["value"] == sum(f["calls"] for f in report["files"])
    if "-j2" not in options:
        total = report["host"]["total_time"]["value"]
        assert report["breakdown"]["total_ns"] == pytest.approx(total, rel=0.01)


@pytest.mark.parametrize(("reader", "threads"), [("inline", 1), ("thread", 2)])
def test_cpu_utilisation_is_at_most_100_percent_a_thread(
    teehash: Program, tmp_path: Path, reader: str, threads: int
) -> None:
    """One worker showed 119.10 %: CPU time was counted over longer than the total time, and nothing
    said that its reader thread counts, too."""
    (tmp_path / "a").write_bytes(b"a")
    options = ("--report=json", "-j1", "--mode=stream", f"--reader={reader}")
    for _ in range(8):
        shown = check(teehash(*options, "a", cwd=tmp_path).out)["derived"]["cpu_utilization"]
        assert 0 < shown["value"] <= 100 * threads
        assert ("the reader thread may use another" in shown["source"]) is (threads == 2)


def test_the_tee_s_figures(tee: Program, tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(os.urandom(3_000_000))
    report = check(tee("--report=json", "--reader=inline", "--mode=stream", "a", cwd=tmp_path).out)
    assert report["tee"]["ta_stack_high_water"]["value"] == 640
    # init, one update, final
    assert report["tee"]["invoke_count"]["value"] == 3
    compute = report["tee"]["hash_compute_time"]
    assert compute["value"] is None
    assert compute["reason"]
    assert report["derived"]["empty_call"]["value"] > 0
    assert report["first"]["session_open"]["value"] > 0


def test_what_hashing_used_leaves_the_opening_out(tee: Program, tmp_path: Path) -> None:
    """The CPU time and the switches after opening are a part of the whole program's."""
    (tmp_path / "a").write_bytes(os.urandom(3_000_000))
    report = check(tee("--report=json", "--mode=stream", "a", cwd=tmp_path).out)
    host, hashing = report["host"], report["hashing"]
    opened = report["first"]["open_all"]["value"]
    assert hashing["elapsed_time"]["value"] > report["files"][0]["total_ns"]
    assert hashing["elapsed_time"]["value"] < host["total_time"]["value"] - opened
    for name in ("cpu_time", "context_switches", "voluntary_context_switches"):
        assert hashing[name]["value"] <= host[name]["value"], name
    spent = hashing["cpu_time"]["value"] / hashing["elapsed_time"]["value"]
    assert hashing["cpu_utilization"]["value"] == pytest.approx(100 * spent)


def test_the_digest_lines_with_a_report(teehash: Program, tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"a")
    line = teehash("a", cwd=tmp_path).out
    text = teehash("--report", "a", cwd=tmp_path)
    assert text.out == line
    assert b"\n1 file, 0 failed" in text.err
    assert 0 < text.err.index(b"Where the time went") < text.err.index(b"Normal world")
    assert not teehash("--report=json", "a", cwd=tmp_path).out.startswith(line)


def test_a_file_that_failed_has_no_rate(native: Program, built: Path, tmp_path: Path) -> None:
    """Its own entry says how much of it was read; no digest, no bytes hashed."""
    (tmp_path / "bad").write_bytes(bytes(300_000))
    faulty = Program(native.path, native.arguments, {"LD_PRELOAD": str(built / "libfault.so")})
    options = ("--report=json", "--chunk=64K", "--mode=stream")
    done = faulty(*options, "bad", cwd=tmp_path, FAULT_SIZE="300000", FAULT_AT="200000")
    report = check(done.out)
    assert (done.status, report["files_failed"]) == (1, 1)
    assert report["tee"]["hashed_bytes"]["value"] == 0
    assert report["derived"]["hash_rate"]["value"] is None


@pytest.mark.parametrize("kind", ["text", "json"])
def test_no_report_of_work_that_could_not_begin(tee: Program, tmp_path: Path, kind: str) -> None:
    (tmp_path / "a").write_bytes(b"a")
    done = tee(f"--report={kind}", "a", cwd=tmp_path, FAKE_NO_TEE="1")
    assert (done.status, done.out) == (1, b"")
    lines = done.said.splitlines()
    assert lines[0].startswith("teehash: no TEE device")
    assert lines[-1] == "teehash: no report is written: the work came to no end"
    assert len(lines) <= 3


def test_verdicts(teehash: Program, tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"a")
    text = teehash("a", cwd=tmp_path).out + b"0" * 64 + b"  a\n"
    report = check(teehash("--report=json", "-c", cwd=tmp_path, stdin=text).out)
    assert [file["verdict"] for file in report["files"]] == ["OK", "FAILED"]


def test_names_that_json_cannot_hold(teehash: Program, tmp_path: Path) -> None:
    name = b'\xff\n"\\'
    (Path(os.fsdecode(os.path.join(os.fsencode(tmp_path), name)))).write_bytes(b"x")
    report = check(teehash("--report=json", name, cwd=tmp_path).out)
    assert report["files"][0]["name"] == name.decode(errors="replace")


def test_nothing_was_done(teehash: Program, tmp_path: Path) -> None:
    check(teehash("--report=json", "gone", cwd=tmp_path).out)
    check(teehash("--report=json", "-c", cwd=tmp_path).out)


def test_cached_files_are_not_read_from_the_disk(teehash: Program, tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(bytes(1 << 20))
    read = check(teehash("--report=json", "a", cwd=tmp_path).out)["host"]["disk_read"]["value"]
    assert read < 1 << 20
    assert read % 512 == 0
