# SPDX-License-Identifier: BSD-2-Clause
"""Calls of any Trusted Application, as a plan describes them (docs/own-ta.md). teebench gets each
`Call` as a description in one word (host/src/teebench/call.h)."""

import re
from collections.abc import Iterator
from typing import Annotated, ClassVar, Literal, Self

from msgspec import Meta, Struct, structs

from teemark.base.checked import Wrong, once
from teemark.base.results import RESULTS as TEE_RESULTS
from teemark.base.results import TARGET_DEAD
from teemark.plan.words import NONE, Micros, Name, Positive, Size, Sizes

ANY = "any"

RESULTS = {name: code for code, name in TEE_RESULTS.items() if code != TARGET_DEAD}
"""GlobalPlatform's return codes for TAs, by name: all but TARGET_DEAD."""


class Uuid(Name):
    __slots__ = ()
    _what = "UUID"
    _form = re.compile("[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.IGNORECASE)
    _hint = "such as 8aaaf200-2450-11e4-abe2-0002a5d5c51b"


class ReturnCode(int):
    """A TA's return code, 32 bits."""

    @classmethod
    def read(cls, value: object) -> "ReturnCode":
        name = value.replace("TEEC_", "TEE_", 1) if isinstance(value, str) else ""
        if name in RESULTS:
            return cls(RESULTS[name])
        if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 1 << 32:
            return cls(value)
        raise Wrong(
            f"{value!r} is no return code",
            "a name of GlobalPlatform's such as TEE_ERROR_BAD_PARAMETERS, or a number",
        )


class Length(str):
    """A number of bytes of memory: a size, or {} for each of the call's `sizes`."""

    __slots__ = ()

    @classmethod
    def read(cls, value: object) -> "Length":
        return cls(value) if value == "{}" else cls(Size.read(value))

    def of(self, size: int | None, key: str) -> int:
        if self != "{}":
            return int(self)
        if size is None:
            raise Wrong("'{}', but there are no sizes", key=key)
        return size


class Content(str):
    """The bytes of a parameter, in teebench's notation."""

    __slots__ = ()
    _hint = (
        '"message" (the same arbitrary bytes everywhere), "zeros", "fill:ff", "hex:00ff…" or '
        '"text:abc"'
    )
    _forms: ClassVar = {
        "message": "message",
        "zeros": "fill-00",
        "fill:([0-9a-fA-F]{2})": "fill-{}",
        "hex:((?:[0-9a-fA-F]{2})*)": "hex-{}",
    }
    """Maps patterns of a plan's notation to teebench's notation."""

    @classmethod
    def read(cls, value: object) -> Self:
        text = value if isinstance(value, str) else ""
        if text.startswith("text:"):
            return cls(f"hex-{text.removeprefix('text:').encode().hex()}")
        for form, words in cls._forms.items():
            if match := re.fullmatch(form, text):
                return cls(words.format(*match.groups()).lower())
        raise Wrong(f"{str(value)[:80]!r} are no bytes", cls._hint)

    @property
    def bytes(self) -> int | None:
        """Returns the content's length; None if it takes any length."""
        return len(self) // 2 - 2 if self.startswith("hex-") else None


class Expect(Content):
    """The bytes that memory must hold after the call, in teebench's notation."""

    __slots__ = ()
    _hint = (
        '"any", "p0" (what went into p0), "sha256 of p0" (or another digest of teebench\'s), '
        f'"sha256:…" (of what comes back), {Content._hint}'
    )

    _forms: ClassVar = Content._forms | {
        ANY: ANY,
        "p([0-3])": "same-{}",
        "sha256:([0-9a-fA-F]{64})": "digest-{}",
        "([a-z0-9-]+) of p([0-3])": "{}-of-{}",
    }

    @property
    def of_any_size(self) -> bool:
        """Returns true if the length of the expected bytes isn't known from these words."""
        return self == ANY or self.startswith("digest-") or self.param is not None

    @property
    def param(self) -> int | None:
        """Returns the number of the parameter that the bytes are made from (0 to 3), or None."""
        match = re.fullmatch("(?:same|.+-of)-([0-3])", self)
        return int(match[1]) if match else None


_U32 = Annotated[int, Meta(ge=0, le=0xFFFFFFFF)]
_Wanted = _U32 | Literal["any"]


class _Param(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, tag_field="type"):
    def words(self, size: int | None, key: str) -> tuple[object, ...]:
        """Returns the words for teebench after the parameter's type; `size` replaces {}. Raises
        Wrong if teebench wouldn't take them."""
        return structs.astuple(self)


class ValueIn(_Param, frozen=True, kw_only=True, tag="value-in"):
    a: _U32 = 0
    b: _U32 = 0


class ValueOut(_Param, frozen=True, kw_only=True, tag="value-out"):
    expect_a: _Wanted
    expect_b: _Wanted


class ValueInout(_Param, frozen=True, kw_only=True, tag="value-inout"):
    a: _U32 = 0
    b: _U32 = 0
    expect_a: _Wanted
    expect_b: _Wanted | None = None  # None: unchanged

    def words(self, size: int | None, key: str) -> tuple[object, ...]:
        b = self.b if self.expect_b is None else self.expect_b
        return self.a, self.b, self.expect_a, b


class _Memory(_Param, frozen=True, kw_only=True):
    size: Length | None = None
    memory: Literal["temporary", "registered", "allocated"] = "temporary"

    def room(self, content: Content | None, size: int | None, key: str) -> int:
        """Returns the size, in bytes, of the memory for the content."""
        length = content.bytes if content is not None else None
        if self.size is None:
            if length is None:
                raise Wrong("missing", 'bytes, or "{}" for those of sizes', f"{key}.size")
            return length
        room = self.size.of(size, f"{key}.size")
        if length not in (None, room):
            raise Wrong(f"{length} bytes, in memory of {room}", key=f"{key}.content")
        return room


class MemoryIn(_Memory, frozen=True, kw_only=True, tag="memory-in"):
    content: Content

    def words(self, size: int | None, key: str) -> tuple[object, ...]:
        return self.memory, self.room(self.content, size, key), self.content


class _Written(_Memory, frozen=True, kw_only=True):
    """Memory that the TA writes to."""

    expect: Expect | None = None
    expect_each: dict[str, Expect] | None = None  # The bytes for each size
    expect_size: Length | None = None

    def __post_init__(self) -> None:
        if (self.expect is None) == (self.expect_each is None):
            raise Wrong(
                "missing" if self.expect is None else "and expect_each exclude each other",
                "what the memory must hold after the call; "
                '"any" if that can\'t be known, or expect_each = { "64" = …, "4KiB" = … }',
                "expect",
            )

    def wanted(self, size: int | None, room: int, key: str) -> tuple[object, ...]:
        expect = self.expect
        if self.expect_each is not None:
            if size is None:
                raise Wrong("there are no sizes", key=f"{key}.expect_each")
            each = {Size.read(at): expected for at, expected in self.expect_each.items()}
            if Size(size) not in each:
                raise Wrong(f"has nothing for {size}", key=f"{key}.expect_each")
            expect = each[Size(size)]
        assert expect is not None
        if (expect.bytes or 0) > room:
            raise Wrong(f"{expect.bytes} bytes, in memory of {room}", key=f"{key}.expect")
        count = room if expect.bytes is None else expect.bytes
        if self.expect_size is None:
            return expect, ANY if expect.of_any_size else count
        length = self.expect_size.of(size, f"{key}.expect_size")
        if not expect.of_any_size and (length > room or expect.bytes not in (None, length)):
            raise Wrong(f"{length} bytes, where {count} are expected", key=f"{key}.expect_size")
        return expect, length


class MemoryOut(_Written, frozen=True, kw_only=True, tag="memory-out"):
    def words(self, size: int | None, key: str) -> tuple[object, ...]:
        room = self.room(None, size, key)
        return self.memory, room, *self.wanted(size, room, key)


class MemoryInout(_Written, frozen=True, kw_only=True, tag="memory-inout"):
    content: Content

    def words(self, size: int | None, key: str) -> tuple[object, ...]:
        room = self.room(self.content, size, key)
        return self.memory, room, self.content, *self.wanted(size, room, key)


Param = ValueIn | ValueOut | ValueInout | MemoryIn | MemoryOut | MemoryInout


class CalledTa(Struct, frozen=True, forbid_unknown_fields=True):
    """The table `[ta]`: the TA whose commands are called."""

    uuid: Uuid


class Step(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A command with its parameters, and the code that it must return."""

    command: _U32
    p0: Param | None = None
    p1: Param | None = None
    p2: Param | None = None
    p3: Param | None = None
    result: ReturnCode = ReturnCode(0)

    def described(self, when: str, size: int | None, within: str = "") -> Iterator[str]:
        yield f"{when}:{self.command}:{self.result:#010x}"
        params = (self.p0, self.p1, self.p2, self.p3)
        for i, param in enumerate(params):
            if param is None:
                yield NONE
                continue
            key = f"{within}p{i}"
            words = param.words(size, key)
            expect, length = words[-2:]
            if isinstance(expect, Expect) and expect.param is not None:
                source = params[expect.param]
                if not isinstance(source, MemoryIn | MemoryInout):
                    raise Wrong(f"p{expect.param} is no memory with a content", key=f"{key}.expect")
                if expect.startswith("same-"):
                    count, room = source.room(source.content, size, key), words[1]
                    if not (isinstance(room, int) and count <= room and length in (ANY, count)):
                        raise Wrong(f"{count} bytes are in p{expect.param}", key=f"{key}.expect")
                    words = (*words[:-2], source.content, count)
            yield ":".join(map(str, (param.__struct_config__.tag, *words)))


class Call(Step, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A `[[call]]` block as it stands in the file."""

    name: Name
    sizes: Sizes | None = None
    setup: tuple[Step, ...] = ()  # Once, in a session of its own
    before: tuple[Step, ...] = ()  # Before every call, and not timed
    samples: Positive | None = None
    min_us: Micros | None = None

    def __post_init__(self) -> None:
        once("sizes", self.sizes or ())
        for size in self.sizes or (None,):
            self.steps(size)

    def steps(self, size: int | None) -> str:
        """Returns the call's steps for one size, in teebench's notation."""
        words: list[str] = []
        for when, steps in (("setup", self.setup), ("before", self.before)):
            for number, step in enumerate(steps, 1):
                words += step.described(when, size, f"{when}[{number}].")
        words += self.described("run", size)
        return ";".join(words)
