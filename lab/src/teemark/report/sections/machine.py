# SPDX-License-Identifier: BSD-2-Clause
"""Facts of the machine, as it told them."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from teemark.base import fmt
from teemark.findings.subject import Subject, each
from teemark.page.blocks import Block, Code, Column, Facts, Fold, Quiet, Section, Table, Text
from teemark.run.records import Machine

GROUPS = ("board", "cpu", "memory", "clock", "kernel", "tee", "ta_counter", "crypto")


def machine(subjects: Sequence[Subject]) -> Section | None:
    return Section("machine", "The machine", tuple(each(subjects, _of)))


def _of(subject: Subject) -> list[Block]:
    facts = subject.run.machine
    return [
        Facts(tuple(row for row in _short(facts) if row[1])),
        Fold("Everything the machine told", _count(facts), (_everything(facts),)),
    ]


def _short(m: Machine) -> list[tuple[str, Text]]:
    """What one wants to know first."""
    unknown = m.reasons
    cores = f"{m.cpu.online} {fmt.TIMES} " if m.cpu.online else ""
    features = " ".join(m.cpu.features or ())
    return [
        ("board", _known(m.board.model, unknown.get("board.model"))),
        ("CPU", (cores + ", ".join(m.cpu.models),) if m.cpu.models else ("not told",)),
        ("CPU features", (Code(features),) if features else ("none told",)),
        ("CPU clock", _known(_clock(m), unknown.get("cpu.khz_now"))),
        ("governor", _known(_join(m.cpu.governor), unknown.get("cpu.governor"))),
        ("memory", (_memory(m),)),
        ("kernel", (f"{m.kernel.release or 'not told'} {m.kernel.machine or ''}".strip(),)),
        ("system", _known(m.kernel.os, unknown.get("kernel.os"))),
        ("TEE", _known(m.tee.implementation, unknown.get("tee.implementation"))),
        ("TEE revision", _known(m.tee.revision, unknown.get("tee.revision"))),
        ("clock in TAs", _known(_ta_counter(m), unknown.get("ta_counter.name"))),
        ("libcrypto", _known(m.crypto.libcrypto, unknown.get("crypto.libcrypto"))),
        ("AF_ALG", _known("yes" if m.crypto.afalg else None, unknown.get("crypto.afalg"))),
    ]


def _known(value: str | None, why_not: str | None) -> Text:
    if value:
        return (value,)
    return (Quiet(f"not known: {why_not}" if why_not else "not told"),)


def _join(values: Sequence[str] | None) -> str | None:
    return ", ".join(values) if values else None


def _clock(m: Machine) -> str | None:
    """MHz where the kernel gave one figure for all cores; as told otherwise."""
    if not m.cpu.khz_now:
        return None
    return ", ".join(
        f"{fmt.digits(int(khz) / 1000, 4)} MHz" if khz.isdigit() else khz for khz in m.cpu.khz_now
    )


def _ta_counter(m: Machine) -> str | None:
    counter = m.ta_counter
    if counter.name is None or not counter.hz:
        return None
    return f"{counter.name}, {fmt.digits(counter.hz / 1e6, 4)} MHz"


def _memory(m: Machine) -> str:
    total, available = m.memory.total_bytes, m.memory.available_bytes
    if total is None:
        return "not told"
    free = f", {fmt.roughly_size(available)} available" if available is not None else ""
    return fmt.roughly_size(total) + free


def _facts(m: Machine) -> list[tuple[str, str, object]]:
    """Group, name, value of every fact."""
    return [
        (group, name, value)
        for group in GROUPS
        for name, value in msgspec.structs.asdict(getattr(m, group)).items()
    ]


def _count(m: Machine) -> str:
    facts = _facts(m)
    unknown = sum(value is None for _, _, value in facts)
    return f"{fmt.plural(len(facts), 'fact')}, {unknown} not known"


def _everything(m: Machine) -> Table:
    rows = []
    for group, name, value in _facts(m):
        key = f"{group}.{name}"
        shown: Text
        if value is None:
            shown = (Quiet(f"not known: {m.reasons.get(key, 'no reason given')}"),)
        elif isinstance(value, tuple):
            shown = (Code(" · ".join(map(str, value))),) if value else (Quiet("none"),)
        elif isinstance(value, bool):
            shown = ("yes" if value else "no",)
        else:
            shown = (Code(str(value)),)
        rows.append(((Code(key),), shown))
    return Table((Column("fact", "left"), Column("value", "left")), tuple(rows))
