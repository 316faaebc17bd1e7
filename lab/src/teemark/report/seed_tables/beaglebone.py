# SPDX-License-Identifier: BSD-2-Clause
"""beaglebone-hw-crypto: OpenSSL's table of block sizes, file operations, random sources, and what
the kernel's drivers and the TEE reach in the same tables."""

from __future__ import annotations

from functools import partial

from teemark.report.seed_tables.measured import (
    Absent,
    Lookup,
    Measured,
    Value,
    Words,
    exactly,
    quotient,
)
from teemark.report.seed_tables.table import SeedTable, Source

DOC = "beaglebone-hw-crypto"
SIZES = (16, 64, 256, 1024, 8192, 16384)
LARGEST = SIZES[-1]
FILE = 10_000_000
RANDOM = 4096

_ALGORITHMS = {"SHA-256": "sha256", "SHA-1": "sha1", "AES-128": "aes-128-cbc"}
_SUMMARY = {"SHA-1": "SHA-1", "SHA-256": "SHA-256", "AES-128-CBC": "AES-128"}
_BACKENDS = {"": "openssl", ", kernel": "afalg", ", TEE": "tee"}
"""What is measured, by what is added to the name of the row."""
_FILES = {
    "SHA-1 hashing": "sha1",
    "SHA-256 hashing": "sha256",
    "AES-128 encryption": "aes-128-cbc-enc",
    "AES-128 decryption": "aes-128-cbc-dec",
}
_SOURCES = {
    "/dev/hwrng": "hwrng",
    "/dev/urandom": "urandom",
    "getrandom()": "getrandom",
    "OpenSSL": "openssl",
    "kernel, AF_ALG": "afalg",
    "TEE": "tee",
}


def _key(name: str, backend: str, size: int) -> str:
    algorithm = _ALGORITHMS[name]
    if name == "AES-128":
        return f"cipher/{algorithm}/{backend}/enc/{size}"
    return f"oneshot/{algorithm}/{backend}/{size}"


def _rate(key: str, lookup: Lookup) -> Measured:
    return lookup.rate(key)


def _time(key: str, lookup: Lookup) -> Measured:
    return lookup.time(key)


def _size(key: str, lookup: Lookup) -> Measured:
    measured = lookup.time(key)
    return measured if isinstance(measured, Absent) else exactly(RANDOM)


def _speed() -> dict[tuple[str, str], Source]:
    return {
        (name + suffix, f"{size} bytes"): partial(_rate, _key(name, backend, size))
        for suffix, backend in _BACKENDS.items()
        for name in _ALGORITHMS
        for size in SIZES
    }


def _improvement(name: str, lookup: Lookup) -> Measured:
    """Of the kernel's driver, hardware or not, over OpenSSL in software."""
    hardware = lookup.rate(_key(name, "afalg", LARGEST))
    software = lookup.rate(_key(name, "openssl", LARGEST))
    return quotient(hardware, software)


def _comparison() -> dict[tuple[str, str], Source]:
    cells: dict[tuple[str, str], Source] = {}
    for row, name in _SUMMARY.items():
        cells[row, "Hardware (measured)"] = partial(_rate, _key(name, "afalg", LARGEST))
        cells[row, "Software (typical)"] = partial(_rate, _key(name, "openssl", LARGEST))
        cells[row, "Improvement"] = partial(_improvement, name)
    return cells


_KERNEL_NAMES = {"SHA-256": "sha256", "AES-CBC": "cbc(aes)"}
_DRIVER_COLUMNS = {
    "hardware driver": True,
    "hardware priority": True,
    "software driver": False,
    "software priority": False,
}
_OPTIONS = (
    "CONFIG_CRYPTO_HW",
    "CONFIG_CRYPTO_ENGINE",
    "CONFIG_CRYPTO_DEV_OMAP",
    "CONFIG_CRYPTO_DEV_OMAP_SHAM",
    "CONFIG_CRYPTO_DEV_OMAP_AES",
    "CONFIG_CRYPTO_DEV_OMAP_DES",
    "CONFIG_CRYPTO_USER_API",
    "CONFIG_CRYPTO_USER_API_HASH",
    "CONFIG_CRYPTO_USER_API_SKCIPHER",
    "CONFIG_CRYPTO_USER_API_RNG",
    "CONFIG_CRYPTO_USER_API_AEAD",
)


def _driver(name: str, column: str, lookup: Lookup) -> Measured | Words:
    """Of /proc/crypto's drivers for an algorithm: preferred or generic; name or priority."""
    lines = lookup.subject.run.machine.crypto.kernel_drivers
    if lines is None:
        return lookup.unknown("crypto.kernel_drivers")
    found = []
    for line in lines:
        words = line.split()
        if len(words) > 3 and words[0] == name and words[2] == "priority" and words[3].isdigit():
            found.append((int(words[3]), words[1]))
    preferred = _DRIVER_COLUMNS[column]
    generic = [driver for driver in found if "generic" in driver[1]]
    chosen = found if preferred else generic
    if not chosen:
        what = "driver" if preferred else "generic driver"
        return Absent(f"the kernel lists no {what} for {name}; modules are loaded on first use")
    priority, driver = max(chosen)
    return Value(float(priority)) if column.endswith("priority") else Words(driver)


