# SPDX-License-Identifier: BSD-2-Clause
"""Facts of the machine, as it told them."""

from __future__ import annotations

from collections.abc import Sequence

from teemark.report.blocks import Section
from teemark.report.subject import Subject


def machine(subjects: Sequence[Subject]) -> Section | None:
    del subjects
    return None
