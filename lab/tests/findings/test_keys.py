# SPDX-License-Identifier: BSD-2-Clause
"""Findings on asymmetric keys: on both sides of each threshold, and without their data."""

import re
from collections.abc import Mapping
from pathlib import Path

import pytest

from synthetic import run_of, scattered
from teemark.base.finding import Finding
from teemark.findings import keys
from teemark.findings.ground import Ground
from teemark.findings.rules import judge
from teemark.findings.subject import subjects
from teemark.page.bars import WIDE
from teemark.page.blocks import Bar, Chart, Table
from teemark.report import summary
from teemark.report.sections.keys import keys as section
from teemark.report.sections.keys import pkcs11 as by_layers
from teemark.wording import fmt

TOP = Path(__file__).resolve().parents[3]
P256 = {
    "sign/ecdsa-p256/tee/none": 200e6,
    "sign/ecdsa-p256/openssl/none": 0.2e6,
    "keygen/ecdsa-p256/openssl/none": 0.1e6,
    "derive/ecdh-p256/openssl/none": 0.5e6,
    "invoke/none/tee/none": 60e3,
}
STEPS = {
    f"key-steps/ecdsa-p256/tee/sign/{step}": 100e3 for step in ("allocate", "import", "prepare")
}


def ground(cases: Mapping[str, float]) -> Ground:
    return Ground.of(run_of({key: scattered(ns, 0.001) for key, ns in cases.items()}))


def without(cases: Mapping[str, float], key: str) -> dict[str, float]:
    return {one: ns for one, ns in cases.items() if one != key}


def test_a_signature_is_compared_with_openssl_and_told_why() -> None:
    finding = keys.signature_cost(ground(P256))
    assert finding is not None
    assert finding.topic == "answer"
    assert finding.figures[0].value == pytest.approx(1000, rel=0.01)
    assert finding.claim.endswith("it; the rest is computing there.")


def test_the_way_in_is_no_small_part_of_a_cheap_signature() -> None:
    finding = keys.signature_cost(ground(P256 | {"invoke/none/tee/none": 20e6}))
    assert finding is not None
    assert "the rest" not in finding.claim


@pytest.mark.parametrize("key", ["sign/ecdsa-p256/tee/none", "sign/ecdsa-p256/openssl/none"])
def test_no_signature_on_one_side_is_no_ground(key: str) -> None:
    assert keys.signature_cost(ground(without(P256, key))) is None
    assert keys.handshake(ground(without(P256, key))) is None


def test_a_handshake_has_one_signature_and_the_rest_outside() -> None:
    finding = keys.handshake(ground(P256))
    assert finding is not None
    inside, outside = finding.figures
    assert inside.value == pytest.approx(200.6e6, rel=0.01)
    assert outside.value == pytest.approx(0.8e6, rel=0.01)


def test_importing_a_key_each_time_is_what_the_steps_add_up_to() -> None:
    finding = keys.key_kept(ground(P256 | STEPS))
    assert finding is not None
    assert finding.figures[0].value == pytest.approx(300e3, rel=0.01)
    for step in STEPS:
        assert keys.key_kept(ground(P256 | without(STEPS, step))) is None


def rsa(small: float, large: float, plain: float | None = None) -> Finding | None:
    cases = {"sign/rsa-2048/tee/crt": small, "sign/rsa-4096/tee/crt": large}
    if plain is not None:
        cases["sign/rsa-2048/tee/plain"] = plain
    return keys.rsa_of_any_size(ground(cases))


def test_rsa_that_costs_the_same_for_any_size_is_a_cause() -> None:
    found, ruled_out = rsa(2e9, 2.01e9, 1e9), rsa(2e9, 14e9, 6e9)
    assert found is not None
    assert ruled_out is not None
    assert found.status == "found"
    assert "dearer than without" in found.evidence
    assert ruled_out.status == "ruled out"
    assert not ruled_out.claim
    cheaper = rsa(2e9, 2.01e9, 6e9)
    assert cheaper is not None
    assert "dearer" not in cheaper.evidence


def test_rsa_of_one_size_alone_says_what_would_tell() -> None:
    finding = keys.rsa_of_any_size(ground({"sign/rsa-2048/tee/crt": 2e9}))
    assert finding is not None
    assert finding.status == "not checked"
    assert finding.remedy == keys.PLAN
    assert keys.rsa_of_any_size(ground(P256)) is None


def test_the_first_answer_is_what_a_signature_costs() -> None:
    answers = [one.key for one in judge(ground(P256)) if one.topic == "answer"]
    assert answers[:2] == ["signature", "handshake"]


def test_the_section_has_bars_and_the_distribution_of_key_pairs() -> None:
    made = section(subjects([ground(P256).run]))
    assert made is not None
    _, uses, table = made.blocks
    assert isinstance(uses, Table)
    assert isinstance(table, Table)
    tee, openssl = (cell for cell in uses.rows[0] if isinstance(cell, Bar))
    assert 0 < openssl.share < tee.share <= 1
    assert len(uses.rows) == 2
    assert "a second" in [column.title for column in uses.columns]
    assert len(table.rows) == 1
    assert section(subjects([ground({"invoke/none/tee/none": 6e4}).run])) is None


