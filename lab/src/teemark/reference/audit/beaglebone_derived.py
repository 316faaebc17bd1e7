# SPDX-License-Identifier: BSD-2-Clause
"""beaglebone-hw-crypto: every figure that follows from others."""

from __future__ import annotations

from teemark.reference.audit.base import Derived
from teemark.reference.data import Key, Reference
from teemark.reference.span import Span

DOC = "beaglebone-hw-crypto"
LARGEST = "16384 bytes"
# Names of the document, of the tables of published figures, and of the summaries.
ALGORITHMS = {"SHA-1": "sha1", "SHA-256": "sha256", "AES-128": "aes-128-cbc"}
SUMMARY = {"SHA-1": "SHA-1", "SHA-256": "SHA-256", "AES-128-CBC": "AES-128"}
FILES = {
    "SHA-1 hashing": "SHA-1",
    "SHA-256 hashing": "SHA-256",
    "AES-128 encryption": "AES-128",
    "AES-128 decryption": "AES-128",
}


def _per_1024(row: str) -> Derived:
    def value(reference: Reference) -> Span:
        return reference.get(DOC, "throughput", row, "Throughput (KB/s)").span / 1024

    column = "Throughput (MB/s)"
    return Derived("throughput", row, column, "Throughput (KB/s) ÷ 1024", value)


def _same(table: str, row: str, column: str, other: Key, scale: float = 1) -> Derived:
    def value(reference: Reference) -> Span:
        return reference.get(*other).span * scale

    return Derived(table, row, column, "the figure of " + " / ".join(other[1:]), value)


def _size_over_time(table: str, row: str, size_row: str) -> Derived:
    def value(reference: Reference) -> Span:
        size = reference.get(DOC, table, size_row, "Size").number
        seconds = reference.get(DOC, table, row, "Time").span
        return Span(float(size), float(size), float(size)) / seconds

    return Derived(table, row, "Throughput", "size ÷ time", value)


def _improvement(row: str) -> Derived:
    def value(reference: Reference) -> Span:
        hardware = reference.get(DOC, "comparison", row, "Hardware (measured)").span
        return hardware / reference.get(DOC, "comparison", row, "Software (typical)").span

    return Derived("comparison", row, "Improvement", "hardware ÷ typical software", value)


def _kibibytes_to_mebibytes(reference: Reference) -> Span:
    return reference.get(DOC, "initramfs", "Increased", "value").span / 1024


def _speed(row: str, column: str) -> Key:
    return (DOC, "openssl-speed", row, column)


DERIVED: tuple[Derived, ...] = (
    *(
        _same("throughput", row, "Throughput (KB/s)", _speed(name, LARGEST))
        for row, name in SUMMARY.items()
    ),
    *(_per_1024(row) for row in SUMMARY),
    *(_size_over_time("file-operations", row, "File") for row in FILES),
    *(_size_over_time("rng", row, row) for row in ("/dev/hwrng", "/dev/urandom")),
    *(
        _same("analysis", f"SHA-256 {row}", "Throughput", _speed("SHA-256", column), 1 / 1024)
        for row, column in (
            ("Small blocks (16 bytes)", "16 bytes"),
            ("Medium blocks (256 bytes)", "256 bytes"),
            ("Large blocks (16KB)", LARGEST),
        )
    ),
    *(
        _same(
            "comparison", row, "Hardware (measured)", (DOC, "throughput", row, "Throughput (MB/s)")
        )
        for row in SUMMARY
    ),
    *(_improvement(row) for row in SUMMARY),
    Derived("initramfs", "Increased, in MB", "value", "KB ÷ 1024", _kibibytes_to_mebibytes),
)
