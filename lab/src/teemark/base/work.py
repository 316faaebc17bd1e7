# SPDX-License-Identifier: BSD-2-Clause
"""A case's key as a typed `Work`, and a table with one row per workload. Only `Work.of` parses a
key (`oneshot/sha256/tee/4096`), and only `WORKLOADS` defines workloads. A workload that the table
lacks (of a newer teebench) is measured and listed all the same; its cost over sizes is a cost per
call and per byte."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Any, Literal

NONE = "none"
TEE = "tee"
IN_TA = (TEE, "ta-c", "ta-ce")  # Backends that compute in a TA
DIGEST_BYTES = 64  # Room for a digest in shared memory

Form = Literal["message", "buffer", "storage", "command"]
"""Forms in which a cost depends on the size; model/forms.py has the terms of each."""

Kind = Literal["empty call", "buffer", "digest", "stream", "storage", "console", "other"]
"""Ways to break a call into the TEE down. `other`: its set-up can't be told from its work."""


@dataclass(frozen=True, slots=True)
class MemoryReference:
    """A shared memory reference that a call carries; a field is None if the case's key has it."""

    memory: str | None = "allocated"
    direction: str | None = "in"
    bytes: int | None = None


DATA = MemoryReference()
SMALL = MemoryReference(direction="out", bytes=DIGEST_BYTES)

Carried = Mapping[str, tuple[MemoryReference, ...]]
"""The references that a call carries, by algorithm; `*` is for every algorithm that isn't
listed."""


@dataclass(frozen=True, slots=True)
class Workload:
    """A kind of work that teebench can measure."""

    name: str
    subject: str  # Name of the second part of a key of this workload
    parameters: str
    """Form of the last part of its keys: capital letters stand for a value, | separates choices."""
    title: str  # What is measured, in a report's words
    form: Form = "message"
    kind: Kind | None = None  # None: no call into the TEE, or its parts aren't known
    backends: tuple[str, ...] = (TEE,)
    """Backends whose calls go into the TEE; `tee-` stands for every backend that begins so."""
    carries: Carried = field(default_factory=lambda: {"*": ()})
    mapped: bool = False
    """A call maps the pages of its message: its cost rises by page, not only by block."""
    served: bool = False  # Other processes or kernel threads work while a call waits
    least_ms: float = 0.3
    """Least time of a call into the TEE on a virtual board, in ms; guesses use it."""
    byte_ns: float = 0.0  # Likewise, in ns: time per byte beyond a digest's, with checks

    def __hash__(self) -> int:
        return hash(self.name)

    def work(self, algorithm: str, backend: str = TEE, *parameters: object) -> "Work":
        return Work.of("/".join((self.name, algorithm, backend, *map(str, parameters or (NONE,)))))

    def key(self, algorithm: str, backend: str = TEE, *parameters: object) -> str:
        return self.work(algorithm, backend, *parameters).key

    @property
    def sized(self) -> bool:
        """Returns true if its keys end with a number of bytes, over which a cost is fitted."""
        return self.parameters.endswith("BYTES")


