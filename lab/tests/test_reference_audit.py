# SPDX-License-Identifier: BSD-2-Clause
# ruff: noqa: RUF001 (the signs of arithmetic)
"""Every check fires on the published figures and is silent on figures that agree."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import msgspec
import pytest

from teemark.reference import data
from teemark.reference.audit import (
    CHECKS,
    api_vs_custom,
    audit,
    beaglebone_derived,
    secure_hash_derived,
    small_messages,
)
from teemark.reference.audit.base import Check, Derived, number
from teemark.reference.data import Key, Reference

Alter = Callable[[Reference], Reference]

HASH, SMALL, API = "rpi3-secure-hash", "rpi3-small-messages", "api-vs-custom"
MQTT, BEAGLE = "mqtt-tz-blocks", "beaglebone-hw-crypto"
RUNS = ("4.5MB cold", "4.5MB warm", "40MB", "100MB")


@pytest.fixture(scope="module")
def reference() -> Reference:
    return data.load()


def figures(*changes: tuple[Key, str]) -> Alter:
    """With other figures."""

    def alter(reference: Reference) -> Reference:
        for key, text in changes:
            reference = reference.changed(key, text)
        return reference

    return alter


def constant(name: str, value: str) -> Alter:
    """With another constant."""

    def alter(reference: Reference) -> Reference:
        old = reference.constants[name]
        new = msgspec.structs.replace(old, text=value)
        return replace(reference, constants={**reference.constants, name: new})

    return alter


def in_runs(row: str, value: str) -> Alter:
    return figures(*((((HASH, "runs", row, run)), value) for run in RUNS))


def plain_milliseconds(reference: Reference) -> Reference:
    return replace(
        reference,
        figures={
            key: msgspec.structs.replace(figure, unit="ms") if figure.unit == "ms^2" else figure
            for key, figure in reference.figures.items()
        },
    )


def with_the_missing_row(reference: Reference) -> Reference:
    added = dict(reference.figures)
    for figure in reference.table(MQTT, "aes-steps"):
        if figure.row == "ENCRYPT set_iv (All)":
            new = msgspec.structs.replace(figure, row="ENCRYPT set_iv (Inv)")
            added[new.key] = new
    return replace(reference, figures=added)


def steps(*changes: tuple[str, str]) -> Alter:
    return figures(
        *(
            ((MQTT, "aes-steps", row, f"{bits} avg"), value)
            for row, value in changes
            for bits in ("aes128", "aes256")
        )
    )


SLOW_CLOCK = constant("rpi3-clock", "0.2")


def speed(**rates: str) -> Alter:
    names = {"sha1": "SHA-1", "sha256": "SHA-256", "aes": "AES-128"}
    return figures(
        *(((BEAGLE, "openssl-speed", names[k], "16384 bytes"), v) for k, v in rates.items())
    )


# What would have to be published for a check to have nothing to say.
SILENT: dict[str, Alter] = {
    "latency-is-total-over-calls": in_runs("Average IPC latency", "11000.00"),
    "trace-line-in-every-call": constant("uart-baud", "10000000"),
    "overhead-against-small-messages": figures(
        ((SMALL, "metrics", "Overhead per operation", "Value"), "11500")
    ),
    "share-is-not-constant": figures(((HASH, "runs", "Total Time", "4.5MB warm"), "406765")),
    "reading-and-tee-exceed-the-total": in_runs("TEE Time Delta", "340000"),
    "single-shot-exceeds-its-total": figures(
        ((HASH, "single-shot", "Total Execution Time", "Medium File"), "279001")
    ),
    "two-definitions-of-overhead": figures(
        ((HASH, "single-shot", "Total Execution Time", "Medium File"), "279001")
    ),
    "single-shot-was-another-file": figures(
        ((HASH, "medium-files", "File Size", "4.8MB JSON"), "2.25")
    ),
    "tee-times-are-whole-milliseconds": figures(
        ((HASH, "runs", "Hash Compute Time", "40MB"), "3249123")
    ),
    "one-rpc-for-two-times": in_runs("RPC Count", "2"),
    "calls-left-out": in_runs("Other entries of the TA in the log", "0"),
    "overhead-of-another-file": figures(
        ((HASH, "overhead", "4.8MB JSON", "Average per Call"), "11150")
    ),
    "hashing-too-slow-for-the-core": SLOW_CLOCK,
    "crossing-leaves-no-time-to-map": figures(
        ((SMALL, "metrics", "Overhead per operation", "Value"), "400")
    ),
    "efficiency-against-overheads": figures(
        ((SMALL, "metrics", "Hashing efficiency", "Value"), "87.0")
    ),
    "floor-for-what-was-not-measured": figures(
        ((SMALL, "metrics", "Smallest input it is claimed for", "Value"), "1")
    ),
    "megabytes-that-are-mebibytes": figures(
        ((SMALL, "metrics", "Max Throughput", "Value"), "13.2")
    ),
    "small-messages-too-slow-for-the-core": SLOW_CLOCK,
    "file-is-not-its-name": figures(((API, "setup", "File size", "value"), "42.9")),
    "sixteen-calls-need-larger-chunks": figures(
        ((API, "overhead", "IPC Calls", "TEE Internal API"), "43")
    ),
    "call-costs-milliseconds-again": figures(
        ((SMALL, "metrics", "Overhead per operation", "Value"), "12000")
    ),
    "one-run-of-each": figures(((API, "setup", "Runs of each implementation", "value"), "30")),
    "api-and-custom-too-slow-for-the-core": SLOW_CLOCK,
    "deviation-in-squared-unit": plain_milliseconds,
    "rows-with-the-same-digits": steps(
        ("ENCRYPT set_iv (All)", "1.9"),
        ("ENCRYPT set_key (All)", "2.6"),
        ("ENCRYPT cipher_buffer (All)", "3.2"),
    ),
    "call-alone-exceeds-call-and-more": steps(
        ("ENCRYPT set_key (All)", "2.6"), ("ENCRYPT cipher_buffer (All)", "3.2")
    ),
    "step-without-its-pair": with_the_missing_row,
    "steps-do-not-add-up": figures(
        *(((MQTT, "aes", "encrypt_secure", f"{bits} avg"), "8.3") for bits in ("aes128", "aes256"))
    ),
    "deviation-above-the-mean": figures(
        ((MQTT, "aes", "encrypt_non_secure", "aes128 stdev"), "0.04"),
        ((MQTT, "aes", "decrypt_non_secure", "aes128 stdev"), "0.01"),
        ((MQTT, "storage", "create", "NS stdev"), "0.001"),
        ((MQTT, "storage", "delete", "NS stdev"), "0.001"),
    ),
    "more-rounds-in-less-time": figures(((MQTT, "aes", "encrypt_secure", "aes256 avg"), "11.0")),
    "memory-is-called-storage": figures(((MQTT, "storage", "read", "NS avg"), "0.001")),
    "times-of-an-emulator": figures(((MQTT, "setup", "Platform", "value"), "Raspberry Pi 3")),
    "priority-is-no-evidence-of-use": figures(
        ((BEAGLE, "drivers", "SHA-256", "selected by"), "the kernel"),
        ((BEAGLE, "drivers", "AES-CBC", "selected by"), "the kernel"),
    ),
    "as-fast-as-software": speed(sha1="300000"),
    "slower-than-software": speed(sha256="75000", aes="46000"),
    "clocks-that-disagree": speed(sha256="79000", aes="46000"),
    "one-line-through-all-sizes": figures(
        ((BEAGLE, "openssl-speed", "SHA-256", "16 bytes"), "700"),
        ((BEAGLE, "openssl-speed", "SHA-1", "16 bytes"), "2000"),
        ((BEAGLE, "openssl-speed", "AES-128", "16 bytes"), "3000"),
    ),
    "thousands-divided-by-1024": figures(
        ((BEAGLE, "throughput", "SHA-1", "Throughput (MB/s)"), "147.7"),
        ((BEAGLE, "throughput", "SHA-256", "Throughput (MB/s)"), "26.6"),
        ((BEAGLE, "throughput", "AES-128-CBC", "Throughput (MB/s)"), "15.0"),
    ),
    "file-faster-than-peak": figures(
        ((BEAGLE, "file-operations", "AES-128 encryption", "Throughput"), "12.0"),
        ((BEAGLE, "file-operations", "AES-128 decryption", "Throughput"), "12.0"),
    ),
    "same-file-with-another-remainder": figures(
        ((BEAGLE, "file-operations", "SHA-1 hashing", "Time"), "0.138")
    ),
    "one-run-of-each-operation": figures(((BEAGLE, "file-operations", "File", "Runs"), "30")),
    "urandom-is-software": figures(((BEAGLE, "rng", "/dev/urandom", "Throughput"), "0.5")),
    "software-is-faster-than-claimed": figures(
        ((BEAGLE, "comparison", "SHA-1", "Software (typical)"), "100"),
        ((BEAGLE, "comparison", "SHA-256", "Software (typical)"), "50"),
        ((BEAGLE, "comparison", "AES-128-CBC", "Software (typical)"), "40"),
    ),
    "improvement-over-real-software": figures(
        ((BEAGLE, "comparison", "SHA-1", "Improvement"), "1"),
        ((BEAGLE, "comparison", "SHA-256", "Improvement"), "0.3"),
        ((BEAGLE, "comparison", "AES-128-CBC", "Improvement"), "0.3"),
    ),
    "conclusion-leaves-out-the-lowest": figures(
        ((BEAGLE, "conclusions", "Improvement over software", "value"), "1.5")
    ),
    "error-93-is-no-ahash": figures(
        ((BEAGLE, "af-alg", "kcapi-hasher and kcapi-speed", "error"), "-2")
    ),
}

# All derived figures of the documents agree with their sources, so these speak only when altered.
DERIVED: dict[str, tuple[str, tuple[Derived, ...]]] = {
    "secure-hash-derived-figures": (HASH, secure_hash_derived.DERIVED),
    "small-messages-derived-figures": (SMALL, small_messages.DERIVED),
    "api-vs-custom-derived-figures": (API, api_vs_custom.DERIVED),
    "beaglebone-derived-figures": (BEAGLE, beaglebone_derived.DERIVED),
}

BY_NAME = {check.name: check for check in CHECKS}


def test_every_check_is_tested() -> None:
    assert len(BY_NAME) == len(CHECKS)
    assert set(BY_NAME) == set(SILENT) | set(DERIVED)


@pytest.mark.parametrize("name", SILENT)
def test_a_check_fires_on_what_is_published(reference: Reference, name: str) -> None:
    findings = BY_NAME[name].findings(reference)
    assert findings
    for finding in findings:
        assert finding.check == name
        assert any(character.isdigit() for character in finding.sentence), "shows its arithmetic"
        assert finding.sentence.endswith(".")


@pytest.mark.parametrize("name", SILENT)
def test_a_check_is_silent_on_figures_that_agree(reference: Reference, name: str) -> None:
    altered = SILENT[name](reference)
    assert BY_NAME[name].findings(altered) == []


@pytest.mark.parametrize("name", DERIVED)
def test_the_published_derived_figures_agree(reference: Reference, name: str) -> None:
    assert BY_NAME[name].findings(reference) == []


@pytest.mark.parametrize(
    ("name", "document", "derived"),
    [
        pytest.param(name, document, one, id=f"{name}-{one.table}-{one.row}-{one.column}")
        for name, (document, all_of_it) in DERIVED.items()
        for one in all_of_it
    ],
)
def test_a_wrong_derived_figure_is_found(
    reference: Reference, name: str, document: str, derived: Derived
) -> None:
    key = (document, derived.table, derived.row, derived.column)
    figure = reference.get(*key)
    wrong = figure.upper if figure.upper is not None else figure.number
    altered = reference.changed(key, str(wrong * 3 + 1))
    if derived.row == "Hashing efficiency":
        altered = reference.changed(key, "99.9999")
    sentences = [finding.sentence for finding in BY_NAME[name].findings(altered)]
    assert any(derived.row in sentence and derived.formula in sentence for sentence in sentences)


def test_checks_name_tables_that_exist(reference: Reference) -> None:
    def unknown(check: Check) -> set[str]:
        return set(check.tables) - set(reference.tables(check.document))

    assert {check.name: unknown(check) for check in CHECKS if unknown(check)} == {}


def test_sentences_follow_the_figures(reference: Reference) -> None:
    """No stored sentence: another figure gives another number."""
    before = BY_NAME["single-shot-exceeds-its-total"].findings(reference)[0].sentence
    key = (HASH, "single-shot", "File Read I/O", "Medium File")
    after = BY_NAME["single-shot-exceeds-its-total"].findings(reference.changed(key, "200000"))
    assert "69,556" in before
    assert "165,555" in after[0].sentence


def test_the_whole_audit(reference: Reference) -> None:
    findings = audit(reference)
    assert {finding.document for finding in findings} == set(reference.documents)
    assert audit(reference, MQTT) == tuple(f for f in findings if f.document == MQTT)
    text = " ".join(finding.sentence for finding in findings)
    for expected in ("91 cycles a byte", "5.556 ms", "7.5 cycles at 1.2 GHz", "EPROTONOSUPPORT"):
        assert expected in text


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0, "0"),
        (85043.71, "85,044"),
        (11.6186, "11.62"),
        (0.07589, "0.07589"),
        (-65556, "−65,556"),
        (1.5, "1.5"),
        (9.9999, "10"),
    ],
)
def test_numbers_are_written(value: float, text: str) -> None:
    assert number(value) == text
