# SPDX-License-Identifier: BSD-2-Clause
"""The finding on the stack and heap of one's own TA: on both sides of its threshold, and without
its data."""

import pytest

from synthetic import Synthetic, run_from
from teemark.base.finding import Finding
from teemark.findings.call import stack_and_heap
from teemark.findings.ground import Ground


def found(memory: dict[str, int] | None) -> Finding | None:
    records = Synthetic().records()
    records[0] |= {"ta_memory": memory}
    return stack_and_heap(Ground.of(run_from(records)))


@pytest.mark.parametrize(("stack", "severity"), [(3686, "note"), (3687, "caution")])
def test_little_that_is_left_of_a_stack_is_a_caution(stack: int, severity: str) -> None:
    finding = found({"stack": stack, "stack_size": 4096, "heap": 1000, "heap_size": 32768})
    assert finding is not None
    assert finding.severity == severity
    assert ("is left" in finding.claim, "TA_STACK_SIZE" in finding.remedy) == (
        (severity == "caution"),
        (severity == "caution"),
    )
    assert "of stack, and 1" in finding.claim


def test_a_heap_that_is_not_known_is_not_told_and_a_run_without_a_ta_has_no_such_finding() -> None:
    finding = found({"stack": 576, "stack_size": 4096})
    assert finding is not None
    assert finding.claim.endswith("bytes of stack.")
    assert found(None) is None
    assert stack_and_heap(Ground.of(run_from(Synthetic().records()))) is None