def _option(name: str, lookup: Lookup) -> Measured | Words:
    options = lookup.subject.run.machine.kernel.options
    if options is None:
        return lookup.unknown("kernel.options")
    for line in options:
        key, _, value = line.partition("=")
        if key == name.removeprefix("CONFIG_"):
            return Words("not set" if value == "n" else value)
    return Absent("teebench doesn't record this option")


def _sockets(lookup: Lookup) -> Measured | Words:
    afalg = lookup.subject.run.machine.crypto.afalg
    return lookup.unknown("crypto.afalg") if afalg is None else Words("yes" if afalg else "no")


TABLES: tuple[SeedTable, ...] = (
    SeedTable(
        DOC,
        "drivers",
        "Drivers and their priorities",
        tuple(_KERNEL_NAMES),
        (*_DRIVER_COLUMNS, "selected by"),
        {
            (row, column): partial(_driver, name, column)
            for row, name in _KERNEL_NAMES.items()
            for column in _DRIVER_COLUMNS
        },
        note="Measured: of the kernel's drivers, the one that it prefers, and the generic one.",
        first="algorithm",
    ),
    SeedTable(
        DOC,
        "openssl-speed",
        "OpenSSL's speed by block size",
        tuple(dict.fromkeys(row for row, _ in _speed())),
        tuple(f"{size} bytes" for size in SIZES),
        _speed(),
        units={f"{size} bytes": "kB/s" for size in SIZES},
        note="Measured by elapsed time, where openssl speed divides by CPU time in user mode; the "
        "rows of the kernel (AF_ALG) and of the TEE aren't in the document.",
        first="algorithm",
    ),
    SeedTable(
        DOC,
        "throughput",
        "Throughput at 16 KiB",
        tuple(_SUMMARY),
        ("Throughput (KB/s)", "Throughput (MB/s)"),
        {
            (row, column): partial(_rate, _key(name, "openssl", LARGEST))
            for row, name in _SUMMARY.items()
            for column in ("Throughput (KB/s)", "Throughput (MB/s)")
        },
        first="algorithm",
    ),
    SeedTable(
        DOC,
        "file-operations",
        "A file of 10 MB",
        tuple(row + suffix for suffix in _BACKENDS for row in _FILES),
        ("Time", "Throughput"),
        {
            (row + suffix, column): partial(source, f"file/{operation}/{backend}/{FILE}")
            for suffix, backend in _BACKENDS.items()
            for row, operation in _FILES.items()
            for column, source in (("Time", _time), ("Throughput", _rate))
        },
        units={"Time": "s", "Throughput": "MB/s"},
        note="The result of each operation is checked.",
        first="operation",
    ),
    SeedTable(
        DOC,
        "rng",
        "Random sources",
        tuple(_SOURCES),
        ("Size", "Time", "Throughput"),
        {
            (row, column): partial(source, f"rng/random/{backend}/{RANDOM}")
            for row, backend in _SOURCES.items()
            for column, source in (("Size", _size), ("Time", _time), ("Throughput", _rate))
        },
        units={"Size": "MB", "Time": "s", "Throughput": "MB/s"},
        note=f"Measured with {RANDOM} bytes at a time.",
        first="source",
    ),
    SeedTable(
        DOC,
        "comparison",
        "Hardware and software",
        tuple(_SUMMARY),
        ("Hardware (measured)", "Software (typical)", "Improvement"),
        _comparison(),
        note="Measured at 16 KiB: hardware is what the kernel's drivers reach over AF_ALG, which "
        "are software too where the machine has no accelerator; software is OpenSSL.",
        first="algorithm",
    ),
    SeedTable(
        DOC,
        "af-alg",
        "AF_ALG",
        ("CONFIG_CRYPTO_USER_API", "CONFIG_CRYPTO_USER", "AF_ALG sockets"),
        ("value",),
        {
            **{
                (name, "value"): partial(_option, name)
                for name in ("CONFIG_CRYPTO_USER_API", "CONFIG_CRYPTO_USER")
            },
            ("AF_ALG sockets", "value"): _sockets,
        },
        note="Measured: whether a plain AF_ALG socket can be had, without libkcapi.",
        first="option",
    ),
    SeedTable(
        DOC,
        "kernel-configuration",
        "Kernel configuration",
        _OPTIONS,
        ("value",),
        {(name, "value"): partial(_option, name) for name in _OPTIONS},
        first="option",
    ),
)
