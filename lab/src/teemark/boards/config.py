# SPDX-License-Identifier: BSD-2-Clause
"""Board files: one TOML file a board, checked strictly.

A board named `x` is `boards/x.toml` in the checkout or in the user's own folder; a word with a
slash or ending in .toml is the path of such a file.
"""

from __future__ import annotations

import difflib
import re
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

import msgspec

from teemark import paths
from teemark.errors import ConfigError, UnknownBoard

Text = Annotated[str, msgspec.Meta(min_length=1)]
Port = Annotated[int, msgspec.Meta(ge=1, le=65535)]
Seconds = Annotated[int, msgspec.Meta(ge=1, le=3600)]
Device = Literal["rng", "crypto"]


class SshConfig(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A machine that is there already. What is left out is left to the user's ssh config."""

    kind: Literal["ssh"]
    address: Text
    user: Text | None = None
    port: Port | None = None
    identity: Text | None = None
    directory: Text = "~/.teemark"
    """Where our programs are put; `~` is the home directory on the board."""
    ta_directory: Text = "/lib/optee_armtz"
    sudo: bool = False
    """Run everything on the board under `sudo -n`; `~` stays the home directory of the user."""
    rpmb: bool = False
    """Cases may use an RPMB partition, whose key that can program, once and for good."""
    connect_timeout: Seconds = 10
    options: tuple[Text, ...] = ()
    """More `-o` options for ssh, such as "ProxyJump=gateway"."""
    description: str = ""


class VirtualConfig(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A machine that QEMU plays, from the images of build/vboard."""

    kind: Literal["virtual"]
    cores: Annotated[int, msgspec.Meta(ge=1, le=8)] = 2
    memory: Annotated[int, msgspec.Meta(ge=512, le=65536)] = 2048
    """MiB."""
    cpu: Text = "cortex-a57"
    icount: bool = False
    """Guest time is counted in instructions, so that two boots measure the same."""
    devices: tuple[Device, ...] = ()
    kernel_args: tuple[Text, ...] = ()
    rpmb: bool = False
    boot_timeout: Seconds = 120
    ta_directory: Text = "/lib/optee_armtz"
    directory: Text = "/opt/teemark"
    description: str = ""


Config = SshConfig | VirtualConfig

KINDS: dict[str, type[SshConfig] | type[VirtualConfig]] = {
    "ssh": SshConfig,
    "virtual": VirtualConfig,
}


@dataclass(frozen=True, slots=True)
class BoardFile:
    name: str
    path: Path
    config: Config


def _keys(kind: type[msgspec.Struct]) -> list[str]:
    return list(kind.__struct_fields__)


def _unknown_key_hint(key: str, known: list[str]) -> str:
    close = difflib.get_close_matches(key, known, n=1)
    return f"did you mean `{close[0]}`?" if close else f"the keys are: {', '.join(known)}"


def _check_rules(name: str, config: Config) -> None:
    """What types alone don't say."""
    if isinstance(config, VirtualConfig):
        if config.icount and config.cores != 1:
            raise ConfigError(
                f"{name}: key `cores`: {config.cores}, but icount needs 1",
                hint="instructions are counted on one core: set cores = 1, or icount = false",
            )
        if config.icount and "rng" in config.devices:
            raise ConfigError(
                f"{name}: key `devices`: rng brings the host's randomness into an icount board",
                hint="leave rng out, or set icount = false",
            )
    elif config.address.startswith("-"):
        raise ConfigError(f"{name}: key `address`: {config.address!r} is no address")
    for key in ("directory", "ta_directory"):
        value = getattr(config, key)
        if not value.startswith(("/", "~/")):
            raise ConfigError(
                f"{name}: key `{key}`: {value!r} is not absolute",
                hint="begin it with / or, for the home directory on the board, with ~/",
            )


def parse(text: str, name: str) -> Config:
    """A board file's text into its config; `name` is the file, for messages."""
    try:
        data: dict[str, Any] = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise ConfigError(f"{name}: not valid TOML: {error}") from None
    kind = data.get("kind")
    if not isinstance(kind, str) or kind not in KINDS:
        said = "is missing" if kind is None else f"is {kind!r}"
        raise ConfigError(
            f"{name}: key `kind` {said}", hint='write kind = "ssh" or kind = "virtual"'
        )
    struct = KINDS[kind]
    for key in data:
        if key not in _keys(struct):
            raise ConfigError(
                f"{name}: key `{key}`: a board of kind {kind} has no such key",
                hint=_unknown_key_hint(key, _keys(struct)),
            )
    try:
        config: Config = msgspec.convert(data, struct, strict=True)
    except msgspec.ValidationError as error:
        raise ConfigError(f"{name}: {_readable(str(error))}") from None
    _check_rules(name, config)
    return config


def _readable(problem: str) -> str:
    """msgspec's "Expected `int`, got `str` - at `$.port`" with the key in front."""
    place = re.fullmatch(r"(.*) - at `\$\.(.+)`", problem)
    if place:
        return f"key `{place[2]}`: {place[1][0].lower()}{place[1][1:]}"
    missing = re.fullmatch(r"Object missing required field `(.+)`", problem)
    return f"key `{missing[1]}` is missing" if missing else problem


def read(path: Path) -> BoardFile:
    try:
        text = path.read_text(encoding="utf-8")
    except UnicodeDecodeError:
        raise ConfigError(f"{path}: not text") from None
    except OSError as error:
        raise ConfigError(f"{path}: {error.strerror}") from None
    return BoardFile(path.stem, path, parse(text, str(path)))


def _files() -> dict[str, Path]:
    """Names and files of all boards; the user's own win over the checkout's."""
    found: dict[str, Path] = {}
    for directory in (paths.boards(), paths.user_boards()):
        if directory.is_dir():
            found |= {path.stem: path for path in sorted(directory.glob("*.toml"))}
    return dict(sorted(found.items()))


def available() -> dict[str, BoardFile | ConfigError]:
    """Every board there is; a file that is wrong is there with its error."""
    boards: dict[str, BoardFile | ConfigError] = {}
    for name, path in _files().items():
        try:
            boards[name] = read(path)
        except ConfigError as error:
            boards[name] = error
    return boards


def find(word: str) -> BoardFile:
    """The board that a word on the command line names."""
    if "/" in word or word.endswith(".toml"):
        path = Path(word)
        if not path.is_file():
            raise UnknownBoard(
                f"there is no board file {word}", hint="see `teemark board list` for names"
            )
        return read(path)
    files = _files()
    if word not in files:
        close = difflib.get_close_matches(word, files, n=1)
        raise UnknownBoard(
            f"there is no board named {word}",
            hint=(f"did you mean {close[0]}? " if close else "")
            + f"Boards: {', '.join(files) or 'none'}. Your own go into {paths.user_boards()}",
        )
    return read(files[word])
