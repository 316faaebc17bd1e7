# SPDX-License-Identifier: BSD-2-Clause
"""The signatures in docs/upstream-bugs.md cost on the exact board what stands there, within 1 %:
cheap cases in `make test`; all, PKCS #11 and builds of OP-TEE in `make test-long`."""

import json
import re
import statistics
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from conftest import THOROUGH
from teemark.boards import VirtualBoard, config, ensure_installed
from teemark.exact import gate, record

FINDINGS = Path(__file__).resolve().parents[3] / "docs" / "upstream-bugs.md"
PATCH = FINDINGS.parents[1] / "reference" / "rsa-used-limbs.patch"
BASELINE = Path(__file__).parents[1] / "gate.toml"  # measured with the same versions
WITHIN = 0.01
ROWS = {
    "ECDSA P-256, sign": "sign/ecdsa-p256/{}/none",
    "ECDSA P-256, verify": "verify/ecdsa-p256/{}/none",
    "RSA-2048, sign with the CRT parts": "sign/rsa-2048/{}/crt",
    "RSA-2048, sign without them": "sign/rsa-2048/{}/plain",
    "RSA-4096, sign with the CRT parts": "sign/rsa-4096/{}/crt",
    "Ed25519, sign": "sign/ed25519/{}/none",
    "ML-DSA-65, verify": "verify/ml-dsa-65/{}/none",
    "ML-DSA-87, verify": "verify/ml-dsa-87/{}/none",
    "ML-KEM-512, encapsulate": "encapsulate/ml-kem-512/{}/none",
    "ML-KEM-512, decapsulate": "decapsulate/ml-kem-512/{}/none",
    "ML-KEM-768, encapsulate": "encapsulate/ml-kem-768/{}/none",
    "ML-KEM-768, decapsulate": "decapsulate/ml-kem-768/{}/none",
}
STEPS = {
    "allocate key object and operation": "allocate",
    "import the key": "import",
    "give it to the operation": "prepare",
}
STEPPED = ("ecdsa-p256", "ed25519", "rsa-2048")  # The columns of the table of steps
PKCS11 = {
    "C_GetSessionInfo": "pkcs11/session-info/pkcs11/none",
    "a session opened and closed": "pkcs11/session/pkcs11/none",
    "an HMAC of 50 bytes, with its Init": "pkcs11/hmac-sha256/pkcs11/none",
}
BUILT = (
    "sign/ecdsa-p256/tee/none",
    "sign/rsa-2048/tee/crt",
    "sign/rsa-2048/tee/plain",
    "verify/rsa-2048/tee/none",
)
"""The columns of the table of OP-TEE's builds."""
CHEAP = 25e6
"""Instructions of a case that `make test` measures at most."""


def rows(columns: int) -> Iterator[list[str]]:
    """Yields the cells of the document's tables that have so many columns."""
    for line in FINDINGS.read_text(encoding="utf-8").splitlines():
        cells = [cell.strip(" *") for cell in line.strip("|").split("|")]
        if line.startswith("|") and len(cells) == columns:
            yield cells


def number(cell: str) -> float | None:
    """Returns a cell's instructions, written out or in millions."""
    found = re.fullmatch(r"([\d.,]+)( M)?", cell)
    return float(found[1].replace(",", "")) * (1e6 if found[2] else 1) if found else None


def numbers(keys: Iterable[str], cells: Sequence[str]) -> dict[str, float]:
    pairs = zip(keys, map(number, cells), strict=True)
    return {key: value for key, value in pairs if value is not None}


def table() -> dict[str, float]:
    """The instructions that the document gives for each case of the first table, and each step."""
    found = dict[str, float]()
    for name, *cells in rows(3):
        if name in ROWS:
            found |= numbers((ROWS[name].format(by) for by in ("tee", "openssl")), cells)
    for name, *cells in rows(4):
        if name in STEPS:
            keys = (f"key-steps/{algorithm}/tee/sign/{STEPS[name]}" for algorithm in STEPPED)
            found |= numbers(keys, cells)
    return found


def unlike(said: dict[str, float], measured: dict[str, float]) -> list[str]:
    """The cases whose measured instructions are further off than WITHIN."""
    return [key for key, was in measured.items() if abs(was / said[key] - 1) > WITHIN]


def test_the_document_has_every_row() -> None:
    said = table()
    assert {key.replace("openssl", "{}") for key in said if "openssl" in key} == set(ROWS.values())
    assert sum(key.startswith("key-steps/") for key in said) == len(STEPS) * len(STEPPED)
    assert len(pkcs11_table()) == 2 * len(PKCS11)
    assert len(builds()) == 8


def test_one_per_cent_is_seen() -> None:
    said = table()
    assert not unlike(said, said)
    for key in said:
        assert unlike(said, said | {key: said[key] * 1.011}) == [key]


