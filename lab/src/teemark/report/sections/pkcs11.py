# SPDX-License-Identifier: BSD-2-Clause
"""Calls of a PKCS #11 module, layer by layer."""

from __future__ import annotations

from collections.abc import Sequence

from teemark.base import fmt
from teemark.base.work import PKCS11
from teemark.findings.subject import Subject, section
from teemark.page import figures
from teemark.page.blocks import Block, Cell, Column, Section, Table


def pkcs11(subjects: Sequence[Subject]) -> Section | None:
    return section(
        "pkcs11",
        "PKCS #11, layer by layer",
        "A call of the module with its Init. What it takes in the TEE is all of "
        "TEEC_InvokeCommand, the way included; shared memory is allocated and released around it.",
        subjects,
        _of,
    )


def _of(subject: Subject) -> list[Block]:
    unit = figures.unit(subject.run)
    columns = (
        Column("call", "left"),
        *(Column(name, unit=unit) for name in ("median", "in the TEE", "shared memory", "library")),
        Column("shared memory"),
        Column("calls into the TEE"),
    )
    medians = {one.key: one for one in subject.models.stats}
    rows: list[tuple[Cell, ...]] = []
    for case in subject.run.sound:
        layers = case.case.layers
        if case.work.row is not PKCS11 or layers is None or case.key not in medians:
            continue
        rest = layers.total_ns - layers.invoke_ns - layers.memory_ns
        parts = (layers.invoke_ns, layers.memory_ns, rest)
        shown = figures.instructions if subject.icount else fmt.duration
        rows.append(
            (
                case.work.algorithm,
                figures.cell(subject.run, medians[case.key].estimate),
                *(shown(part / layers.calls) for part in parts),
                fmt.percent(layers.memory_ns / layers.total_ns) if layers.total_ns else fmt.NONE,
                fmt.digits(layers.invokes / layers.calls),
            )
        )
    if not rows:
        return []
    note = "layers are means of a few calls before the samples"
    return [Table(columns, tuple(rows), note=note)]
