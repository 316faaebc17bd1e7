# SPDX-License-Identifier: BSD-2-Clause
"""Measures the memory of the TEE that calls and sessions take. The TEE counts it: teebench asks the
statistics pseudo TA (host/src/teebench/memory.h)."""

from collections.abc import Sequence
from itertools import groupby

import msgspec
from msgspec.structs import replace

from teemark.base.errors import BoardError
from teemark.boards import answers
from teemark.boards.board import Board
from teemark.plan.file import CaseLine, case_lines

LIMIT_S = 1800.0
"""Time limit of filling the TEE with sessions: on a board that counts instructions, 50 sessions of
a TA take a minute and a half."""


class MemoryPool(msgspec.Struct, frozen=True):
    """One of the TEE's pools of memory; all figures but `refused` are bytes."""

    name: str
    now: int
    most: int  # since the step before
    size: int
    refused: int  # requests that failed since the step before
    largest_refused: int


class MemoryStep(msgspec.Struct, frozen=True):
    """The pools after one step, of a case or of the sessions with a TA."""

    about: str
    step: str
    pools: tuple[MemoryPool, ...] = ()
    unknown: str | None = None  # why there are no pools
    sessions: int | None = None
    result: int = 0
    reason: str | None = None
    hint: str | None = None

    def pool(self, name: str) -> MemoryPool | None:
        return next((pool for pool in self.pools if pool.name == name), None)


class MemoryUse(msgspec.Struct, frozen=True):
    """The steps of one case, or of the sessions with one TA."""

    about: str
    steps: tuple[MemoryStep, ...]

    def step(self, name: str) -> MemoryStep | None:
        return next((step for step in self.steps if step.step == name), None)

    @property
    def pools(self) -> tuple[str, ...]:
        return tuple(pool.name for pool in self.steps[0].pools)

    @property
    def failure(self) -> str | None:
        """Returns why the case can't run, or why no session can be opened; None if it can."""
        failed = self.step("failed")
        return None if failed is None else failed.reason or "it failed"

    def more(self, step: str, pool: str, *, since: str = "before") -> int | None:
        """Returns how many bytes of a pool are in use after a step beyond those in use after the
        step `since`; None if it isn't known."""
        pools = [found and found.pool(pool) for found in (self.step(since), self.step(step))]
        return None if None in pools else pools[1].now - pools[0].now  # type: ignore[union-attr]

    def most(self, pool: str) -> int | None:
        """Returns the most bytes of a pool in use in any step, beyond those in use before."""
        found = [state for step in self.steps if (state := step.pool(pool)) is not None]
        return max(state.most for state in found[1:]) - found[0].now if found[1:] else None

    @property
    def sessions(self) -> int | None:
        full = self.step("full")
        return full.sessions if full is not None else None

    @property
    def exhausted(self) -> tuple[MemoryPool, ...]:
        """Returns the pools that refused a request when no further session could be opened."""
        full = self.step("full")
        return tuple(pool for pool in full.pools if pool.refused) if full is not None else ()


def of_cases(board: Board, cases: Sequence[CaseLine]) -> list[MemoryUse]:
    """Runs each case alone on an open board that is set up."""
    allowed = ["--allow-rpmb"] if board.config.rpmb else []
    lines = case_lines(cases).encode()
    return _ask(board, ["teebench", *allowed, "--memory", "--cases", "-"], lines)


def of_sessions(board: Board, uuids: Sequence[str]) -> list[MemoryUse]:
    """Opens sessions with each TA until the TEE refuses, then closes them."""
    return _ask(board, ["teebench", "--fit", *uuids], b"") if uuids else []


def now(board: Board, step: str) -> MemoryStep:
    """Returns the TEE's pools now, as this step; from then on their most begins anew."""
    try:
        (use,) = _ask(board, ["sh", "-c", "teebench --fit"], b"")
    except BoardError as error:  # the board has no teebench, or an older one
        return MemoryStep("all", step, unknown=error.message)
    return replace(use.steps[0], step=step)


def _ask(board: Board, argv: list[str], lines: bytes) -> list[MemoryUse]:
    done = board.capture(argv, stdin=lines, check=False, timeout=LIMIT_S)
    about = "the TEE's memory"
    steps = [
        answers.typed(board.name, about, answers.from_json(board.name, about, line), MemoryStep)
        for line in done.stdout.splitlines()
    ]
    if done.status not in (0, 1) or not steps:
        raise BoardError(f"{board.name}: {answers.last_line(done.complaint)}")
    groups = groupby(steps, key=lambda step: step.about)
    return [MemoryUse(about, tuple(group)) for about, group in groups]
