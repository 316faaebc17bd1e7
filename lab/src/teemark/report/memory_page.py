# SPDX-License-Identifier: BSD-2-Clause
"""The memory that calls and sessions take, in words and tables."""

from collections.abc import Iterator

from teemark.exact.memory import Measured
from teemark.findings.call import STACK_LEFT
from teemark.measure.memory import MemoryUse
from teemark.page.blocks import Block, Paragraph, Table, left, right
from teemark.trace.memory import TaMemory
from teemark.wording import fmt

_MOST = 512  # Sessions at which teebench stops opening more


def scarce(measured: Measured) -> tuple[TaMemory, ...]:
    """Returns the TAs that left less than STACK_LEFT of their stack."""
    return tuple(ta for ta in measured.tas or () if ta.stack_left < STACK_LEFT * ta.stack_size)


def blocks(measured: Measured) -> Iterator[Block]:
    """Yields the answer first, then the tables that support it."""
    yield Paragraph((" ".join(_answer(measured)),))
    if measured.tas:
        yield _stacks(measured, measured.tas)
    every = (*measured.cases, *measured.sessions)
    if unknown := every[0].steps[0].unknown if every else None:
        yield Paragraph((f"What the TEE gave away isn't known: {unknown}.",))
    else:
        if measured.cases:
            yield pools(measured.cases, "case or program")
        if measured.sessions:
            yield _sessions(measured.sessions)
    for use in every:
        if use.failure:
            yield Paragraph((f"{use.about} failed: {use.failure}.",))
    if measured.cases and measured.tas is None:
        yield Paragraph(("Stacks and heaps of TAs are seen on --board qemu-v8-icount only.",))


def _answer(measured: Measured) -> Iterator[str]:
    for least in measured.least:
        less = f"; with 16 bytes less: {least.less}" if least.less else ""
        yield f"The least {least.name} with which all calls pass is {fmt.count(least.size)}{less}."
    if measured.tas:
        ta = max(measured.tas, key=lambda ta: ta.stack / ta.stack_size)
        yield (
            f"TA {ta.name} uses {fmt.count(ta.stack)} of its {fmt.count(ta.stack_size)} bytes of "
            f"stack, so {fmt.share(ta.stack_left / ta.stack_size)} are left."
        )
    for ta in scarce(measured):
        yield f"That is little: raise TA_STACK_SIZE of {ta.name}, for other input may take more."
    for use in measured.sessions:
        if use.sessions is not None:
            yield _fit(use)


def _fit(use: MemoryUse) -> str:
    most = f"{fmt.plural(use.sessions or 0, 'session')} with TA {use.about}"
    if (use.sessions or 0) >= _MOST:
        return f"At least {most} fit."
    if not use.exhausted:
        full = use.step("full")
        return f"{most} fit; then: {full.reason if full is not None else 'unknown'}."
    pools = fmt.listed([f"{pool.name} ({fmt.count(pool.size)} bytes)" for pool in use.exhausted])
    return f"{most} fit: then {pools} has no room left."


def _stacks(measured: Measured, tas: tuple[TaMemory, ...]) -> Table:
    rows = tuple(
        (
            ta.name,
            fmt.count(ta.stack),
            fmt.count(ta.stack_size),
            fmt.count(max(ta.stack - measured.framework, 0)),
            fmt.NONE if ta.heap is None else fmt.count(ta.heap),
            fmt.NONE if ta.heap_size is None else fmt.count(ta.heap_size),
            fmt.count(ta.image),
            fmt.count(ta.executed),
            fmt.count(ta.touched),
        )
        for ta in tas
    )
    columns = (
        *left("TA"),
        *right("stack used", "stack", "least TA_STACK_SIZE", "heap reached", "heap", "image"),
        *right("code pages", "data pages"),
    )
    note = (
        f"bytes, and pages of 4 KiB; OP-TEE adds {fmt.count(measured.framework)} bytes to "
        "TA_STACK_SIZE; other input may need more than the least"
    )
    return Table(columns, rows, "Stacks and heaps of TAs, by every access to memory", note)


def _pool(use: MemoryUse, pool: str, steps: tuple[str, str], since: str) -> tuple[str, ...]:
    """Returns how a pool's bytes in use changed: at the first of the `steps`, from `since` to the
    second, at most, and when all was closed."""
    first, second = steps
    more = (use.more(first, pool), use.more(second, pool, since=since), use.most(pool))
    changes = (*more, use.more("after", pool))
    return tuple(fmt.NONE if change is None else fmt.change(change) for change in changes)


def pools(uses: tuple[MemoryUse, ...], what: str) -> Table:
    """Returns a table of what the TEE gave away to each case, or to a program."""
    rows = tuple(
        (one.about, pool, *_pool(one, pool, ("ready", "again"), "call"))
        for one in uses
        for pool in one.pools
    )
    columns = (*left(what, "pool"), *right("ready", "kept by a call", optional=True))
    columns += right("at most", "when closed")
    return Table(columns, rows, "What the TEE gave away, bytes", "by OP-TEE's own statistics")


def _sessions(sessions: tuple[MemoryUse, ...]) -> Table:
    rows = []
    for use in sessions:
        many = fmt.NONE if use.sessions is None else fmt.count(use.sessions)
        refused = {pool.name for pool in use.exhausted}
        for pool in use.pools:
            changes = _pool(use, pool, ("first", "second"), "first")
            rows.append((use.about, many, pool, *changes, "refused" * (pool in refused)))
    figures = (*left("pool"), *right("first", "second", "at most", "when closed"), *left("then"))
    columns = (*left("TA"), *right("sessions"), *figures)
    return Table(columns, rows, "Sessions until the TEE refuses, bytes")
