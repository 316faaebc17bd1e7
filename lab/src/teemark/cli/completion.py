# SPDX-License-Identifier: BSD-2-Clause
"""teemark completion SHELL"""

from __future__ import annotations

import click
from click.shell_completion import get_completion_class


@click.command("completion")
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
@click.pass_context
def command(ctx: click.Context, shell: str) -> None:
    """Print what makes a shell complete teemark's subcommands, options, boards, plans
    and published documents.

    bash: eval "$(teemark completion bash)". zsh likewise. fish: teemark completion fish | source.
    """
    kind = get_completion_class(shell)
    assert kind is not None
    click.echo(kind(ctx.find_root().command, {}, "teemark", "_TEEMARK_COMPLETE").source())
