# SPDX-License-Identifier: BSD-2-Clause
"""mqtt-tz-blocks: AES on 4 KiB as a whole and step by step, and secure storage."""

from __future__ import annotations

from functools import partial

from teemark.report.seed_tables.measured import Lookup, Measured
from teemark.report.seed_tables.table import SeedTable, Source

DOC = "mqtt-tz-blocks"
BYTES = 4096
OBJECT = 7000
CIPHERS = {"aes128": "aes-128-cbc", "aes256": "aes-256-cbc"}
_DIRECTIONS = {"ENCRYPT": "enc", "DECRYPT": "dec"}
_STEPS = {
    "prepare_aes": "prepare",
    "set_iv": "set-iv",
    "set_key": "set-key",
    "cipher_buffer": "cipher-buffer",
}
_OPERATIONS = {
    "encrypt_secure": ("tee", "enc"),
    "encrypt_non_secure": ("openssl", "enc"),
    "decrypt_secure": ("tee", "dec"),
    "decrypt_non_secure": ("openssl", "dec"),
}
_COLUMNS = ("aes128 avg", "aes128 stdev", "aes256 avg", "aes256 stdev")
_DEVIATIONS = {f"{bits} stdev": f"{bits} avg" for bits in CIPHERS}
STORES = {"S": "tee-ree-fs", "NS": "file"}


def _time(key: str, lookup: Lookup) -> Measured:
    return lookup.time(key)


def _operations() -> dict[tuple[str, str], Source]:
    return {
        (row, f"{bits} avg"): partial(_time, f"cipher/{cipher}/{backend}/{direction}/{BYTES}")
        for row, (backend, direction) in _OPERATIONS.items()
        for bits, cipher in CIPHERS.items()
    }


def _steps() -> dict[tuple[str, str], Source]:
    return {
        (f"{name} {step} ({part})", f"{bits} avg"): partial(
            _time, f"cipher-steps/{cipher}/tee/{direction}/{BYTES}/{key}/{part.lower()}"
        )
        for name, direction in _DIRECTIONS.items()
        for step, key in _STEPS.items()
        for part in ("All", "Inv")
        for bits, cipher in CIPHERS.items()
    }


def _storage() -> dict[tuple[str, str], Source]:
    return {
        (row, f"{column} avg"): partial(_time, f"storage/{row}/{store}/{OBJECT}")
        for row in ("create", "read", "delete")
        for column, store in {**STORES, "NS fsync": "file-fsync", "RPMB": "tee-rpmb"}.items()
    }


_STORES = (*STORES, "NS fsync", "RPMB")

TABLES: tuple[SeedTable, ...] = (
    SeedTable(
        DOC,
        "hello",
        "hello_world: a call that carries a value",
        ("empty call", "call with a value"),
        ("avg",),
        {
            ("empty call", "avg"): partial(_time, "invoke/none/tee/none"),
            ("call with a value", "avg"): partial(_time, "invoke/values/tee/none"),
        },
        units={"avg": "ms"},
        note="No time is published.",
        first="operation",
    ),
    SeedTable(
        DOC,
        "aes",
        "aes: 4 KiB in the TEE and in the normal world",
        tuple(_OPERATIONS),
        _COLUMNS,
        _operations(),
        deviations=_DEVIATIONS,
        note="The document doesn't name the mode; CBC is measured, in the normal world by OpenSSL.",
        first="operation",
    ),
    SeedTable(
        DOC,
        "aes-steps",
        "aes: call by call",
        tuple(dict.fromkeys(row for row, _ in _steps())),
        _COLUMNS,
        _steps(),
        deviations=_DEVIATIONS,
        units=dict.fromkeys(_COLUMNS, "ms"),
        note="All: with what leads to the call; Inv: the call alone.",
        first="step",
    ),
    SeedTable(
        DOC,
        "storage",
        "secure_storage: an object of 7000 bytes",
        ("create", "read", "delete"),
        tuple(f"{store} {what}" for store in _STORES for what in ("avg", "stdev")),
        _storage(),
        deviations={f"{store} stdev": f"{store} avg" for store in _STORES},
        units={f"{store} {what}": "ms" for store in _STORES for what in ("avg", "stdev")},
        note="Measured: S is OP-TEE's storage in the normal world's file system, NS a plain file, "
        "NS fsync the same written through to the disk, RPMB storage in such a partition.",
        first="operation",
    ),
)
