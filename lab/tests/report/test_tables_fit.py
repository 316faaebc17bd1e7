# SPDX-License-Identifier: BSD-2-Clause
"""A table on a terminal of 80 columns: what the headline is about, whole names, no paragraphs; its
digits stand in groups there, and not in a pipe."""

import os
import pty
import re
import subprocess
import sys
from pathlib import Path

import pytest

from synthetic import Synthetic, run_of, scattered, write
from teemark.base.console import plain, terminal
from teemark.findings.subject import Subject, subjects
from teemark.page import terminal as shown
from teemark.page.blocks import Table, left, right
from teemark.report import summary
from teemark.report.sections.boards import figures
from teemark.report.sections.boards import table as boards_table
from teemark.wording import fmt

ALGORITHMS = ("rsa-2048", "ecdsa-p256", "ecdsa-p384", "ed25519", "sm2", "dsa-1024")


def asymmetric(**more: float) -> Subject:
    """A run of signatures and verifications in both worlds, and two that only the kernel has."""
    costs = {"invoke/none/tee/none": 60e3, "sign/rsa-1024/keyctl/crt": 1e6} | more
    for number, algorithm in enumerate(ALGORITHMS, 1):
        for use in ("sign", "verify"):
            last = "crt" if algorithm == "rsa-2048" and use == "sign" else "none"
            costs[f"{use}/{algorithm}/tee/{last}"] = 200e6 * number
            costs[f"{use}/{algorithm}/openssl/{last}"] = 0.2e6 * number
    return subjects([run_of({key: scattered(ns, 0.001) for key, ns in costs.items()})])[0]


def lines(table: Table, width: int = 80) -> list[str]:
    console = terminal(width, plain=True)
    with console.capture() as text:
        shown.show(console, [table])
    return text.get().splitlines()


def test_the_operations_of_the_headline_come_first(capsys: pytest.CaptureFixture[str]) -> None:
    """Of 31 operations three were shown, and not the one that the headline is about."""
    summary.show(asymmetric())
    said = capsys.readouterr().out.splitlines()
    assert "A signature by ecdsa-p256 in the TEE costs 400" in said[0].replace("\u00a0", " ")
    head = next(place for place, line in enumerate(said) if "TEE over OpenSSL" in line)
    uses = [line for line in said[head + 2 :] if re.match(" *(sign|verify):", line)]
    rows = [line.split(":")[1].split()[0] for line in uses]
    assert rows[:2] == ["ecdsa-p256", "ecdsa-p256"]
    assert len(rows) == summary.MOST
    assert "12 of 13 operations; the report has all:" in " ".join(said)
    assert max(map(len, said)) <= 80


def test_six_runs_stay_a_table() -> None:
    runs = [
        Synthetic(seed=n, board="qemu-v8-icount", algorithms=("sha256",)).run() for n in range(6)
    ]
    made = lines(boards_table(subjects(runs)), 62)
    rows = [line for line in made if line.lstrip().startswith("qemu-v8-icount ")]
    assert len(rows) == 6
    assert max(map(len, made)) <= 62
    assert "A wider terminal also shows OP-TEE" in "\n".join(made)


def test_the_name_of_a_row_is_not_broken() -> None:
    columns = (*left("board"), *right(*("a long heading over it" for _ in range(6))))
    row = ("qemu-v8-icount-of-mine", *("1234567" for _ in range(6)))
    assert any("qemu-v8-icount-of-mine" in line for line in lines(Table(columns, [row]), 90))


def test_boards_are_held_beside_each_other_by_what_their_plan_measured() -> None:
    about = [asymmetric(), asymmetric()]
    named = figures(about)
    assert list(named)[:3] == [
        "invoke/none/tee/none", "sign/ecdsa-p256/tee/none", "sign/ecdsa-p256/openssl/none",
    ]  # fmt: skip
    made = boards_table(about)
    assert [column.title for column in made.columns][1:3] == [
        "an empty call", "sign ecdsa-p256 by TEE API",
    ]  # fmt: skip
    assert fmt.NONE not in made.rows[0][: len(named) + 1]
    assert "SHA" not in str(made)


def test_a_plan_with_digests_keeps_its_figures() -> None:
    about = subjects([Synthetic(algorithms=("sha256",)).run()])
    assert list(figures(about)) == ["empty_call", "tee_call", "tee_byte", "linux_byte"]


def test_a_command_of_ones_own_is_not_called_the_tee_api(
    capsys: pytest.CaptureFixture[str],
) -> None:
    costs = {f"call/digest/tee/{size}": 1e5 + 10 * size for size in (64, 4096, 65536)}
    run = run_of({key: scattered(ns, 0.001) for key, ns in costs.items()})
    assert (
        run.words("shm/temporary/tee/in/64")
        == f"a call with 64{chr(160)}B of temporary memory (in)"
    )
    assert run.words("call/digest/tee/64") == f"call digest of 64{chr(160)}B by your TA"
    summary.show(subjects([run])[0])
    said = capsys.readouterr().out
    assert "your TA" in said
    assert "TEE API" not in said


def test_digits_are_grouped_on_a_terminal_and_plain_in_a_pipe(tmp_path: Path) -> None:
    write(Synthetic(identical=True, samples=6, algorithms=("sha256",)).records(), tmp_path / "run")
    command = [sys.executable, "-m", "teemark", "table", str(tmp_path / "run")]
    piped = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    outer, inner = pty.openpty()
    with subprocess.Popen(command, stdout=inner, stderr=inner, env=os.environ | {"COLUMNS": "80"}):
        os.close(inner)
        seen = b""
        try:
            while part := os.read(outer, 4096):
                seen += part
        except OSError:  # The other side is closed
            pass
    os.close(outer)
    assert "387000" in piped
    assert "387 000" not in piped
    assert "387 000" in seen.decode()
    file = tmp_path / "table.txt"
    subprocess.run([*command, "-o", str(file)], check=True)
    assert "387000" in file.read_text(encoding="utf-8")


def test_plain_text_keeps_figures_aligned() -> None:
    assert plain("a  12\u202f345") == "a   12345"
    assert plain("12\u202f345 ns") == "12345 ns"