@pytest.mark.board
@pytest.mark.long(60)
def test_the_table_is_what_the_exact_board_measures(qemu_v8_icount: VirtualBoard) -> None:
    """The table is held only against the versions that it was measured with."""
    said = table()
    other = gate.differing(gate.read(BASELINE), qemu_v8_icount.file)
    if "optee" in " ".join(other):
        pytest.skip(f"the table was measured with other versions: {other}")
    keys = [key for key in said if THOROUGH or (said[key] < CHEAP and "rsa" not in key)]
    keys = [key for key in keys if "openssl" not in other or "/openssl/" not in key]
    assert any("/tee/" in key for key in keys)
    ensure_installed(qemu_v8_icount)
    done = qemu_v8_icount.capture(
        ["teebench", "--samples", "3", "--align-tick", "8", "--quiet-until-end", *keys], timeout=800
    )
    measured = medians(map(json.loads, done.stdout.splitlines()))
    assert set(measured) == set(keys)
    assert not unlike(said, measured), measured


def medians(records: Iterable[dict[str, Any]]) -> dict[str, float]:
    costs: dict[str, list[float]] = {}
    for one in records:
        if one["type"] == "sample" and one["source"] == "client-clock":
            costs.setdefault(one["case"], []).append(one["ns"] / one["loops"])
    return {key: statistics.median(values) for key, values in costs.items()}


def pkcs11_table() -> dict[str, float]:
    """The document's instructions of each case of PKCS #11, and of its shared memory."""
    found = dict[str, float]()
    for name, *cells in rows(4):
        if name in PKCS11:
            found |= numbers((PKCS11[name], f"{PKCS11[name]}, memory"), cells[:2])
    return found


@pytest.mark.board
@pytest.mark.exhaustive
def test_pkcs11_is_what_the_exact_board_measures(qemu_v8_icount: VirtualBoard) -> None:
    if gate.differing(gate.read(BASELINE), qemu_v8_icount.file):
        pytest.skip("the table was measured with other versions")
    ensure_installed(qemu_v8_icount)
    argv = ["teebench", "--samples", "6", "--align-tick", "8", "--quiet-until-end"]
    done = qemu_v8_icount.capture([*argv, *PKCS11.values()], timeout=800)
    records = [json.loads(line) for line in done.stdout.splitlines()]
    measured = medians(records)
    for one in records:
        if one["type"] == "case":
            layers = one["layers"]
            measured[f"{one['case']}, memory"] = layers["memory_ns"] / layers["calls"]
    said = pkcs11_table()
    assert set(measured) == set(said)
    assert not unlike(said, measured), measured


def builds() -> list[tuple[str, dict[str, float]]]:
    """Returns how OP-TEE is built, in the document's words, and what cases take then."""
    found = [(name, numbers(BUILT, cells)) for name, *cells in rows(5)]
    return [(name, said) for name, said in found if said]


def recipe(build: str) -> tuple[list[str], bool]:
    """Returns the options of a build by the document's words, and whether it has the patch."""
    patched = "the patch" in build
    mbedtls = "CFG_CRYPTOLIB_NAME=mbedtls CFG_CRYPTOLIB_DIR=lib/libmbedtls"
    two = "CFG_CC_OPT_LEVEL=2 CFG_TEE_CORE_DEBUG=n" if patched else mbedtls
    words = build.replace("mbedtls as above", mbedtls).replace("these two", two)
    return re.findall(r"CFG_\w+=[\w/]+", words), patched


def test_the_builds_are_read_from_the_document() -> None:
    found = [recipe(name) for name, _ in builds()]
    assert [len(options) for options, _ in found] == [0, 2, 1, 2, 4, 0, 2, 4]
    assert [patched for _, patched in found] == [False] * 5 + [True] * 3


@pytest.mark.board
@pytest.mark.exhaustive
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("row", range(8))
def test_a_build_of_optee_takes_what_the_table_says(row: int, tmp_path: Path) -> None:
    name, said = builds()[row]
    options, patched = recipe(name)
    file = config.find("qemu-v8-icount")
    file = record.with_optee(file, "source", options, [PATCH] if patched else [])
    # A long call's trace ends early; how many instructions it took is known.
    traced = record.record(file, list(said), tmp_path / "run", 1, beginning=True)
    measured = {case.case: float(case.samples[0].instructions) for case in traced.trace.cases}
    assert set(measured) == set(said)
    assert not unlike(said, measured), measured
    if row:
        return
    own = next(case.own_costs for case in traced.trace.cases if case.case == BUILT[0])
    assert own["S-EL1", "memset"] == pytest.approx(memset_of_a_signature(), rel=WITHIN)


def memset_of_a_signature() -> float:
    """Returns what the document says of it, of the first build and case."""
    (cell,) = (cells[1] for cells in rows(4) if cells[0] == "`memset`" and cells[2].endswith("%"))
    found = number(cell)
    assert found is not None
    return found
