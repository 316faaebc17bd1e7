# SPDX-License-Identifier: BSD-2-Clause
# ruff: noqa: RUF003 (the signs of arithmetic)
"""mqtt-tz-blocks: AES in a TA as a whole and step by step, and secure storage, under QEMU."""

from __future__ import annotations

import math
from itertools import combinations

from teemark.reference.audit.base import checks, listed, microseconds, number
from teemark.reference.data import Figure, Reference

DOC = "mqtt-tz-blocks"
BITS = ("aes128", "aes256")
STEPS = ("prepare_aes", "set_iv", "set_key", "cipher_buffer")
DIRECTIONS = {"ENCRYPT": "encrypt_secure", "DECRYPT": "decrypt_secure"}
_TABLES = {
    "aes": BITS,
    "aes-steps": BITS,
    "storage": ("S", "NS"),
}


def _rows(reference: Reference, table: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys(figure.row for figure in reference.table(DOC, table)))


def _step(reference: Reference, direction: str, step: str, part: str, bits: str) -> Figure | None:
    return reference.find(DOC, "aes-steps", f"{direction} {step} ({part})", f"{bits} avg")


def deviation_in_squared_unit(reference: Reference) -> list[str]:
    """Do standard deviations have the unit of their means?"""
    wrong = [
        figure
        for table in _TABLES
        for figure in reference.table(DOC, table)
        if "stdev" in figure.column and figure.unit.endswith("^2")
    ]
    if not wrong:
        return []
    return [
        f"{len(wrong)} standard deviations are headed “{wrong[0].unit}”. A standard deviation has "
        "the unit of its mean, ms; in ms² it would be a variance, and "
        f"{wrong[0].text} would be a deviation of {number(math.sqrt(float(wrong[0].number)))} ms. "
        "They are shown in ms."
    ]


def rows_with_the_same_digits(reference: Reference) -> list[str]:
    """Are there rows with the same digits?"""
    columns = [f"{bits} {what}" for bits in BITS for what in ("avg", "stdev")]
    rows = {
        row: tuple(reference.get(DOC, "aes-steps", row, column).number for column in columns)
        for row in _rows(reference, "aes-steps")
    }
    same = [
        (one, other, values)
        for (one, values), (other, others) in combinations(rows.items(), 2)
        if values == others
    ]
    if not same:
        return []
    return [
        f"{len(same)} rows of ENCRYPT are rows of DECRYPT, digit for digit in all four columns: "
        + listed([f"{one} = {other} ({values[0]} ms)" for one, other, values in same])
        + ". Four independent means and deviations to six decimals don't repeat by chance: these "
        "rows were pasted, and what they should say was never published."
    ]


def call_alone_exceeds_call_and_more(reference: Reference) -> list[str]:
    """Is a part ever larger than its whole?"""
    shown = []
    for direction in DIRECTIONS:
        for step in STEPS:
            for bits in BITS:
                whole = _step(reference, direction, step, "All", bits)
                part = _step(reference, direction, step, "Inv", bits)
                if whole is not None and part is not None and part.number > whole.number:
                    shown.append(
                        f"{direction} {step}, {bits}: {part.text} > {whole.text} ms by "
                        f"{number(float(part.number - whole.number))}"
                    )
    if not shown:
        return []
    return [
        "The invocation alone takes longer than it and what leads to it: "
        + "; ".join(shown)
        + ". A part can't exceed the whole."
    ]


def step_without_its_pair(reference: Reference) -> list[str]:
    """Does every step have both of its rows?"""
    missing = [
        f"{direction} {step} ({part})"
        for direction in DIRECTIONS
        for step in STEPS
        for part in ("All", "Inv")
        if _step(reference, direction, step, part, "aes128") is None
    ]
    if not missing:
        return []
    wanted = len(DIRECTIONS) * len(STEPS) * 2
    return [
        f"{wanted} rows belong to {len(DIRECTIONS)} directions of {len(STEPS)} steps, and "
        f"{wanted - len(missing)} are there: {listed(missing)} is missing."
    ]


def steps_do_not_add_up(reference: Reference) -> list[str]:
    """Do the steps add up to the operation?"""
    sentences = []
    for direction, row in DIRECTIONS.items():
        for bits in BITS:
            parts = [_step(reference, direction, step, "All", bits) for step in STEPS]
            whole = reference.get(DOC, "aes", row, f"{bits} avg")
            known = [float(part.number) for part in parts if part is not None]
            total, together = float(whole.number), sum(known)
            if len(known) == len(STEPS) and not 0.9 <= together / total <= 1.0:
                sentences.append(
                    f"{direction}, {bits}: the steps are {' + '.join(number(k) for k in known)} = "
                    f"{number(together)} ms, and {row} is {whole.text} ms: "
                    f"{number(100 * (1 - together / total), 2)} % is in no step."
                )
    return sentences


