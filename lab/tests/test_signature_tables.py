# SPDX-License-Identifier: BSD-2-Clause
"""The signatures in docs/findings.md cost on the exact board what stands there, within 1 %: cheap
cases in `make test`, all in `make test-long`."""

import json
import re
import statistics
from pathlib import Path

import pytest

from conftest import THOROUGH
from teemark.boards import VirtualBoard, ensure_installed
from teemark.exact import gate

FINDINGS = Path(__file__).resolve().parents[2] / "docs" / "findings.md"
BASELINE = Path(__file__).with_name("gate.txt")  # measured with the same versions
WITHIN = 0.01
ROWS = {
    "ECDSA P-256, sign": "sign/ecdsa-p256/{}/none",
    "ECDSA P-256, verify": "verify/ecdsa-p256/{}/none",
    "RSA-2048, sign with the CRT parts": "sign/rsa-2048/{}/crt",
    "RSA-2048, sign without them": "sign/rsa-2048/{}/plain",
    "RSA-4096, sign with the CRT parts": "sign/rsa-4096/{}/crt",
    "Ed25519, sign": "sign/ed25519/{}/none",
    "ML-DSA-65, verify": "verify/ml-dsa-65/{}/none",
    "ML-KEM-768, encapsulate": "encapsulate/ml-kem-768/{}/none",
    "ML-KEM-768, decapsulate": "decapsulate/ml-kem-768/{}/none",
}
CHEAP = 25e6
"""Instructions of a case that `make test` measures at most."""


def table() -> dict[str, float]:
    """The instructions that the document gives for each case."""
    found = {}
    for line in FINDINGS.read_text(encoding="utf-8").splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if cells[0] in ROWS and len(cells) == 3:
            for backend, cell in zip(("tee", "openssl"), cells[1:], strict=True):
                number = re.fullmatch(r"([\d.,]+) M", cell)
                if number:
                    key = ROWS[cells[0]].format(backend)
                    found[key] = float(number[1].replace(",", "")) * 1e6
    return found


def unlike(said: dict[str, float], measured: dict[str, float]) -> list[str]:
    """The cases whose measured instructions are further off than WITHIN."""
    return [key for key, was in measured.items() if abs(was / said[key] - 1) > WITHIN]


def test_the_document_has_every_row() -> None:
    assert {key.replace("openssl", "{}") for key in table() if "openssl" in key} == set(
        ROWS.values()
    )


def test_one_per_cent_is_seen() -> None:
    said = table()
    assert not unlike(said, said)
    for key in said:
        assert unlike(said, said | {key: said[key] * 1.011}) == [key]


@pytest.mark.board
@pytest.mark.long(60)
@pytest.mark.timeout(900)
def test_the_table_is_what_the_exact_board_measures(qemu_v8_icount: VirtualBoard) -> None:
    """The table is held only against the versions that it was measured with."""
    said = table()
    other = gate.differing(gate.read(BASELINE), qemu_v8_icount.file)
    if "optee" in " ".join(other):
        pytest.skip(f"the table was measured with other versions: {other}")
    keys = [key for key in said if THOROUGH or said[key] < CHEAP]
    keys = [key for key in keys if "openssl" not in other or "/openssl/" not in key]
    assert any("/tee/" in key for key in keys)
    ensure_installed(qemu_v8_icount)
    done = qemu_v8_icount.capture(
        ["teebench", "--samples", "3", "--align-tick", "8", "--quiet-until-end", *keys], timeout=800
    )
    costs: dict[str, list[float]] = {}
    for record in map(json.loads, done.stdout.splitlines()):
        if record["type"] == "sample" and record["source"] == "client-clock":
            costs.setdefault(record["case"], []).append(record["ns"] / record["loops"])
    measured = {key: statistics.median(values) for key, values in costs.items()}
    assert set(measured) == set(keys)
    assert not unlike(said, measured), measured
