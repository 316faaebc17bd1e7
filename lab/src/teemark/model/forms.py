# SPDX-License-Identifier: BSD-2-Clause
"""What a call is made of, family by family: how often each size pays each term.

| family | always | where it shows |
|---|---|---|
| digests, HMACs | call, block | feed, again, tail; page |
| ciphers | call (its setup), block | page (in and out), request |
| shm | call, page | byte (copied), table |
| storage | call | rpc, block (of the file system), byte |
| commands of any TA | call, byte | feed; page |
| else | call, byte | page |

feed: there is a message at all. again: the block function is started a second time. tail: bytes
that don't fill a block are kept until the end. request: AF_ALG takes 64 KiB at a time. table: for
each whole 2 MiB of a buffer the TEE fills another page table, and the kernel may find that memory
in one piece: it costs or saves. In the TEE `page` can't be told from `block`: it is
measured apart (by the TA's counter, or by the `shm` workload) or left out.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from teemark.model.fit import Columns
from teemark.run.records import Case

PAGE = 4096
AFALG_REQUEST = 16 * PAGE
"""A send() to an AF_ALG socket takes no more."""

PAGE_TABLE = 512 * PAGE
"""What one page table maps."""

CIPHER_BLOCK = 16

_MERKLE = {"sha1": 64, "sha224": 64, "sha256": 64, "sm3": 64, "sha384": 128, "sha512": 128}


@dataclass(frozen=True, slots=True)
class Blocks:
    """An algorithm's: a message of n bytes is (n + padding) / bytes of them, rounded up."""

    bytes: int
    padding: int

    def of(self, n: int) -> int:
        return -(-(n + self.padding) // self.bytes)


def blocks_of(algorithm: str) -> Blocks | None:
    """None for what isn't done in blocks, or isn't known here."""
    name = algorithm.removeprefix("hmac-")
    if name in _MERKLE:
        size = _MERKLE[name]
        return Blocks(size, 1 + size // 8)  # a bit, and the length in an eighth of a block
    if name.startswith("sha3-"):
        return Blocks(200 - int(name.removeprefix("sha3-")) // 4, 1)  # its rate
    if name.startswith("aes-"):
        return Blocks(CIPHER_BLOCK, 0)
    return None


@dataclass(frozen=True, slots=True)
class Form:
    """The terms of one family."""

    workload: str
    algorithm: str
    backend: str
    in_tee: bool

    @property
    def blocks(self) -> Blocks | None:
        """None for a command, whatever its name."""
        return None if self.workload == "call" else blocks_of(self.algorithm)

    def columns(
        self, sizes: Sequence[int], rpcs: Sequence[float | None]
    ) -> tuple[Columns, Columns]:
        """What is always there, and candidates."""
        ones = [1.0] * len(sizes)
        blocks = self.blocks
        pages = [float(self.pages(n)) for n in sizes]
        own_pages = {"page": pages} if self.by_kernel else {}
        match self.workload:
            case "shm":
                return {"call": ones, "page": pages}, {
                    "byte": [float(n) for n in sizes],
                    "table": [float(tables_of(n)) for n in sizes],
                }
            case "storage":
                found: dict[str, Sequence[float]] = {
                    # The TEE writes a head before the data: it never ends with a block.
                    "block": [n // PAGE + 1.0 for n in sizes] if self.in_tee else pages,
                    "byte": [float(n) for n in sizes],
                }
                if all(count is not None for count in rpcs):
                    found["rpc"] = [float(count or 0) for count in rpcs]
                return {"call": ones}, found
            case "call":
                fed = [float(n > 0) for n in sizes]
                return {"call": ones, "byte": [float(n) for n in sizes]}, {
                    "feed": fed,
                    "page": pages,
                }
            case _ if blocks is None:
                return {"call": ones, "byte": [float(n) for n in sizes]}, own_pages
            case _:
                pass
        base = {"call": ones, "block": [float(blocks.of(n)) for n in sizes]}
        if self.algorithm.startswith("aes-"):
            requests = {"request": [float(-(-n // AFALG_REQUEST)) for n in sizes]}
            return base, own_pages | (requests if self.by_kernel else {})
        return base, {
            "feed": [float(n > 0) for n in sizes],
            "again": [float(blocks.of(n) > 1) for n in sizes],
            "tail": [float(n % blocks.bytes > 0) for n in sizes],
            **own_pages,
        }

    @property
    def by_kernel(self) -> bool:
        """Asked through AF_ALG, whichever driver."""
        return self.backend.partition(":")[0] == "afalg" and not self.in_tee

    def pages(self, n: int) -> int:
        """Of shared memory that a message of n bytes takes; a cipher's goes in and out."""
        ways = 2 if self.algorithm.startswith("aes-") and self.workload != "call" else 1
        return ways * -(-n // PAGE)

    @property
    def bytes_of(self) -> dict[str, float]:
        """How much of each term a byte of a long message pays."""
        blocks = self.blocks
        page = self.pages(PAGE) / PAGE
        block = 1 / PAGE if self.workload == "storage" else 1 / blocks.bytes if blocks else 0.0
        return {
            "byte": 1.0,
            "block": block,
            "page": page,
            "request": 1 / AFALG_REQUEST,
            "table": 1 / PAGE_TABLE,
        }


def tables_of(n: int) -> int:
    """Page tables that so many bytes fill."""
    return n // PAGE_TABLE


def family(case: Case) -> tuple[str, int] | None:
    """What a case is but for its size, and its size: `oneshot`, or `cipher enc` for
    `cipher/…/enc/4096`. None where the key doesn't end with the size."""
    *words, last = case.parameters.split("/")
    if case.bytes is None or last != str(case.bytes):
        return None
    return family_name(case.workload, words), case.bytes


def family_name(workload: str, words: Iterable[str]) -> str:
    return " ".join((workload, *words))
