# SPDX-License-Identifier: BSD-2-Clause
"""Asymmetric keys: the TEE beside OpenSSL, key pairs as a distribution, and PKCS #11 by layers."""

import math
from collections.abc import Sequence
from functools import partial

from teemark.base.work import KEY_USES, KEYGEN, PKCS11
from teemark.findings.subject import Subject
from teemark.model.stats import CaseStats
from teemark.page import charts
from teemark.page.blocks import Bar, Block, Cell, Chart, Table, left, right
from teemark.page.dots import Dot, DotRow, render
from teemark.page.section import RunSection, remark
from teemark.wording import fmt

BACKENDS = ("tee", "openssl", "keyctl")
ONE_DOT = 1.02
"""Key pairs are drawn only if the dearest takes more than the cheapest by this factor."""


def _of(subject: Subject) -> list[Block]:
    rows: dict[str, dict[str, CaseStats]] = {}
    for stats in subject.models.stats:
        if stats.work.row in KEY_USES:
            kind = {"crt": ", with CRT", "plain": ", without CRT"}.get(stats.work.parameters, "")
            name = f"{stats.work.workload}: {subject.run.title(stats.algorithm)}{kind}"
            rows.setdefault(name, {})[stats.backend] = stats
    pairs = [stats for stats in subject.models.stats if stats.work.row is KEYGEN]
    blocks: list[Block] = [_table(subject, rows)] if rows else []
    return [*blocks, *_drawn(subject, pairs), _distributions(subject, pairs)] if pairs else blocks


def _table(subject: Subject, rows: dict[str, dict[str, CaseStats]]) -> Table:
    """Returns a table of an operation's cost by each backend, with bars on a logarithmic scale, and
    operations a second if the board has a clock."""
    run, columns = subject.run, list(left(""))
    for backend in BACKENDS:
        columns += right(run.backend(backend).title, unit=fmt.cost_unit(run), optional=True)
        columns += right("a second", optional=True)
    costs = [
        stats.time.median for by in rows.values() for stats in by.values() if stats.time.median > 0
    ]
    least, most = min(costs, default=1) / 3, max(costs, default=1)
    cells = []
    for name, by in rows.items():
        line: list[Cell] = [name]
        for backend in BACKENDS:
            stats = by.get(backend)
            if stats is None or stats.time.median <= 0:
                line += [fmt.NONE, fmt.NONE]
                continue
            share = math.log(stats.time.median / least) / math.log(most / least)
            colour = charts.colour(run.place(backend))
            line.append(Bar(fmt.cost_cell(run, stats.estimate), share, colour))
            line.append(fmt.NONE if subject.run.icount else fmt.digits(1e9 / stats.time.median))
        tee, openssl = by.get("tee"), by.get("openssl")
        comparable = tee is not None and openssl is not None and openssl.estimate.value > 0
        ratio = tee.estimate / openssl.estimate if comparable and tee and openssl else None
        line.append(fmt.ratio(run, ratio) if ratio is not None else fmt.NONE)
        cells.append(tuple(line))
    caption, note = "One operation; bars are on a logarithmic scale", subject.caveat
    return Table((*columns, *right("TEE over OpenSSL")), cells, caption, note, stacked=True)


def _drawn(subject: Subject, pairs: Sequence[CaseStats]) -> list[Block]:
    """Draws a row for each case and a dot for each key pair, relative to the case's median. A case
    whose key pairs lie within ONE_DOT has no row; without rows there is no chart."""
    run, rows, fills = subject.run, list[DotRow](), dict[str, str]()
    for stats in pairs:
        shares = [each.ns / each.loops / stats.time.median for each in run.cases[stats.key].samples]
        if max(shares) > ONE_DOT * min(shares) > 0:
            fill, who = charts.colour(run.place(stats.backend)), run.backend(stats.backend).title
            fills[fill] = who
            dots = tuple(Dot(share, fill, fmt.factor(share)) for share in shares)
            name = f"{run.title(stats.algorithm)}, {who}"
            rows.append(DotRow(name, dots, fmt.cost(run, stats.estimate)))
    if not rows:
        return []
    axis = "cost of a key pair over the case's median"
    draw = partial(render, rows, write=fmt.factor, fills=tuple(fills.items()), title=axis)
    caption = "A dot is a key pair, on a logarithmic scale of the median, which ends each line."
    return [Chart("New key pairs, beside the median", (caption, *remark(subject)), draw)]


def _distributions(subject: Subject, pairs: Sequence[CaseStats]) -> Table:
    run = subject.run
    rows = []
    for stats in pairs:
        time, interval = stats.time, stats.estimate.interval
        shown = fmt.instructions if time.estimate.counted else fmt.duration
        rows.append(
            (
                f"{run.title(stats.algorithm)}, {run.backend(stats.backend).title}",
                *(shown(value) for value in (time.median, time.min, time.max)),
                fmt.count(time.count),
                fmt.cost_ends(run, interval) if interval else "too few samples",
            )
        )
    columns = (
        *left("key pair"),
        *right("median", "least", "most", unit=fmt.cost_unit(run)),
        *right("samples"),
        *left(f"{fmt.LEVEL} of the median"),
    )
    note = "each sample is one key pair: a distribution, not a cost to compare others with"
    return Table(columns, rows, caption="New key pairs", note=note, stacked=True)


def _layers(subject: Subject) -> list[Block]:
    shown = fmt.instructions if subject.run.icount else fmt.duration
    rows: list[tuple[Cell, ...]] = []
    note = f"{fmt.cost_unit(subject.run) or 'times'}; layers: means of calls before the samples"
    for case in subject.run.sound:
        layers, stats = case.record.layers, subject.models.case(case.key)
        if case.work.row is not PKCS11 or layers is None or stats is None:
            continue
        if not rows and case.record.initialize_ns is not None and case.record.login_ns is not None:
            begun = (shown(case.record.initialize_ns), shown(case.record.login_ns))
            note += "; once, before all calls: C_Initialize {}, C_Login {}".format(*begun)
        if subject.run.icount and not stats.estimate.counted and not note.endswith("wait"):
            note += "; a median that is a time is of calls that make new keys, or wait"
        rest = layers.total_ns - layers.invoke_ns - layers.memory_ns
        parts = (layers.invoke_ns, layers.memory_ns, rest)
        rows.append(
            (
                case.work.algorithm,
                fmt.cost_cell(subject.run, stats.estimate),
                *(shown(part / layers.calls) for part in parts),
                fmt.percent(layers.memory_ns / layers.total_ns) if layers.total_ns else fmt.NONE,
                f"{layers.invokes / layers.calls:.3g}",
            )
        )
    columns = (
        *left("call"),
        *right("median", "in the TEE", "shared memory", "library", "memory's share", "TEE calls"),
    )
    return [Table(columns, rows, note=note, stacked=True)] if rows else []


keys = RunSection(
    "keys",
    "Signatures, key agreements and key pairs",
    _of,
    "One operation with a key that is kept, in the TEE and outside, on the same board. Every "
    "result was checked by the other side, or against a published one.",
    "one operation with a key, in the TEE and outside",
)
pkcs11 = RunSection(
    "pkcs11",
    "PKCS #11, layer by layer",
    _layers,
    "A call of the module with its Init. What it takes in the TEE is all of TEEC_InvokeCommand, "
    "the way included; shared memory is allocated and released around it.",
)
