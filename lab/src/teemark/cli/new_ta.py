# SPDX-License-Identifier: BSD-2-Clause
"""`teemark new-ta`: a folder with a Trusted Application that can be measured."""

from pathlib import Path

from teemark.base.console import say
from teemark.boards import new_ta
from teemark.cli.common import PATH, argument, subcommand


@subcommand("new-ta")
def command(name: Path = argument(type=PATH)) -> int:
    """Make a folder NAME with a Trusted Application, its client and its benchmark.

    The folder has the form of optee_examples and builds with any development kit of OP-TEE's.
    `teemark run --ta NAME` measures what its bench.toml says.
    """
    uuid = new_ta.make(name)
    say(f"made {name}: TA {uuid}")
    say(f"its commands are in {name / 'ta' / 'entry.c'}, what is measured in {name / 'bench.toml'}")
    say(f"next: teemark run --ta {name}")
    return 0