@dataclass(frozen=True, slots=True)
class Work:
    """The work that one case does: its key, parsed."""

    workload: str
    algorithm: str
    backend: str
    parameters: str
    size: int | None = None  # Bytes of the message or buffer
    chunk: int | None = None  # Bytes of each piece of a message
    count: int | None = None  # Lines, questions, or KiB of a TA's memory
    words: tuple[str, ...] = ()  # The parameters that aren't numbers: a direction, a step

    @classmethod
    @lru_cache(4096)  # A history reads the same keys thousands of times
    def of(cls, key: str) -> "Work":
        """Parses a key; raises ValueError if it isn't one."""
        parts = key.split("/", 3)
        if len(parts) != 4 or not all(parts):
            raise ValueError(f"{key!r} is no case: a key is {KEY_FORM}")
        workload, algorithm, backend, parameters = parts
        bare = cls(workload, algorithm, backend, parameters)
        places, values = bare.row.parameters.split("/"), parameters.split("/")
        if len(values) != len(places):  # a key of another teebench
            return replace(bare, words=tuple(values))
        named = [
            (_NUMBERS.get(place.rpartition("|")[2], ""), value)
            for place, value in zip((bare.row.subject, *places), (algorithm, *values), strict=True)
        ]
        decimal = ((name, value) for name, value in named if value.isdecimal() and value.isascii())
        numbers: dict[str, Any] = {name: int(value) for name, value in decimal if name}
        words = tuple(value for name, value in named[1:] if name not in numbers)
        return replace(bare, words=words, **numbers)

    @property
    def key(self) -> str:
        return "/".join((self.workload, self.algorithm, self.backend, self.parameters))

    @property
    def row(self) -> Workload:
        """Returns the workload's row; a bare row for a workload that the table lacks."""
        row = WORKLOADS.get(self.workload)
        return row or Workload(self.workload, "ALGORITHM", "BYTES", self.workload)

    @property
    def direction(self) -> str:
        """Returns the direction of a cipher or a buffer; an empty string if there is none."""
        return self.words[0] if self.words else ""

    @property
    def curve(self) -> str | None:
        """Returns the workload and its words without the size, such as `oneshot` or `cipher enc`;
        None for a case whose key doesn't end with a size."""
        sized = self.row.sized and self.size is not None
        return " ".join((self.workload, *self.words)) if sized else None

    @property
    def distribution(self) -> bool:
        """Returns true if samples vary by nature (ML-DSA restarts at random), so no gate judges
        them."""
        drawn = {PKCS11: "keypair-", SIGN: "ml-dsa-", KEYGEN: ""}.get(self.row)
        return drawn is not None and self.algorithm.startswith(drawn)

    @property
    def cpu_time(self) -> bool:
        """Returns true if the broker's plan measured CPU time, which has no waiting in it."""
        return self.workload == "broker" and not self.algorithm.startswith("latency-")

    @property
    def driver(self) -> str:
        """Returns the kernel's driver that the backend names; an empty string if it names none."""
        return self.backend.partition(":")[2]

    @property
    def by(self) -> str:
        """Returns the backend without the kernel's driver."""
        return self.backend.partition(":")[0]

    @property
    def in_tee(self) -> bool:
        """Returns true if this backend's calls go into the TEE, by the workload's row."""
        names = self.row.backends
        return self.backend in names or ("tee-" in names and self.backend.startswith("tee-"))

    def calls(self) -> "Calls | None":
        """Returns the calls that one operation makes; None if it makes none into the TEE, or if
        their parts aren't known."""
        row, size = self.row, self.size or 0
        carried = row.carries.get(self.algorithm, row.carries.get("*"))
        if row.kind is None or carried is None or not self.in_tee:
            return None
        pieces: Iterable[int] = (size,)
        count = 1
        if row.kind == "stream":
            if not self.chunk:
                return None
            whole, rest = divmod(size, self.chunk)
            pieces = (*(self.chunk,) * whole, *((rest,) if rest or not whole else ()))
            count = 1 + len(tuple(pieces))
        references = []
        for reference in carried:
            memory = reference.memory or self.algorithm
            direction = reference.direction or self.direction
            sizes = pieces if reference.bytes is None else (reference.bytes,)
            references += [(memory, direction, length) for length in sizes]
        return Calls(row.kind, count, tuple(references))


KEY_FORM = "WORKLOAD/ALGORITHM/BACKEND/PARAMETERS"
_NUMBERS = {
    "BYTES": "size",
    "CHUNK": "chunk",
    "LINES": "count",
    "TIMES": "count",
    "KIB": "count",
    "THREADS": "count",
}


@dataclass(frozen=True, slots=True)
class Calls:
    """The calls of one operation: their number, and the references that they carry in total, each
    with its kind of memory, direction and bytes."""

    kind: Kind
    count: int
    references: tuple[tuple[str, str, int], ...]


_EMPTY: Carried = {
    **dict.fromkeys((NONE, "values", "increment"), ()),
    **{f"memref-{to}": (MemoryReference("allocated", to, 64),) for to in ("in", "out", "inout")},
}

