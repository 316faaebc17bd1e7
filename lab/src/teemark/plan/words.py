# SPDX-License-Identifier: BSD-2-Clause
"""The types of words in a plan's lists: sizes, names, backends and parameters."""

import re
from typing import Annotated, Self

from msgspec import Meta

from teemark.base.checked import Wrong

NONE = "none"

_SIZE = re.compile(r"(?P<number>\d+)\s*(?P<unit>B|[KMG](iB)?)?")
_UNITS = {None: 1, "B": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30}


def parse_size(text: str) -> int:
    """Returns the bytes of a size: `4KiB` and `4K` are 4096. Raises ValueError unless it is a whole
    number with B, KiB, MiB, GiB or nothing behind it."""
    match = _SIZE.fullmatch(text.strip())
    if match is None:
        raise ValueError(f"{text!r} is no size")
    return int(match["number"]) * _UNITS[match["unit"] and match["unit"][0]]


class Size(int):
    """A number of bytes."""

    @classmethod
    def read(cls, value: object) -> "Size":
        if isinstance(value, int) and not isinstance(value, bool) and value >= 0:
            return cls(value)
        try:
            return cls(parse_size(value if isinstance(value, str) else ""))
        except ValueError:
            raise Wrong(
                f"{value!r} is no size", 'bytes as a number, or a text such as "4KiB"'
            ) from None


class Name(str):
    """A word of a case's key."""

    __slots__ = ()
    _what = "name"
    _form = re.compile(r"[a-z0-9][a-z0-9._-]*")
    _hint = "small letters, digits, . _ -"

    @classmethod
    def read(cls, value: object) -> Self:
        if not isinstance(value, str) or not cls._form.fullmatch(value):
            raise Wrong(f"{value!r} is no {cls._what}", cls._hint)
        return cls(value)


class BackendName(Name):
    """A backend's name, with a driver of the kernel behind a colon if it has one:
    "afalg:sha256-ce", "afalg:*"."""

    __slots__ = ()
    _form = re.compile(r"[a-z0-9][a-z0-9._-]*(:(\*|[A-Za-z0-9_][A-Za-z0-9_(),.+-]*))?")
    _hint = "small letters, digits, . _ - and after a colon the kernel's driver, or * for each"


class Parameters(Name):
    """The last part of a case's key; {} stands for a size."""

    __slots__ = ()
    _form = re.compile(r"(?=[A-Za-z0-9{])([A-Za-z0-9._,:=+/-]|\{\})*")
    _hint = "letters, digits, . _ , : = + / - and {} for the size"


SOME = Meta(min_length=1)
Text = Annotated[str, Meta(pattern=r"\S")]
Names = Annotated[tuple[Name, ...], SOME]
Sizes = Annotated[tuple[Size, ...], SOME]
Positive = Annotated[int, Meta(ge=1)]
Micros = Annotated[int, Meta(ge=0)]
