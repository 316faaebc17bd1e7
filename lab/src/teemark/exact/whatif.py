# SPDX-License-Identifier: BSD-2-Clause
"""Compares cases on different builds of OP-TEE: what each option costs or saves. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass

from teemark.page.blocks import Block, Bullets, Paragraph, Table, Text, left, right
from teemark.trace.difference import FunctionChange, changes, held_grew, in_words
from teemark.trace.profile import Trace
from teemark.wording import fmt

FUNCTIONS = 4  # Functions shown per variant and case

CASES = (
    "invoke/none/tee/none",
    "session/open/tee/none",
    "oneshot/sha256/tee/4096",
    "sign/ecdsa-p256/tee/none",
)
"""The calls that the catalogue is priced by, unless others are named."""

CATALOGUE = {
    "CFG_CORE_ASLR=n": "the core at a known address",
    "CFG_TA_ASLR=n": "TAs at known addresses",
    "CFG_CORE_STACK_PROTECTOR_STRONG=n": "no stack protector",  # =y is the default
    "CFG_TA_STACK_PROTECTOR_STRONG=n": "no stack protector in TAs",
    "CFG_WITH_STACK_CANARIES=n": "no check of the core's stacks for overflows",
    "CFG_FAULT_MITIGATION=n": "no double checks against injected faults",
    "CFG_CORE_WORKAROUND_SPECTRE_BP=n": "no workaround for branch target injection",
    "CFG_TEE_CORE_DEBUG=n": "no assertions and lock checks in the core",
    "CFG_CORE_SANITIZE_UNDEFINED=y": "",
    "CFG_LOCKDEP=y": "",
    "CFG_WITH_PAGER=y": "",
    "CFG_WITH_STATS=n": "no statistics of heaps",
    "CFG_CRYPTO_WITH_CE=y": "runs only where the CPU has crypto instructions",
    "CFG_CC_OPT_LEVEL=2": "a larger core",
    "CFG_CORE_UNSAFE_MODEXP=y": "private exponents leak by time",
}
"""Options of OP-TEE's build that differ from its defaults, each with what it gives up; "" if it
gives up nothing but time."""

# Prefixes of further options that weaken security, each with the protection that is lost.
_WEAKENS = (
    ("CFG_CORE_STACK_PROTECTOR", "no stack protector"),
    ("CFG_TA_STACK_PROTECTOR", "no stack protector in TAs"),
    ("CFG_CORE_BTI=n", "no branch target checks"),
    ("CFG_TA_BTI=n", "no branch target checks in TAs"),
    ("CFG_CORE_PAUTH=n", "no signed return addresses"),
    ("CFG_TA_PAUTH=n", "no signed return addresses in TAs"),
    ("CFG_CORE_RWDATA_NOEXEC=n", "data can be executed"),
    ("CFG_CORE_RODATA_NOEXEC=n", "constants can be executed"),
    ("CFG_CORE_WORKAROUND_", "no workaround for a fault of CPUs"),
)


def gives_up(option: str) -> str:
    """Returns in words what the option gives up; an empty string if nothing is known."""
    if option in CATALOGUE or not option.endswith("=n"):
        return CATALOGUE.get(option, "")
    return next((word for beginning, word in _WEAKENS if option.startswith(beginning)), "")


@dataclass(frozen=True, slots=True)
class Variant:
    options: tuple[str, ...]  # options added to the baseline's; () for the baseline
    trace: Trace

    @property
    def name(self) -> str:
        return " ".join(self.options) or "as it is"


@dataclass(frozen=True, slots=True)
class Cell:
    """One case on one build of OP-TEE, compared with the baseline."""

    before: int  # Instructions on the baseline
    instructions: int
    changed: tuple[FunctionChange, ...]
    held: tuple[int, int]  # longest stretch with interrupts held off, before and now; 0: unknown

    @property
    def share(self) -> float:
        """Returns the difference as a share of the baseline's instructions."""
        return (self.instructions - self.before) / self.before


def plan_variants(options: Sequence[str], *, alone: bool) -> tuple[tuple[str, ...], ...]:
    """Returns the sets of options to build: no option, each option alone, and, unless each stands
    `alone`, all together."""
    joint = [] if alone else [tuple(options)]
    return tuple(dict.fromkeys(((), *((option,) for option in options), *joint)))


def compare(baseline: Trace, new: Trace, case: str) -> Cell | None:
    """Returns the comparison of two traces of a case; None if one of them lacks it."""
    before, after = baseline.case(case), new.case(case)
    if before is None or after is None:
        return None
    held = before.longest_held, after.longest_held
    return Cell(before.instructions, after.instructions, tuple(changes(before, after)), held)


def held_in_words(cell: Cell) -> str:
    """Returns the longest stretch with interrupts held off, before and now; "" if unknown."""
    return " → ".join(map(fmt.count, dict.fromkeys(cell.held))) if all(cell.held) else ""


def data(variants: Sequence[Variant]) -> list[dict[str, object]]:
    """Returns the JSON of the variants; the first is the baseline."""
    base = variants[0].trace
    return [
        {
            "options": variant.options,
            "optee": variant.trace.optee,
            "gives_up": list(filter(None, map(gives_up, variant.options))),
            "cases": {case.case: compare(base, variant.trace, case.case) for case in base.cases},
        }
        for variant in variants
    ]


def blocks(variants: Sequence[Variant]) -> list[Block]:
    """Returns a table with a row per variant (the first is the baseline), and the functions behind
    each difference."""
    baseline = variants[0]
    cases = [case.case for case in baseline.trace.cases]
    rows: list[tuple[str, ...]] = []
    changed: list[Text] = []
    for variant in variants:
        row = [variant.name]
        for case in cases:
            cell = compare(baseline.trace, variant.trace, case)
            if cell is None or variant is baseline:
                row.append(fmt.count(cell.instructions) if cell is not None else fmt.NONE)
                continue
            row.append(f"{fmt.count(cell.instructions)}, {fmt.signed(cell.share, 3)}")
            if cell.changed:
                changed.append((f"{variant.name}, {case}: {in_words(cell.changed, FUNCTIONS)}",))
            if held_grew(*cell.held) or held_grew(*cell.held[::-1]):
                words = "interrupts are held off for up to "
                changed.append((f"{variant.name}, {case}: {words}{held_in_words(cell)}",))
        lost = "; ".join(filter(None, map(gives_up, variant.options)))
        rows.append((*row, lost))
    heads = (*left("OP-TEE"), *right(*cases), *left("gives up", optional=True))
    return [
        Paragraph((f"{baseline.trace.optee}, instructions of a call",)),
        Table(heads, rows),
        Bullets(tuple(changed)),
        Paragraph(("Instructions, not cycles: caches and pipelines aren't in it.",)),
    ]