def deviation_above_the_mean(reference: Reference) -> list[str]:
    """Can the mean stand for a call?

    Times are never negative: where the deviation exceeds the mean, a few calls carry it.
    """
    runs = reference.get(DOC, "setup", "Runs", "value").span.mid
    shown = []
    for table, groups in _TABLES.items():
        for row in _rows(reference, table):
            for group in groups:
                mean = float(reference.get(DOC, table, row, f"{group} avg").number)
                deviation = float(reference.get(DOC, table, row, f"{group} stdev").number)
                if deviation <= mean:
                    continue
                # one value x, all others equal: x − mean = deviation × (n − 1) ÷ √n
                first = mean + deviation * (runs - 1) / math.sqrt(runs)
                rest = (runs * mean - first) / (runs - 1)
                text = f"{row} {group}: {number(mean)} ± {number(deviation)} ms"
                if rest > 0:
                    text += (
                        f", as one call of {number(first, 3)} ms and {runs - 1:.0f} of "
                        f"{number(rest, 2)} ms would give"
                    )
                shown.append(text)
    if not shown:
        return []
    return [
        "Standard deviations above their means: " + "; ".join(shown) + ". A few calls carry "
        "these means; the first call belongs apart, and a median would show the rest."
    ]


def more_rounds_in_less_time(reference: Reference) -> list[str]:
    """Is the longer key the slower one?"""
    r128, r256 = reference.constant("aes-rounds-128"), reference.constant("aes-rounds-256")
    runs = reference.get(DOC, "setup", "Runs", "value").span.mid
    pairs = []
    for row in _rows(reference, "aes"):
        means = [float(reference.get(DOC, "aes", row, f"{bits} avg").number) for bits in BITS]
        errors = [
            float(reference.get(DOC, "aes", row, f"{bits} stdev").number) / math.sqrt(runs)
            for bits in BITS
        ]
        pairs.append((row, means, math.hypot(*errors)))
    faster = [pair for pair in pairs if pair[1][1] < pair[1][0]]
    if r256 <= r128 or len(faster) < len(pairs):
        return []
    return [
        f"AES-256 has {r256:.0f} rounds, AES-128 {r128:.0f}, and yet AES-256 is the faster in all "
        f"{len(pairs)} rows: "
        + "; ".join(
            f"{row} {number(m[1] - m[0], 3)} ms with a standard error of {number(error, 2)}"
            for row, m, error in pairs
        )
        + ". The differences are noise and the order of the runs, not the cipher."
    ]


def memory_is_called_storage(reference: Reference) -> list[str]:
    """Is the non-secure column storage?"""

    def mean(row: str, column: str) -> float:
        return float(reference.get(DOC, "storage", row, f"{column} avg").number) * 1e-3

    size = reference.get(DOC, "setup", "Object size", "value").span.mid
    if mean("read", "NS") < mean("create", "NS"):
        return []
    return [
        f"The non-secure column isn't a file: creating {size:.0f} bytes takes "
        f"{microseconds(mean('create', 'NS'))}, reading them {microseconds(mean('read', 'NS'))}, "
        f"{number(mean('read', 'NS') / mean('create', 'NS'), 2)} times as long, where secure "
        f"storage takes {number(mean('create', 'S') / mean('read', 'S'), 2)} times as long to "
        "create. Nothing was encrypted, authenticated or written through to a disk: the factor of "
        f"{number(mean('create', 'S') / mean('create', 'NS'), 3)} compares storage with memory."
    ]


def times_of_an_emulator(reference: Reference) -> list[str]:
    """What were the times measured on?"""
    platform = reference.get(DOC, "setup", "Platform", "value").text
    if "qemu" not in platform.lower():
        return []
    return [
        f"Measured on {platform}: these are times of an emulator on an unnamed computer. They say "
        "how operations compare, with crypto and crossings weighted as the emulator does, and "
        "nothing of a board."
    ]


CHECKS = checks(
    DOC,
    ("mislabelled", "aes aes-steps storage", deviation_in_squared_unit),
    ("copied", "aes-steps", rows_with_the_same_digits),
    ("impossible", "aes-steps", call_alone_exceeds_call_and_more),
    ("contradiction", "aes-steps", step_without_its_pair),
    ("contradiction", "aes-steps", steps_do_not_add_up),
    ("mislabelled", "aes storage", deviation_above_the_mean),
    ("contradiction", "aes", more_rounds_in_less_time),
    ("mislabelled", "storage", memory_is_called_storage),
    ("unsupported", "aes storage", times_of_an_emulator),
)
