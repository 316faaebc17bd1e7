# SPDX-License-Identifier: BSD-2-Clause
"""Asymmetric keys: the TEE beside OpenSSL, and key pairs as a distribution."""

from __future__ import annotations

from collections.abc import Sequence

from teemark.base import fmt
from teemark.base.work import DECRYPT, DERIVE, ENCRYPT, KEYGEN, SIGN, VERIFY
from teemark.findings.subject import Subject, section
from teemark.model.stats import CaseStats
from teemark.page import charts, figures
from teemark.page.blocks import Block, Cell, Chart, Column, Section, Table

USES = (SIGN, VERIFY, DERIVE, ENCRYPT, DECRYPT)
BACKENDS = ("tee", "openssl")


def keys(subjects: Sequence[Subject]) -> Section | None:
    return section(
        "keys",
        "Signatures, key agreements and key pairs",
        "One operation with a key that is kept, in the TEE and by OpenSSL on the same board. Every "
        "result was checked by the other side, or against a published one.",
        subjects,
        _of,
    )


def _of(subject: Subject) -> list[Block]:
    stats = [one for one in subject.models.stats if one.work.row in USES]
    made = [one for one in subject.models.stats if one.work.row is KEYGEN]
    blocks: list[Block] = []
    rows = _rows(stats)
    if rows:
        blocks.append(_chart(subject, rows))
    if made:
        blocks.append(_distributions(subject, made))
    return blocks


Row = tuple[str, str, str]
"""Workload, algorithm, kind of key."""


def _rows(stats: Sequence[CaseStats]) -> dict[Row, dict[str, CaseStats]]:
    found: dict[Row, dict[str, CaseStats]] = {}
    for one in stats:
        row = found.setdefault((one.workload, one.algorithm, one.parameters), {})
        row[one.backend] = one
    return found


def _name(subject: Subject, row: Row) -> str:
    workload, algorithm, key = row
    kind = {"crt": ", with CRT", "plain": ", without CRT"}.get(key, "")
    return f"{workload}: {subject.run.title(algorithm)}{kind}"


def _chart(subject: Subject, rows: dict[Row, dict[str, CaseStats]]) -> Chart:
    bars = [
        (
            _name(subject, row),
            [
                (subject.run.backend(backend), subject.run.place(backend), one.time.median)
                for backend, one in by.items()
            ],
        )
        for row, by in rows.items()
    ]
    unit = "instructions" if subject.icount else "ns"
    return Chart(
        title="One operation",
        caption=(f"{unit.capitalize()} of one operation, on a logarithmic scale.", *subject.remark),
        wide=charts.log_bars(f"keys-{subject.label}", bars, unit, charts.WIDE),
        narrow=charts.log_bars(f"keys-{subject.label}", bars, unit, charts.NARROW),
        data=_table(subject, rows),
    )


def _table(subject: Subject, rows: dict[Row, dict[str, CaseStats]]) -> Table:
    """Operations a second only where the board has a clock."""
    present = [one for one in BACKENDS if any(one in by for by in rows.values())]
    timed = not subject.icount
    columns = [Column("", "left")]
    for backend in present:
        columns.append(Column(subject.run.backend(backend).title, unit=figures.unit(subject.run)))
        if timed:
            columns.append(Column("a second"))
    columns.append(Column("ratio"))
    cells = []
    for row, by in rows.items():
        line: list[Cell] = [_name(subject, row)]
        for backend in present:
            one = by.get(backend)
            line.append(figures.cell(subject.run, one.estimate) if one else fmt.NONE)
            if timed:
                line.append(fmt.digits(1e9 / one.time.median) if one else fmt.NONE)
        tee, openssl = by.get("tee"), by.get("openssl")
        known = tee is not None and openssl is not None and openssl.estimate.value > 0
        ratio = tee.estimate / openssl.estimate if known and tee and openssl else None
        line.append(figures.times(subject.run, ratio) if ratio is not None else fmt.NONE)
        cells.append(tuple(line))
    return Table(tuple(columns), tuple(cells))


def _distributions(subject: Subject, made: Sequence[CaseStats]) -> Table:
    unit = figures.unit(subject.run)
    columns = (
        Column("key pair", "left"),
        Column("by", "left"),
        *(Column(name, unit=unit) for name in ("median", "least", "most")),
        Column(f"{fmt.LEVEL} of the median", "left"),
        Column("samples"),
    )
    rows = []
    for one in made:
        time = one.time
        shown = figures.instructions if time.estimate.exact else fmt.duration
        interval = time.estimate.interval
        rows.append(
            (
                subject.run.title(one.algorithm),
                subject.run.backend(one.backend).title,
                *(shown(value) for value in (time.median, time.min, time.max)),
                figures.ends(subject.run, interval) if interval else "too few samples",
                fmt.count(time.count),
            )
        )
    note = "each sample is one key pair: a distribution, not a cost to hold others against"
    return Table(columns, tuple(rows), caption="New key pairs", note=note)
