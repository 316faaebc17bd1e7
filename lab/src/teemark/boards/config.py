# SPDX-License-Identifier: BSD-2-Clause
"""Board files: one TOML file a board, checked strictly.

A board named `x` is `boards/x.toml` in the checkout or in the user's own folder; a word with a
slash or ending in .toml is the path of such a file. `labgrid:PLACE` is a place of a labgrid farm;
a board file of the place's name says with which key, kit and directories.
"""

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

import msgspec
from msgspec import Meta, Struct

from teemark.base import paths
from teemark.base.checked import Wrong, parse_toml, read_text
from teemark.base.errors import ConfigError, UnknownBoard, meant

Text = Annotated[str, Meta(min_length=1)]
Port = Annotated[int, Meta(ge=1, le=65535)]
Seconds = Annotated[int, Meta(ge=1, le=3600)]

LABGRID = "labgrid:"
"""The prefix of an address that is a place of a labgrid farm."""

ARMV7 = "armv7"
"""Name of the system with a 32-bit kernel, which TF-A boots behind a 32-bit OP-TEE."""

RPI3 = "rpi3"
"""Name of the system that QEMU's Raspberry Pi 3 boots, instead of its machine `virt`."""

_OPTION = re.compile(r"[A-Z][A-Za-z0-9_]*=[^\s\"'`$;|&<>()]*")


class _AnyConfig(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, tag_field="kind"):
    directory: Text
    """The folder for our programs on the board; `~` is the home directory there."""
    ta_directory: Text | None = None
    """The folder where tee-supplicant looks for TAs; None: the supplicant's options tell."""
    description: str = ""
    rpmb: bool = False
    """Lets cases use an RPMB partition. They may program its key, which is possible only once."""

    def __post_init__(self) -> None:
        self._check_absolute("directory", "ta_directory", home="the home directory on the board")

    def _check_absolute(self, *keys: str, home: str) -> None:
        for key in keys:
            value = getattr(self, key)
            if value is not None and not value.startswith(("/", "~/")):
                hint = f"begin it with / or, for {home}, with ~/"
                raise Wrong(f"{value!r} is not absolute", hint, key)

    @property
    def kind(self) -> str:
        return str(self.__struct_config__.tag)


class SshConfig(_AnyConfig, frozen=True, kw_only=True, tag="ssh"):
    """A machine that runs already. A field without a value is left to the user's ssh config."""

    address: Text
    user: Text | None = None
    port: Port | None = None
    identity: Text | None = None
    directory: Text = "~/.teemark"
    ta_kit: Text | None = None
    """The TA development kit of the board's OP-TEE; None: that of the virtual board."""
    ta_key: Text | None = None
    """The file of the key that signs TAs; None: the kit's own key."""
    tas: Text | None = None
    """A folder of our TAs that a vendor signed; None: they are built with the kit."""
    sudo: bool = False
    """Run everything on the board under `sudo -n`; `~` stays the home directory of the user."""
    su: bool = False
    """Run everything on the board by `su -c`, without a password; `~` stays the user's home."""
    connect_timeout: Seconds = 10
    options: tuple[Text, ...] = ()
    """More `-o` options for ssh, such as "ProxyJump=gateway"."""

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.address.startswith("-"):
            raise Wrong(f"{self.address!r} is no address", key="address")
        if self.sudo and self.su:
            raise Wrong("sudo and su", "leave one of them out", "su")
        self._check_absolute("ta_kit", "ta_key", "tas", home="your home directory")
        if self.ta_key is not None and self.ta_kit is None:
            hint = "TAs are signed when they are built: name the kit, too"
            raise Wrong("a key without a kit", hint, "ta_key")


