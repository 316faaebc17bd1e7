# SPDX-License-Identifier: BSD-2-Clause
"""Asymmetric keys: the TEE beside OpenSSL, key pairs as a distribution, and PKCS #11 by layers."""

from __future__ import annotations

from collections.abc import Sequence

from teemark.base import fmt
from teemark.base.work import DECRYPT, DERIVE, ENCRYPT, KEYGEN, PKCS11, SIGN, VERIFY
from teemark.findings.subject import Part, Subject
from teemark.model.stats import CaseStats
from teemark.page import charts, figures
from teemark.page.blocks import Block, Cell, Chart, Table, left, right

USES = (SIGN, VERIFY, DERIVE, ENCRYPT, DECRYPT)
BACKENDS = ("tee", "openssl")


def _of(subject: Subject) -> list[Block]:
    rows: dict[str, dict[str, CaseStats]] = {}
    for one in subject.models.stats:
        if one.work.row in USES:
            kind = {"crt": ", with CRT", "plain": ", without CRT"}.get(one.work.parameters, "")
            name = f"{one.work.workload}: {subject.run.title(one.algorithm)}{kind}"
            rows.setdefault(name, {})[one.backend] = one
    made = [one for one in subject.models.stats if one.work.row is KEYGEN]
    blocks: list[Block] = [_chart(subject, rows)] if rows else []
    return [*blocks, _distributions(subject, made)] if made else blocks


def _chart(subject: Subject, rows: dict[str, dict[str, CaseStats]]) -> Chart:
    run = subject.run
    bars = [
        (name, [(run.backend(key), run.place(key), one.time.median) for key, one in by.items()])
        for name, by in rows.items()
    ]
    unit = "instructions" if subject.icount else "ns"
    wide, narrow = (
        charts.log_bars(f"keys-{subject.label}", bars, unit, shape)
        for shape in (charts.WIDE, charts.NARROW)
    )
    caption = f"{unit.capitalize()} of one operation, on a logarithmic scale."
    table = _table(subject, rows)
    return Chart("One operation", (caption, *subject.remark), wide, narrow, table)


def _table(subject: Subject, rows: dict[str, dict[str, CaseStats]]) -> Table:
    """Returns both sides; operations a second only where the board has a clock."""
    run, columns = subject.run, list(left(""))
    for backend in BACKENDS:
        columns += right(run.backend(backend).title, unit=figures.unit(run), optional=True)
        columns += right("a second", optional=True)
    cells = []
    for name, by in rows.items():
        line: list[Cell] = [name]
        for backend in BACKENDS:
            one = by.get(backend)
            timed = one is not None and not subject.icount
            line.append(figures.cell(run, one.estimate) if one else fmt.NONE)
            line.append(fmt.digits(1e9 / one.time.median) if one and timed else fmt.NONE)
        tee, openssl = (by.get(backend) for backend in BACKENDS)
        known = tee is not None and openssl is not None and openssl.estimate.value > 0
        ratio = tee.estimate / openssl.estimate if known and tee and openssl else None
        line.append(figures.times(run, ratio) if ratio is not None else fmt.NONE)
        cells.append(tuple(line))
    return Table((*columns, *right("ratio")), cells)


def _distributions(subject: Subject, made: Sequence[CaseStats]) -> Table:
    run = subject.run
    rows = []
    for one in made:
        time, interval = one.time, one.estimate.interval
        shown = figures.instructions if time.estimate.exact else fmt.duration
        rows.append(
            (
                run.title(one.algorithm),
                run.backend(one.backend).title,
                *(shown(value) for value in (time.median, time.min, time.max)),
                figures.ends(run, interval) if interval else "too few samples",
                fmt.count(time.count),
            )
        )
    columns = (
        *left("key pair", "by"),
        *right("median", "least", "most", unit=figures.unit(run)),
        *left(f"{fmt.LEVEL} of the median"),
        *right("samples"),
    )
    note = "each sample is one key pair: a distribution, not a cost to hold others against"
    return Table(columns, rows, caption="New key pairs", note=note)


def _layers(subject: Subject) -> list[Block]:
    shown = figures.instructions if subject.icount else fmt.duration
    rows = []
    for case in subject.run.sound:
        layers, stats = case.case.layers, subject.models.case(case.key)
        if case.work.row is not PKCS11 or layers is None or stats is None:
            continue
        rest = layers.total_ns - layers.invoke_ns - layers.memory_ns
        parts = (layers.invoke_ns, layers.memory_ns, rest)
        rows.append(
            (
                case.work.algorithm,
                figures.cell(subject.run, stats.estimate),
                *(shown(part / layers.calls) for part in parts),
                fmt.percent(layers.memory_ns / layers.total_ns) if layers.total_ns else fmt.NONE,
                fmt.digits(layers.invokes / layers.calls),
            )
        )
    columns = (
        *left("call"),
        *right("median", "in the TEE", "shared memory", "library", unit=figures.unit(subject.run)),
        *right("shared memory", "calls into the TEE"),
    )
    note = "layers are means of a few calls before the samples"
    return [Table(columns, rows, note=note)] if rows else []


keys = Part(
    "keys",
    "Signatures, key agreements and key pairs",
    _of,
    "One operation with a key that is kept, in the TEE and by OpenSSL on the same board. Every "
    "result was checked by the other side, or against a published one.",
)
pkcs11 = Part(
    "pkcs11",
    "PKCS #11, layer by layer",
    _layers,
    "A call of the module with its Init. What it takes in the TEE is all of TEEC_InvokeCommand, "
    "the way included; shared memory is allocated and released around it.",
)
