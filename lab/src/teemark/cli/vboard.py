# SPDX-License-Identifier: BSD-2-Clause
"""teemark vboard install, image"""

import json
import shutil
from pathlib import Path

import click

from teemark.base import paths
from teemark.base.console import say, working
from teemark.base.errors import MissingOutput, UsageMistake
from teemark.base.files import write_whole
from teemark.boards import VirtualConfig, build, config, optee
from teemark.cli.common import FILE, OUTPUT, TREE, argument, board_option, option, subcommand


@click.group("vboard")
def command() -> None:
    """Build the virtual board on this machine, or an SD card's image for a real board."""


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
    say(f"downloads 130 MB, builds the virtual board in {into}: about two minutes on a PC")
    with build.alone(into), working("building the virtual board …"):
        build.step([*argv, f"BUILD={into}"], "the virtual board can't be built", ("make",))
    say(f"the virtual board is in {into}; try: teemark run --plan quick")


@subcommand("image", command)
def image(
    *,
    model: str = argument(type=click.Choice([config.RPI3])),
    output: Path = option("-o --output FILE", "The image.", kind=OUTPUT, required=True),
    key: Path | None = option(
        "--key FILE.pub",
        "Public ssh key of whom the board lets in as root. [default: ~/.ssh/id_ed25519.pub]",
        kind=FILE,
    ),
    firmware: Path | None = option(
        "--firmware FOLDER",
        "Folder with the Pi's own firmware: bootcode.bin, start.elf and fixup.dat.",
        kind=TREE,
    ),
    non_free_firmware: bool = option(
        "--non-free-firmware",
        "Take that firmware from Debian's package raspi-firmware, which is not free software.",
    ),
    board: str = board_option("qemu-rpi3", "The virtual board whose OP-TEE the card gets."),
) -> None:
    """Make a card image that a Raspberry Pi 3 boots: TF-A, OP-TEE, Debian's kernel, teehash and
    teebench.

    It is written to FILE, and a board file beside it. docs/raspberry-pi.md says how to go on.
    """
    if firmware is not None and non_free_firmware:
        raise UsageMistake("--firmware and --non-free-firmware", hint="name one of them")
    key = key or Path.home() / ".ssh" / "id_ed25519.pub"
    if not key.is_file():
        raise UsageMistake(f"there is no {key}", hint="name one by --key; ssh-keygen makes one")
    if not key.read_bytes().startswith((b"ssh-", b"ecdsa-", b"sk-")):
        hint = "name the file that ends in .pub; ssh-keygen makes one"
        raise UsageMistake(f"{key} is no public key for ssh", hint=hint)
    recipe = config.find(board).config
    if not isinstance(recipe, VirtualConfig) or recipe.system != model:
        raise UsageMistake(f"{board} is no virtual {model}", hint="its file has to say so: system")
    tee = optee.resolve(recipe)
    programs = paths.built_programs("aarch64")
    argv = [str(paths.root() / "vboard" / "scripts" / "card"), str(output.absolute()), str(key)]
    argv += [str(tee.flash), str(programs), str(tee.kit.ours())]
    argv += ["debian"] if non_free_firmware else [str(firmware)] if firmware else []
    with build.alone(paths.systems() / model):
        build.step(["env", f"BUILD={paths.build()}", *argv], "the card can't be made")
    beside = output.with_suffix(".toml")
    if beside.exists():  # Its owner may have changed the address
        say(f"{beside} stays as it is; the card's TAs are built with ta_kit = {tee.kit.folder}")
    else:
        write_whole(beside, _board_file(tee, key.absolute().with_suffix("")))
    say(f"{output} is for the card; teemark run --board {beside} measures the board")
    if not argv[6:]:
        say("bootcode.bin, start.elf and fixup.dat, without which no Pi starts, aren't on it")


def _board_file(tee: optee.Optee, identity: Path) -> str:
    words = {
        "kind": "ssh",
        "description": f"Raspberry Pi 3 with {tee.what}",
        "address": "teemark-pi3",
        "user": "root",
        "identity": str(identity),
        "directory": "/opt/teemark",
        "ta_kit": str(tee.kit.folder),
    }
    lines = [f"{name} = {json.dumps(word)}\n" for name, word in words.items()]
    return "".join(
        ("# The address: this name, or the one that the board's console shows.\n", *lines)
    )