class VirtualConfig(_AnyConfig, frozen=True, kw_only=True, tag="virtual"):
    """A machine that QEMU emulates; it boots the images of build/vboard."""

    cores: Annotated[int, Meta(ge=1, le=8)] = 2
    memory: Annotated[int, Meta(ge=576, le=65536)] = 2048
    """Memory in MiB. TF-A for QEMU loads U-Boot 512 MiB above RAM's start (NS_IMAGE_OFFSET)."""
    cpu: Text = "cortex-a57"
    icount: bool = False
    """The guest's clock counts instructions, so that two boots measure the same."""
    devices: tuple[Literal["rng", "crypto"], ...] = ()
    kernel_args: tuple[Text, ...] = ()
    tee: bool = True
    """False: no secure world and no boot loader; QEMU starts the kernel itself."""
    system: Text = "debian"
    """The root file system that the board boots: `debian`, or one of vboard/systems (`old`, `musl`,
    `armhf`, `armv7`). With `rpi3` QEMU is a Raspberry Pi 3, whose cores and memory are
    fixed."""
    optee: Text = "debian"
    """The OP-TEE to boot. `debian`: Debian's binary package; `source`: a build of Debian's source
    package; otherwise a source tree, or the folder of a build: …/out/arm-plat-vexpress."""
    options: tuple[Text, ...] = ()
    """Build options for an OP-TEE from source, such as "CFG_CRYPTO_WITH_CE=y"."""
    patches: tuple[Text, ...] = ()
    """Patch files for OP-TEE's source, applied before it is built."""
    locked: bool = False
    """Our TAs are signed with a key unknown to its OP-TEE, as if a vendor kept the right key."""
    boot_timeout: Seconds = 120
    directory: Text = "/opt/teemark"

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.icount and self.cores != 1:
            hint = "instructions are counted on one core: set cores = 1, or icount = false"
            raise Wrong(f"{self.cores}, but icount needs 1", hint, "cores")
        if self.icount and "rng" in self.devices:
            hint = "leave rng out, or set icount = false"
            raise Wrong("rng brings the host's randomness into an icount board", hint, "devices")
        for key in ("options", "patches"):
            if getattr(self, key) and self.optee == "debian":
                hint = f'set optee = "source" or to a source tree, or leave {key} out'
                raise Wrong(f"OP-TEE's {key} need a build of it", hint, key)
        for option in self.options:
            if not _OPTION.fullmatch(option):
                hint = 'they look like "CFG_CRYPTO_WITH_CE=y"'
                raise Wrong(f"{option!r} is no option of OP-TEE's build", hint, "options")
            if self.system == RPI3 and option.startswith("CFG_SHMEM_"):
                hint = "leave it out: the Pi's device tree reserves 4 MiB (vboard/scripts/rpi3)"
                raise Wrong(f"with {option} Linux would use OP-TEE's memory", hint, "options")
        if self.optee not in ("debian", "source") and not self.optee.startswith(("/", "~/")):
            hint = "a folder's path begins with / or ~/"
            raise Wrong(f"{self.optee!r} is neither debian nor source nor a folder", hint, "optee")


Config = SshConfig | VirtualConfig


class Settings(Struct, frozen=True, forbid_unknown_fields=True):
    """The user's config.toml."""

    board: Text = "qemu-v8-icount"


@dataclass(frozen=True, slots=True)
class BoardFile:
    name: str
    path: Path
    config: Config


def parse(text: str, name: str) -> Config:
    """Returns the config in a board file's text; a ConfigError calls the file `name`."""
    config: Config = parse_toml(text, Config, name)
    return config


def read(path: Path) -> BoardFile:
    return BoardFile(path.stem, path, parse(read_text(path), str(path)))


def _files() -> dict[str, Path]:
    boards: dict[str, Path] = {}
    for directory in (paths.boards(), paths.user_config() / "boards"):
        if directory.is_dir():
            boards |= {path.stem: path for path in sorted(directory.glob("*.toml"))}
    return dict(sorted(boards.items()))


def available() -> dict[str, BoardFile | ConfigError]:
    """Returns all boards by name; a wrong board file has its ConfigError as the value."""
    boards: dict[str, BoardFile | ConfigError] = {}
    for name, path in _files().items():
        try:
            boards[name] = read(path)
        except ConfigError as error:
            boards[name] = error
    return boards


def default_board(suited: str | None = None) -> str:
    """Returns the board that `teemark run` takes: the one that `board = "NAME"` in the user's
    config.toml names, or else `suited`, a plan's own virtual board, if its system is built; or else
    the one that counts instructions.

    Raises ConfigError if that file is wrong, and UnknownBoard if there is no such board.
    """
    file = paths.user_config() / "config.toml"
    if not file.exists():
        recipe = find(suited).config if suited else None
        built = (
            isinstance(recipe, VirtualConfig)
            and (paths.systems() / recipe.system / "ready").is_file()
        )
        return suited if suited and built else Settings().board
    settings: Settings = parse_toml(read_text(file), Settings, str(file))
    try:
        find(settings.board)
    except UnknownBoard as error:
        raise UnknownBoard(f"{file}: board: {error.message}", hint=error.hint) from None
    return settings.board


def _place(word: str) -> BoardFile:
    name, files = re.sub(r"[^\w.-]", "-", word.removeprefix(LABGRID)), _files()
    base = read(files[name]).config if name in files else None
    config = base if isinstance(base, SshConfig) else SshConfig(address=word)
    return BoardFile(name, Path(word), msgspec.structs.replace(config, address=word))


def find(word: str) -> BoardFile:
    """Returns the board that a word on the command line names; raises UnknownBoard if none."""
    if word.startswith(LABGRID):
        return _place(word)
    if "/" in word or word.endswith(".toml"):
        path = Path(word)
        if not path.is_file():
            raise UnknownBoard(
                f"there is no board file {word}", hint="see `teemark board list` for names"
            )
        return read(path)
    files = _files()
    if word not in files:
        hint = f"there are: {', '.join(files)}; your own go into {paths.user_config()}/boards"
        raise UnknownBoard(f"there is no board named {word}", hint=meant(word, files) + hint)
    return read(files[word])
