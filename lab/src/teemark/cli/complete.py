# SPDX-License-Identifier: BSD-2-Clause
"""A shell completes words to names of boards and plans."""

from __future__ import annotations

import click


def boards(_ctx: click.Context, _param: click.Parameter, incomplete: str) -> list[str]:
    from teemark.boards import config

    return [name for name in config.available() if name.startswith(incomplete)]


def plans(_ctx: click.Context, _param: click.Parameter, incomplete: str) -> list[str]:
    from teemark.plan import plan

    return [name for name in plan.available() if name.startswith(incomplete)]
