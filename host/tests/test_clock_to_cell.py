# SPDX-License-Identifier: BSD-2-Clause
"""From the clock to the cell: teebench on a scripted board (scripted_bench.c, whose numbers are
these), its records through reader, models and findings, and what the cells of the report say.

The expected values are computed here from the script alone, by what the words mean."""

import json
import re
import subprocess
from pathlib import Path

import pytest

from teemark.cli import main as cli

PROGRAM = Path(__file__).resolve().parents[2] / "build/tests/host/scripted_bench"

CALL, CLIENT, INSIDE, PAGE, REQUEST = 40_000, 10_000, 3_000, 500, 2_000
BLOCK = {"tee": 640, "ta-c": 480, "c": 400, "openssl": 64}
SIZES = {
    "tee": (0, 64, 1024, 4096, 16384, 65536, 1 << 20),
    "ta-c": (64, 4096, 65536),
    "c": (64, 4096, 65536),
    "openssl": (64, 4096, 65536),
}
NAMES = {0: "0 B", 64: "64 B", 1024: "1 KiB", 4096: "4 KiB", 16384: "16 KiB", 65536: "64 KiB"}
NAMES[1 << 20] = "1 MiB"
TITLES = {"tee": "TEE API", "ta-c": "C, in the TA", "c": "C, normal world", "openssl": "OpenSSL"}
SAMPLES = 12
NONE = "\N{EN DASH}"


