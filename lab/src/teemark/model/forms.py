# SPDX-License-Identifier: BSD-2-Clause
"""How often each size of a call pays each term, form by form (base/work.py).

| form | always | where it shows |
|---|---|---|
| message, by a digest or MAC | call, block | feed, again, tail; page |
| message, by a cipher | call (its setup), block | page (in and out), request |
| message, else | call, byte | page |
| buffer | call, page | byte (copied), table |
| storage | call | rpc, block (of the file system), byte |
| command of any TA | call, byte | feed; page |

feed: there is a message at all. again: the block function is started a second time. tail: bytes
that don't fill a block are kept until the end. request: AF_ALG takes 64 KiB at a time. table: for
each whole 2 MiB of a buffer the TEE fills another page table, and the kernel may find that memory
in one piece: it costs or saves. In the TEE `page` can't be told from `block`: it is
measured apart (by the TA's counter, or by calls that only carry a buffer) or left out.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from teemark.base import work
from teemark.base.work import Work
from teemark.model.fit import Columns
from teemark.run.records import Algorithm

PAGE = 4096
AFALG_REQUEST = 16 * PAGE  # A send() to an AF_ALG socket takes no more
PAGE_TABLE = 512 * PAGE  # What one page table maps

AFALG = "afalg"
"""The backend that asks the kernel through AF_ALG, with or without the name of a driver."""


@dataclass(frozen=True, slots=True)
class Blocks:
    """A message of n bytes is (n + padding) / bytes of them, rounded up."""

    bytes: int
    padding: int

    def of(self, n: int) -> int:
        return -(-(n + self.padding) // self.bytes)


def blocks_of(algorithm: Algorithm) -> Blocks | None:
    """Returns None for an algorithm that isn't done in blocks, or isn't known."""
    size = algorithm.block_bytes
    return Blocks(size, algorithm.pad_bytes or 0) if size else None


@dataclass(frozen=True, slots=True)
class Form:
    """The terms of the cases that differ in their size alone."""

    form: work.Form
    blocks: Blocks | None = None
    cipher: bool = False  # Messages go in and out
    by_kernel: bool = False  # Asked through AF_ALG, whichever driver
    in_tee: bool = False
    mapped: bool = False  # A call maps the pages of its message in the TEE

    @classmethod
    def of(cls, case: Work, algorithm: Algorithm, *, in_tee: bool) -> "Form":
        """Returns the form of a case; a command has no blocks, whatever its name."""
        row = case.row
        blocks = blocks_of(algorithm) if row.form == "message" else None
        return cls(
            row.form,
            blocks,
            blocks is not None and algorithm.encrypts,
            case.by == AFALG and not in_tee,
            in_tee,
            row.mapped and in_tee,
        )

    def columns(
        self, sizes: Sequence[int], rpcs: Sequence[float | None]
    ) -> tuple[Columns, Columns]:
        """Returns the rows of all sizes as columns."""
        rows = [self.row(n, calls) for n, calls in zip(sizes, rpcs, strict=True)]
        base, candidates = (
            {name: [row[name] for row in part] for name in part[0] if all(name in r for r in part)}
            for part in zip(*rows, strict=True)
        )
        return base, candidates

    def row(self, n: int, rpcs: float | None = None) -> tuple[dict[str, float], dict[str, float]]:
        """Returns how often a case of n bytes, with so many RPCs if that is known, pays each term:
        those that are always there, and candidates."""
        blocks, pages = self.blocks, float(self.pages(n))
        call = {"call": 1.0}
        own_pages = {"page": pages} if self.by_kernel else {}
        if self.form == "buffer":
            return {**call, "page": pages}, {"byte": float(n), "table": float(tables_of(n))}
        if self.form == "storage":
            # The TEE writes a head before the data: it never ends with a block.
            found = {"block": n // PAGE + 1.0 if self.in_tee else pages, "byte": float(n)}
            return call, found | ({"rpc": rpcs} if rpcs is not None else {})
        if self.form == "command":
            return {**call, "byte": float(n)}, {"feed": float(n > 0), "page": pages}
        if blocks is None:
            return {**call, "byte": float(n)}, own_pages
        base = {**call, "block": float(blocks.of(n))}
        if self.cipher:
            requests = {"request": float(-(-n // AFALG_REQUEST))} if self.by_kernel else {}
            return base, own_pages | requests
        shown = {"feed": n > 0, "again": blocks.of(n) > 1, "tail": n % blocks.bytes > 0}
        return base, {name: float(there) for name, there in shown.items()} | own_pages

    def pages(self, n: int) -> int:
        """Returns the pages of a message of n bytes; a cipher's goes in and out."""
        return (2 if self.cipher else 1) * -(-n // PAGE)

    @property
    def bytes_of(self) -> dict[str, float]:
        """Returns how much of each term a byte of a long message pays."""
        block = 1 / PAGE if self.form == "storage" else 0.0
        return {
            "byte": 1.0,
            "block": 1 / self.blocks.bytes if self.blocks else block,
            "page": self.pages(PAGE) / PAGE,
            "request": 1 / AFALG_REQUEST,
            "table": 1 / PAGE_TABLE,
        }


def tables_of(n: int) -> int:
    """Returns how many page tables `n` bytes fill."""
    return n // PAGE_TABLE
