# SPDX-License-Identifier: BSD-2-Clause
"""teemark vboard install"""

import shutil

import click

from teemark.base import paths
from teemark.base.console import say
from teemark.base.errors import MissingOutput
from teemark.boards import build
from teemark.cli.common import option, subcommand


@click.group("vboard")
def command() -> None:
    """Bring the virtual board to this machine."""


@subcommand("install", command)
def install(
    packages: bool = option(
        "--packages", "Install this machine's packages that are missing (sudo)."
    ),
) -> None:
    """Build the virtual board from Debian's packages: 130 MB, two minutes.

    In a checkout it goes to build/, elsewhere to the user's cache folder. Nothing else on this
    machine is changed, but for missing packages with --packages.
    """
    if shutil.which("apt-get") is None:
        raise MissingOutput(
            "the virtual board is made of Debian's packages, and there is no apt-get here",
            hint="use a board over ssh (teemark board list), or run teemark in a Debian container",
        )
    check = [str(paths.root() / "mk" / "install-packages")]
    check += [] if packages else ["--check"]
    build.step(
        [*check, str(paths.root() / "mk" / "system-packages.txt")],
        "packages that the virtual board needs are missing",
        (),
    )
    into = paths.build()
    into.mkdir(parents=True, exist_ok=True)
    argv = ["make", "--no-print-directory", "-C", str(paths.root()), "board", "DEPS="]
    with build.alone(into):
        build.step([*argv, f"BUILD={into}"], "the virtual board can't be built", ("make",))
    say(f"the virtual board is in {into}; try: teemark run --plan quick")
