# SPDX-License-Identifier: BSD-2-Clause
"""How often a call of each size pays each term of its cost, by form (base/work.py).

| form | always | where it shows |
|---|---|---|
| message, by a digest or MAC | call, block | feed, again, tail; page |
| message, by a cipher | call (its setup), block | page (in and out), request |
| message, else | call, byte | page |
| buffer | call, page | byte (copied), table |
| storage | call | rpc, block (of the file system), byte |
| command of any TA | call, byte | feed; page |

feed: the message isn't empty. again: the block function starts a second time. tail: bytes that
don't fill a block are kept until the end. request: AF_ALG takes 64 KiB at a time. table: for each
whole 2 MiB of a buffer the TEE fills another page table, and the kernel may find that memory in one
piece, so the term is a cost or a saving. In the TEE, a fit can't tell `page` from `block`: `page`
is measured separately (by the TA's counter, or by calls that only carry a buffer) or left out.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from teemark.base import work
from teemark.base.work import Work
from teemark.model.fit import Columns
from teemark.run.records import Algorithm

PAGE = 4096
AFALG_REQUEST = 16 * PAGE  # Most bytes that one send() to an AF_ALG socket takes
PAGE_TABLE = 512 * PAGE  # Bytes that one page table maps

AFALG = "afalg"
"""Name of the backend that asks the kernel through AF_ALG, without the name of a driver."""


@dataclass(frozen=True, slots=True)
class Form:
    """The cost terms of cases that differ only in their size."""

    form: work.Form
    block: int = 0  # Bytes processed at once; 0: no cost per block
    padding: int = 0  # Fewest bytes that are added to a message, to fill its last block
    cipher: bool = False  # The message goes in and comes out again
    by_kernel: bool = False  # Uses AF_ALG, with any driver
    in_tee: bool = False
    mapped: bool = False  # A call maps its message's pages in the TEE

    @classmethod
    def of(cls, case: Work, algorithm: Algorithm, *, in_tee: bool) -> "Form":
        """Returns the form of a case. Only messages have blocks."""
        row = case.row
        block = algorithm.block_bytes or 0 if row.form == "message" else 0
        cipher, by_kernel = block > 0 and algorithm.encrypts, case.by == AFALG and not in_tee
        padding, mapped = algorithm.pad_bytes or 0, row.mapped and in_tee
        return cls(row.form, block, padding, cipher, by_kernel, in_tee, mapped)

    def columns(
        self, sizes: Sequence[int], rpcs: Sequence[float | None]
    ) -> tuple[Columns, Columns]:
        """Returns the terms of all sizes by column: those always there, then the candidates."""
        rows = [self.row(n, calls) for n, calls in zip(sizes, rpcs, strict=True)]
        base, candidates = (
            {name: [row[name] for row in part] for name in part[0] if all(name in r for r in part)}
            for part in zip(*rows, strict=True)
        )
        return base, candidates

    def row(self, n: int, rpcs: float | None = None) -> tuple[dict[str, float], dict[str, float]]:
        """Returns how often a case of n bytes pays each term: the terms that are always there, then
        the candidates. `rpcs` is the case's number of RPCs per call, if known."""
        pages = float(self.pages(n))
        call = {"call": 1.0}
        own_pages = {"page": pages} if self.by_kernel else {}
        if self.form == "buffer":
            return {**call, "page": pages}, {"byte": float(n), "table": float(n // PAGE_TABLE)}
        if self.form == "storage":
            # The TEE writes a header before the data, so a full last block needs another one.
            candidates = {"block": n // PAGE + 1.0 if self.in_tee else pages, "byte": float(n)}
            return call, candidates | ({"rpc": rpcs} if rpcs is not None else {})
        if self.form == "command":
            return {**call, "byte": float(n)}, {"feed": float(n > 0), "page": pages}
        if not self.block:
            return {**call, "byte": float(n)}, own_pages
        blocks = self.blocks(n)
        base = {**call, "block": float(blocks)}
        if self.cipher:
            requests = {"request": float(-(-n // AFALG_REQUEST))} if self.by_kernel else {}
            return base, own_pages | requests
        shown = {"feed": n > 0, "again": blocks > 1, "tail": n % self.block > 0}
        return base, {name: float(paid) for name, paid in shown.items()} | own_pages

    def blocks(self, n: int) -> int:
        """Returns the number of blocks of a message of n bytes, with its padding."""
        return -(-(n + self.padding) // self.block)

    def pages(self, n: int) -> int:
        """Returns the pages of a message of n bytes; a cipher's count twice, in and out."""
        return (2 if self.cipher else 1) * -(-n // PAGE)

    @property
    def bytes_of(self) -> dict[str, float]:
        """Returns how often one byte of a long message pays each term."""
        block = self.block or (PAGE if self.form == "storage" else math.inf)
        return {
            "byte": 1.0,
            "block": 1 / block,
            "page": self.pages(PAGE) / PAGE,
            "request": 1 / AFALG_REQUEST,
            "table": 1 / PAGE_TABLE,
        }
