# SPDX-License-Identifier: BSD-2-Clause
"""One file a subcommand; the table is in teemark/cli.py."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from teemark.model.compare import Limit


def parse_limit(text: str) -> Limit:
    """`5%` or `1000i`; UsageMistake for anything else."""
    from teemark.errors import UsageMistake
    from teemark.model.compare import Limit

    match = re.fullmatch(r"(\d+(?:\.\d+)?)(%|i)", text.strip())
    if match is None:
        raise UsageMistake(
            f"--fail-on {text} is no limit", hint="a share such as 5%, or instructions: 1000i"
        )
    number = float(match[1])
    return Limit(share=number / 100) if match[2] == "%" else Limit(instructions=number)