INVOKE = Workload("invoke", "KIND", NONE, "empty calls", kind="empty call", carries=_EMPTY)
SHM = Workload(
    "shm", "KIND", "in|out|inout/BYTES", "calls that carry a buffer", "buffer", "buffer",
    carries={"*": (MemoryReference(None, None),)},
)  # fmt: skip
SESSION = Workload("session", "STEP", "none|digest|pseudo", "sessions", served=True, least_ms=40)
TA_SIZE = Workload(
    "ta-size", "KIB", NONE, "empty calls to TAs with data", kind="empty call", least_ms=40
)
PARALLEL = Workload(
    "parallel", "SESSIONS", "THREADS", "calls by several threads", served=True, least_ms=2
)
CALL = Workload("call", "NAME", "none|BYTES", "commands of your TA", "command", served=True)
ONESHOT = Workload(
    "oneshot", "ALGORITHM", "BYTES", "whole messages", kind="digest", backends=IN_TA,
    carries={"*": (DATA, SMALL)}, mapped=True,
)  # fmt: skip
STREAM = Workload(
    "stream", "ALGORITHM", "BYTES/CHUNK", "messages in pieces", kind="stream", backends=IN_TA,
    carries={"*": (DATA, SMALL)}, mapped=True,
)  # fmt: skip
DIGEST_PARTS = Workload("digest-parts", "ALGORITHM", "allocate|reset|finish", "parts of a digest")
CIPHER = Workload("cipher", "ALGORITHM", "enc|dec/BYTES", "ciphers", backends=IN_TA, mapped=True)
CIPHER_STEPS = Workload(
    "cipher-steps", "ALGORITHM", "enc|dec/BYTES/STEP/all|inv", "steps of a cipher",
    backends=IN_TA,
)  # fmt: skip
SIGN = Workload("sign", "ALGORITHM", "crt|plain|none", "signatures", least_ms=1200)
VERIFY = Workload("verify", "ALGORITHM", NONE, "verifications of signatures", least_ms=420)
DERIVE = Workload("derive", "ALGORITHM", NONE, "key agreements", least_ms=330)
ENCRYPT = Workload("encrypt", "ALGORITHM", NONE, "short messages encrypted", least_ms=420)
DECRYPT = Workload("decrypt", "ALGORITHM", "crt|plain", "short messages decrypted", least_ms=1200)
ENCAPSULATE = Workload("encapsulate", "ALGORITHM", NONE, "secrets sealed for a key")
DECAPSULATE = Workload("decapsulate", "ALGORITHM", NONE, "sealed secrets opened")
KEY_USES = (SIGN, VERIFY, DERIVE, ENCRYPT, DECRYPT, ENCAPSULATE, DECAPSULATE)
KEYGEN = Workload("keygen", "ALGORITHM", NONE, "new key pairs", least_ms=120)
KEY_STEPS = Workload("key-steps", "ALGORITHM", "USE/STEP", "steps of a key's use")
PKCS11 = Workload("pkcs11", "CALL", NONE, "calls of a PKCS #11 module", least_ms=300)
STORAGE = Workload(
    "storage", "OP", "BYTES", "stored objects and files", "storage", "storage", ("tee-",),
    {"create": (SMALL, DATA), "read": (DATA,), "write": (DATA,), "open": (SMALL,), "*": ()},
    served=True, least_ms=160,
)  # fmt: skip
FILE = Workload(
    "file", "OP", "BYTES", "files", backends=IN_TA, mapped=True, served=True, byte_ns=80
)
RNG = Workload("rng", "random", "BYTES", "random bytes", least_ms=2, byte_ns=125)
SAME_CODE = Workload(
    "same-code", "KERNEL", "BYTES", "the same code in both worlds", kind="other", backends=IN_TA,
    carries={"*": (DATA,)}, byte_ns=-25,
)  # fmt: skip
LOG = Workload("log", "lines", "LINES", "lines on the TEE's console", kind="console")
TIME = Workload("time", "CLOCK", "TIMES", "questions for the time", kind="other")
COPY_LIMIT = Workload("copy-limit", "memcpy", "BYTES", "memcpy", backends=())

WORKLOADS: Mapping[str, Workload] = {
    row.name: row
    for row in (
        *(INVOKE, SHM, SESSION, TA_SIZE, PARALLEL, CALL, ONESHOT, STREAM, DIGEST_PARTS, CIPHER),
        *(*KEY_USES, KEYGEN, KEY_STEPS, PKCS11),
        *(CIPHER_STEPS, STORAGE, FILE, RNG, SAME_CODE, LOG, TIME, COPY_LIMIT),
    )
}

EMPTY_CALL = INVOKE.key(NONE)
DIRECT_CALL = INVOKE.key("direct")  # The empty call without the client library
REFUSED_CALL = INVOKE.key("refused")
"""The empty call with one parameter too many: the TEE's core refuses it before looking for a TA."""
HARNESS = INVOKE.key(NONE, "empty")  # Calls nothing: the cost of measuring itself