def blocks(size: int) -> int:
    return -(-(size + 9) // 64)


def time(by: str, size: int) -> int:
    """Returns the nanoseconds of a message by the script."""
    work = blocks(size) * BLOCK[by]
    if by in ("tee", "ta-c"):
        return CALL + REQUEST + -(-size // 4096) * PAGE + work
    return work + (700 if by == "openssl" else 0)


def per_byte(by: str) -> float:
    """Returns the nanoseconds of a further byte of a long message."""
    return BLOCK[by] / 64 + (PAGE / 4096 if by in ("tee", "ta-c") else 0)


def digits(value: float) -> str:
    """Returns three digits of a value, as reports show it."""
    return f"{float(f'{value:.3g}'):#.3g}".rstrip(".")


def shown(ns: float) -> str:
    for unit, size in (("ms", 1e6), ("µs", 1e3)):
        if ns >= size:
            return f"{digits(ns / size)} {unit}"
    return f"{digits(ns)} ns"


def rate(ns: float, size: int) -> str:
    return digits(size / 1.048576 / ns * 1000)


class Report:
    """The cells of a report's tables, by the table's head and the first cells of a row."""

    def __init__(self, text: str) -> None:
        self.text = re.sub("[\u00a0\u202f\u2009]", " ", text)
        self._tables: list[list[list[str]]] = []
        rows: list[list[str]] = []
        for line in self.text.splitlines():
            if line.startswith("| "):
                rows.append([cell.strip(" `*") for cell in line.strip("|").split(" | ")])
            elif rows:
                self._tables.append(rows)
                rows = []

    def table(self, *head: str, row: str = "") -> dict[str, list[str]]:
        """Returns the rows of the first table with these columns (and a row of that name)."""
        for head_row, _, *rows in self._tables:
            names = [row[0] for row in rows]
            if all(any(cell.startswith(one) for cell in head_row) for one in head) and (
                not row or row in names
            ):
                return {one[0]: one[1:] for one in rows}
        raise AssertionError(f"no table with {head} and {row!r}")


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Report:
    folder = tmp_path_factory.mktemp("scripted")
    cases = ["invoke/none/tee/none"]
    cases += [f"oneshot/sha256/{by}/{size}" for by, sizes in SIZES.items() for size in sizes]
    words = ["--samples", str(SAMPLES), "--trace-events", "--no-evidence"]
    done = subprocess.run([PROGRAM, *words, *cases], capture_output=True, check=False, timeout=600)
    assert done.returncode == 0, done.stderr
    (folder / "run.ndjson").write_bytes(done.stdout)
    assert cli.run(["report", str(folder / "run.ndjson"), "-o", str(folder)]) == 0
    return Report((folder / "report.md").read_text(encoding="utf-8"))


def test_the_settings_of_a_run_are_recorded() -> None:
    words = ["--samples", "2", "--min-us", "250", "--seed", "7", "invoke/none/tee/none"]
    done = subprocess.run([PROGRAM, *words], capture_output=True, check=True, timeout=600)
    settings = json.loads(done.stdout.splitlines()[0])["settings"]
    assert settings == settings | {"seed": 7, "samples": 2, "min_us": 250, "settle_s": 0}
    assert (settings["ta_counter"], settings["quiet_until_end"]) == (True, False)


def test_a_case_that_fails_is_told_by_the_status() -> None:
    """The script's TEE gives no random bytes."""
    done = subprocess.run(
        [PROGRAM, "--samples", "2", "invoke/none/tee/none", "rng/random/tee/64"],
        capture_output=True, check=False, timeout=600,
    )  # fmt: skip
    assert done.returncode == 1
    assert b'"type":"fail","case":"rng/random/tee/64"' in done.stdout
    assert b'"skipped":0,"failed":1,' in done.stdout


def test_the_answer(report: Report) -> None:
    inside, outside = time("tee", 64), time("openssl", 64)
    assert f"A call into the TEE costs {shown(CALL)} before it does anything." in report.text
    assert (
        f"SHA-256 inside takes {digits(per_byte('tee'))} ns a byte, outside (OpenSSL) "
        f"{digits(per_byte('openssl'))}: {per_byte('tee') / per_byte('openssl'):.0f} times as much."
    ) in report.text
    assert (
        f"at 64 B {inside / outside:.0f} times as much ({shown(inside)} against {shown(outside)})"
    ) in report.text


def test_rates_by_size(report: Report) -> None:
    found = report.table("bytes", *(f"{title} (MiB/s)" for title in TITLES.values()))
    for column, by in enumerate(SIZES):
        for size in SIZES["tee"][1:]:
            known = size in SIZES[by]
            assert found[NAMES[size]][column] == (rate(time(by, size), size) if known else NONE)


def test_whole_calls_and_a_further_byte(report: Report) -> None:
    found = report.table("backend", "byte (ns)", "limit (MiB/s)")
    for by, title in TITLES.items():
        row = found[f"{title} (`{by}`)"]
        assert row[:3] == [shown(time(by, size)) for size in (64, 4096, 65536)]
        assert row[3] == digits(per_byte(by))
        assert row[5] == digits(1000 / 1.048576 / per_byte(by))
        assert row[6] == "none"


def test_what_a_message_is_made_of(report: Report) -> None:
    found = report.table("backend", "call (ns)", "block (ns)", "page (ns)")
    for by in ("tee", "ta-c"):
        row = found[f"{TITLES[by]} (`{by}`)"]
        assert row[0].startswith("42 000 ")
        assert row[1].startswith(f"{BLOCK[by]} ")
        assert row[2].startswith("500 ")
    outside = found["OpenSSL (`openssl`)"]
    assert outside[0].startswith("700 ")
    assert outside[1].startswith("64.0 ")
    assert outside[2] == NONE


def test_where_the_time_of_an_empty_call_goes(report: Report) -> None:
    found = report.table("part", "takes", "share", row="waiting for a CPU")
    assert found["the call"][0] == shown(CALL)
    assert found["waiting for a CPU"][0] == "50.0 ns"
    assert found["RPCs to the normal world"][0] == "0 ns"
    # Tracepoints have steps of a microsecond: half of one is taken off.
    assert found["client library and driver"][2] == "25 %"
    assert found["world switch and TEE core"][2] == "75 %"


def test_where_the_time_of_a_message_goes(report: Report) -> None:
    found = report.table("part", "takes", "share", row="compute")
    whole, work = time("tee", 1 << 20), blocks(1 << 20) * BLOCK["tee"]
    assert found["the call"][0] == shown(whole)
    assert found["compute"][0] == shown(work)
    assert found["compute"][2] == f"{work / whole * 100:.0f} %"
    assert found["set-up of the operation"][0] == shown(INSIDE)
    assert found["RPCs to the normal world"][0] == shown(REQUEST)
    assert found["RPCs to the normal world"][3].startswith("tracepoints: 1 RPCs a call")
    # The pages of the buffer, which no case of this run tells; the set-up is in the switch, too.
    assert found["unexplained"][0] == shown(256 * PAGE - INSIDE)
    assert "agree to within 5 %" in report.text


def test_what_to_choose(report: Report) -> None:
    saved = {
        by: f"{(1 - time(by, 65536) / time(other, 65536)) * 100:.0f} % less than {other}."
        for by, other in (("openssl", "ta-c"), ("ta-c", "tee"))
    }
    assert (
        "SHA-256: openssl is the fastest choice from 64 B to 64 KiB; at 64 KiB it takes "
        + saved["openssl"]
    ) in report.text
    assert (
        "SHA-256 inside the TEE: ta-c is the fastest choice from 4 KiB to 64 KiB, no better at "
        "64 B; at 64 KiB it takes " + saved["ta-c"]
    ) in report.text
    way = CALL + REQUEST - INSIDE
    words = f"the way in and out, with the buffers that a digest needs, takes {shown(way)}"
    assert words in report.text


def test_the_same_code_in_both_worlds(report: Report) -> None:
    inside, outside = per_byte("ta-c"), per_byte("c")
    ratio = f"{inside / outside:.1f}\N{MULTIPLICATION SIGN}"
    assert f"takes {ratio} as much time a byte in the TEE as outside." in report.text
    assert f"“C, in the TA” takes {digits(inside)} ns a byte, “C, normal" in report.text
    assert f"“C, normal world” takes {digits(outside)} ns a byte." in report.text


def test_the_first_time(report: Report) -> None:
    found = report.table("what", "time")
    assert found["first contact with the TEE (context) tee"] == ["110 µs"]
    assert found["opening a session; the first of all loads the TA tee"] == ["5.00 ms"]
    assert found["first empty call tee"] == ["1.20 ms"]


def test_all_cases(report: Report) -> None:
    rows = re.findall(r"^\| [\w, ]+ \(`([\w-]+)`\) \| (.+?) \| (.+) \|$", report.text, re.MULTILINE)
    found = {(by, size): rest.split(" | ") for by, size, rest in rows if rest.endswith(" | 12")}
    for by, sizes in SIZES.items():
        for size in sizes:
            row = found[by, NAMES[size]]
            ns = time(by, size)
            assert row[0] == row[1] == row[4] == shown(ns)
            assert row[2] == (rate(ns, size) if size else NONE)
            assert row[5] == "0 %"
    # The process works itself in the normal world; what a TA takes is the kernel's figure.
    assert float(found["openssl", "64 KiB"][3]) == pytest.approx(
        time("openssl", 65536) / 65536, 0.02
    )


def test_what_nobody_said_is_not_in_the_heading(report: Report) -> None:
    """A file of teebench alone has no plan, no board and no time."""
    assert report.text.startswith("# The cost of trusted execution on this machine\n")
    assert " UTC" not in report.text