def test_key_pairs_that_scatter_are_drawn() -> None:
    """A dot a sample and a row a case; what lies within 2 % is left to the table."""
    spread = [1e6 * 1.05**n for n in range(20)]
    times = {"keygen/rsa-2048/tee/none": spread, "keygen/ed25519/tee/none": scattered(1e6, 0.001)}
    made = section(subjects([run_of(times)]))
    assert made is not None
    (chart,) = (block for block in made.blocks if isinstance(block, Chart))
    assert chart.draw(WIDE).count("<title>") == len(spread)
    assert "rsa-2048" in chart.draw(WIDE)
    assert "ed25519" not in chart.draw(WIDE)


def test_a_run_of_key_pairs_alone_ends_with_their_table(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """A chart stands before that table, and `teemark run` ended in an assertion."""
    times = {"keygen/rsa-2048/tee/none": [1e6 * 1.05**n for n in range(20)]}
    summary.show(subjects([run_of(times)])[0])
    assert "rsa-2048" in capsys.readouterr().out


def layers(memory: int, name: str = "hmac-sha256", invokes: int = 4) -> Ground:
    told = {"calls": 4, "total_ns": 1000, "invoke_ns": 400, "invokes": invokes, "allocations": 12}
    times = {f"pkcs11/{name}/pkcs11/none": scattered(250, 0.01)}
    return Ground.of(run_of(times, layers=told | {"memory_ns": memory}))


def test_a_library_that_shares_memory_in_each_call_is_a_cause() -> None:
    found, ruled_out = keys.pkcs11_memory(layers(560)), keys.pkcs11_memory(layers(90))
    assert found is not None
    assert found.status == "found"
    assert found.costs is not None
    assert found.costs.value == pytest.approx(0.56)
    assert "hmac-sha256" in found.claim
    assert ruled_out is not None
    assert ruled_out.status == "ruled out"
    assert keys.pkcs11_memory(layers(560, invokes=0)) is None
    assert keys.pkcs11_memory(ground(P256)) is None


def test_the_layers_of_a_call_add_up_to_it() -> None:
    made = by_layers(subjects([layers(560).run]))
    assert made is not None
    table = made.blocks[1]
    assert isinstance(table, Table)
    assert table.rows[0][0] == "hmac-sha256"
    assert [str(cell) for cell in table.rows[0][2:5]] == [
        "100\u00a0ns",
        "140\u00a0ns",
        "10.0\u00a0ns",
    ]
    assert by_layers(subjects([ground(P256).run])) is None


SIGNED = {"sign/ml-dsa-65/openssl/none": 6e6, "decapsulate/ml-kem-768/openssl/none": 0.3e6}
BUFFERS = {"shm/allocated/tee/in/4096": 70e3, "shm/allocated/tee/in/65536": 70e3 + 61440 * 2.0}
COPIES = {f"same-code/memcpy/ta-c/{n}": 80e3 + n * 3.0 for n in (4096, 65536)}


def test_carrying_post_quantum_bytes_is_held_against_computing() -> None:
    """A byte costs its share of mapping, 2, and of copying, 3."""
    finding = keys.post_quantum(ground(SIGNED | BUFFERS | COPIES))
    assert finding is not None
    assert finding.figures[0].value == pytest.approx((1952 + 3309) * 5 / 6e6, rel=0.2)
    assert finding.figures[0].interval is not None
    assert f"{fmt.count(1952 + 3309)} bytes of ml-dsa-65 to a TEE" in finding.claim
    dearer = keys.post_quantum(
        ground(SIGNED | COPIES | BUFFERS | {"shm/allocated/tee/in/65536": 9e6})
    )
    assert dearer is not None
    assert dearer.figures[0].value > 10 * finding.figures[0].value


def test_carrying_is_not_checked_without_buffers_and_nothing_without_keys() -> None:
    finding = keys.post_quantum(ground(SIGNED | BUFFERS | without(COPIES, next(iter(COPIES)))))
    assert finding is not None
    assert finding.status == "not checked"
    assert keys.post_quantum(ground(BUFFERS)) is None


def test_the_bytes_of_post_quantum_keys_are_the_tables() -> None:
    """`CARRIED` says what common/src/asym.c says."""
    rows = (TOP / "common" / "src" / "asym.c").read_text().replace(" ", "")
    for key, carried in keys.CARRIED.items():
        name = key.split("/")[1]
        found = re.search(rf'"{name}","[^"]*",\d+,(\d+),0,(\d+),', rows)
        assert found, name
        assert sum(map(int, found.groups())) == carried, name


def test_a_counted_draw_has_an_interval_and_a_token_is_timed() -> None:
    """Samples of key pairs that lie within 1 % aren't one count; a token waits for a disk."""
    drawn = [226e6 + 1e4 * n for n in range(20)]
    cases = ("keygen/ecdsa-p256/tee/none", "sign/ml-dsa-65/openssl/none", "sign/ed25519/tee/none")
    token = "pkcs11/keypair-token/pkcs11/none"
    run = run_of(dict.fromkeys((*cases, token), drawn), icount=True)
    stats = {one.key: one.estimate for one in Ground.of(run).models.stats}
    for key in cases[:2]:
        assert not stats[key].exact
        assert stats[key].counted
        interval = stats[key].interval
        assert interval is not None
        assert interval.low < stats[key].value < interval.high
    assert stats[cases[2]].exact
    assert not stats[token].counted
