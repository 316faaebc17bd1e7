# SPDX-License-Identifier: BSD-2-Clause
"""The records of run.ndjson, one JSON object a line; these types are the schema.

Strict in types, tolerant of fields that aren't known here: a newer teebench may say more.
A record type that isn't known, or a field that changes its meaning, needs a new SCHEMA number.
`docs/run.schema.json` is made from this file by `teemark schema`.
"""

from itertools import takewhile
from pathlib import Path
from typing import Annotated, Any, Literal

from msgspec import Meta, Struct, field
from msgspec.structs import force_setattr, replace

from teemark.git import git
from teemark.run import cores

SCHEMA = 4
"""Version of the file format. 2 added `start` records (a file of schema 1 is read as one start), 3
added `legs` records, 4 `timeline` records of teehash, which are no longer made or read."""


def says(text: str) -> Meta:
    """Returns a field's description, for the JSON schema."""
    return Meta(description=text)


Count = Annotated[int, Meta(ge=0)]
Positive = Annotated[int, Meta(ge=1)]
Key = Annotated[
    str,
    Meta(
        pattern=r"^[^/\s]+/[^/\s]+/[^/\s]+/[^\s]+$",
        description="workload/algorithm/backend/parameters",
    ),
]
Facts = Annotated[dict[str, Any], says("a group of facts by name; null where unknown")]
Texts = tuple[str, ...]


class Record(Struct, frozen=True, kw_only=True, tag_field="type"):
    """The base of all records; its tag is the field `type`."""


class Commit(Struct, frozen=True, kw_only=True):
    """The git commit of the source tree that a run measured."""

    hash: Annotated[str, says("40 hexadecimal digits, or as many as were given")]
    branch: Annotated[str | None, says("null: none was checked out")] = None
    dirty: Annotated[bool, says("tracked files were changed since the commit")] = False

    @classmethod
    def checked_out(cls, folder: Path) -> "Commit | None":
        """Returns the commit checked out in the repository around `folder`; None if there is
        none."""
        digits = git(folder, "rev-parse", "--verify", "--quiet", "HEAD")
        if not digits:
            return None
        words = ("--porcelain", "--untracked-files=no", "--ignore-submodules=dirty")
        branch = git(folder, "symbolic-ref", "--quiet", "--short", "HEAD")
        return cls(hash=digits, branch=branch or None, dirty=bool(git(folder, "status", *words)))

    @property
    def short(self) -> str:
        """Returns the commit's first seven digits, with "+ changes" if the tree was dirty."""
        return self.hash[:7] + (" + changes" if self.dirty else "")


class Firmware(Struct, frozen=True, kw_only=True):
    """An image that a virtual board booted. Its facts are read from its files, and are null if the
    files don't tell."""

    name: Annotated[str, says("OP-TEE or TF-A")]
    sha256: Annotated[str, says("of the images that were packed, one behind the other")]
    version: Annotated[str | None, says("that the image has in it")] = None
    compiler: str | None = None
    flags: Annotated[str | None, says("of the compiler, for its first C file")] = None
    configuration: Annotated[dict[str, str], says("CFG_ variables of the build")] = {}
    commit: Annotated[Commit | None, says("of the source tree at boot; null: no repository")] = None


class StackAndHeap(Struct, frozen=True, kw_only=True):
    """The most bytes that the user's TA took in a call of each case, by every access to memory on a
    boot of its own. Null: its heap isn't known, for it has no symbols."""

    stack: Count
    stack_size: Annotated[Positive, says("TA_STACK_SIZE, and what OP-TEE's framework adds")]
    heap: Count | None = None
    heap_size: Annotated[Positive | None, says("TA_DATA_SIZE")] = None


class Run(Record, frozen=True, kw_only=True, tag="run"):
    """First line of a run made by `teemark run`: what was asked for, and of which board."""

    schema: Positive
    teemark: Annotated[str, says("version of teemark")]
    board: Annotated[str, says("name of the board")]
    board_summary: str | None = None
    plan: Annotated[str, says("name of the plan")]
    plan_summary: str | None = None
    plan_title: Annotated[str | None, says("what the plan asks: begins a report's title")] = None
    command: Annotated[str | None, says("the command line that made the run")] = None
    started: Annotated[str, says("UTC, ISO 8601")]
    emulated: Annotated[bool, says("the board's CPU is emulated")]
    icount: Annotated[bool, says("the board's clock counts instructions, 1 ns each")] = False
    cases: Annotated[Count, says("cases asked for")]
    starts: Annotated[Positive, says("starts asked for")] = 1
    asked: Annotated[Texts | None, says("keys of the cases asked for")] = None
    tas_signed_with_published_key: Annotated[bool | None, says("null: no TAs here")] = None
    commit: Annotated[Commit | None, says("what was measured; null: unknown")] = None
    labels: Annotated[dict[str, str], says("by the user: --label KEY=VALUE")] = {}
    firmware: Annotated[tuple[Firmware, ...], says("of a virtual board")] = ()
    ta_memory: Annotated[
        StackAndHeap | None, says("of the user's own TA, where it was recorded")
    ] = None


class Start(Record, frozen=True, kw_only=True, tag="start", omit_defaults=True):
    """Begins one start: teebench's records of that start follow, from `machine` to `end`."""

    number: Annotated[Positive, says("from 1, without a gap")]
    kind: Annotated[
        Literal["boot", "round"],
        says("what is new: boot: the whole board; round: teebench and its sessions"),
    ]
    resumes: Annotated[
        bool, says("it measures what the starts before it lack, and its cases replace theirs")
    ] = False


class FactGroup(Struct, frozen=True, kw_only=True):
    """Related facts of the machine. `reasons` says why a fact is `null`."""


class BoardFacts(FactGroup, frozen=True, kw_only=True):
    model: Annotated[str | None, says("by the device tree")] = None
    compatible: Texts | None = None
    emulated: Annotated[bool | None, says("its CPU is software")] = None
    emulated_told_by: str | None = (
        "QEMU's board with a secure world, which KVM cannot give to a guest"
    )


class CpuFacts(FactGroup, frozen=True, kw_only=True):
    midr: Annotated[Texts | None, says("MIDR_EL1, by CPU where they differ")] = None
    cpuinfo: Annotated[Texts | None, says("lines of /proc/cpuinfo, of the first CPU")] = None
    models: Annotated[Texts | None, says("null: made from midr or cpuinfo")] = None
    features: Annotated[Texts | None, says("by hwcap")] = None
    online: int | None = None
    governor: Texts | None = None
    khz_now: Texts | None = None
    khz_min: Texts | None = None
    khz_max: Texts | None = None
    temperature: Texts | None = None

    def __post_init__(self) -> None:
        fields = dict(line.split(": ", 1) for line in self.cpuinfo or () if ": " in line)
        if self.models is None:
            force_setattr(self, "models", cores.models(self.midr or (), fields))
        words = fields.get("flags", "").split()
        speeds_up = [word for word in words if word in cores.X86_FEATURES]
        features = tuple(dict.fromkeys([*(self.features or ()), *speeds_up]))
        force_setattr(self, "features", features or self.features)


class MemoryFacts(FactGroup, frozen=True, kw_only=True):
    total_bytes: Count | None = None
    available_bytes: Count | None = None


class ClockFacts(FactGroup, frozen=True, kw_only=True):
    name: str | None = None
    resolution_ns: Annotated[Count | None, says("smallest step seen")] = None
    reading_ns: Annotated[Count | None, says("what one reading takes")] = None
    clocksource: str | None = None


class KernelFacts(FactGroup, frozen=True, kw_only=True):
    release: str | None = None
    version: str | None = None
    machine: str | None = None
    options: Texts | None = None
    load_average: Annotated[float | None, says("of the last minute")] = None
    os: str | None = None
    libc: str | None = None


_IMPLEMENTATIONS = {1: "OP-TEE", 2: "AMD-TEE", 3: "Arm Trusted Services"}
_CAPABILITIES = "GlobalPlatform", "privileged", "registered memory", "null memory references"


class TeeFacts(FactGroup, frozen=True, kw_only=True):
    libteec: Annotated[str | None, says("file it was loaded from")] = None
    supplicant: str | None = None
    device: str | None = None
    impl_id: Annotated[Count | None, says("TEE_IMPL_ID_… of the kernel's header")] = None
    gen_caps: Annotated[Count | None, says("TEE_GEN_CAP_… of the kernel's header")] = None
    implementation: Annotated[str | None, says("null: made from impl_id")] = None
    capabilities: Annotated[Texts | None, says("null: made from gen_caps")] = None
    pool_bytes: Annotated[
        Count | None, says("the largest buffer that fits, where shared memory is a fixed pool")
    ] = None
    revision: str | None = None

    def __post_init__(self) -> None:
        if self.implementation is None and self.impl_id is not None:
            name = _IMPLEMENTATIONS.get(self.impl_id, "an implementation that is not known here")
            force_setattr(self, "implementation", name)
        if self.capabilities is None and self.gen_caps is not None:
            bits = (1 << number for number in range(len(_CAPABILITIES)))
            named = zip(bits, _CAPABILITIES, strict=True)
            caps = tuple(name for bit, name in named if self.gen_caps & bit)
            force_setattr(self, "capabilities", caps)


class TaCounterFacts(FactGroup, frozen=True, kw_only=True):
    """The counter that TAs can read on this machine, found by a TA that was allowed to crash."""

    name: Annotated[str | None, says("CNTVCT_EL0 or CNTPCT_EL0")] = None
    hz: Annotated[Count | None, says("its frequency, by the firmware")] = None
    resolution_ns: Annotated[float | None, says("what a tick is")] = None


class CryptoFacts(FactGroup, frozen=True, kw_only=True):
    libcrypto: Annotated[str | None, says("version")] = None
    afalg: Annotated[bool | None, says("AF_ALG sockets can be had")] = None
    kernel_drivers: Texts | None = None
    hwrng: Annotated[str | None, says("what feeds /dev/hwrng")] = None
    netlink_errno: Annotated[Count | None, says("of a NETLINK_CRYPTO socket; 0: it can be had")] = (
        None
    )
    driver_log: Annotated[Texts | None, says("the kernel's log of crypto drivers")] = None


class HealthFacts(FactGroup, frozen=True, kw_only=True):
    """Facts that can prevent a measurement or make it meaningless; only `teemark doctor` asks for
    them."""

    user: str | None = None
    afalg_steps: Annotated[Texts | None, says("of a socket: ok, or errno and its words")] = None
    kernel_asymmetric: Annotated[Texts | None, says("drivers, and the ways to them")] = None
    devices: Annotated[Texts | None, says("path, permissions, owner, group")] = None
    modules: Annotated[Texts | None, says("loaded, of the TEE and of crypto")] = None
    modules_there: Annotated[Texts | None, says("that could be loaded")] = None
    tracer: Annotated[str | None, says("current_tracer of tracefs")] = None
    trace_events: Annotated[str | None, says("events/enable of tracefs")] = None
    throttled: Annotated[str | None, says("by a Raspberry Pi's firmware")] = None
    disk_free_bytes: Annotated[Count | None, says("where cases write their files")] = None
    openssl_environment: Annotated[Texts | None, says("variables that teebench has")] = None
    rng_available: Annotated[str | None, says("hardware random sources")] = None


class SettingsFacts(FactGroup, frozen=True, kw_only=True):
    """The settings with which teebench measured."""

    seed: Annotated[Count | None, says("of the random order of samples")] = None
    samples: Annotated[Positive | None, says("where a case doesn't say")] = None
    min_us: Annotated[Count | None, says("shortest sample, likewise")] = None
    settle_s: Annotated[Count | None, says("wait before the first call")] = None
    align_tick_ms: Annotated[Count | None, says("samples begin after a multiple")] = None
    quiet_until_end: bool | None = None
    ta_counter: Annotated[bool | None, says("false: TAs were not to count their time")] = None
    trace_events: Annotated[bool | None, says("by the kernel's tracepoints")] = None


class Backend(Struct, frozen=True, kw_only=True):
    """A backend; `name` stands for it in a case's key."""

    name: str
    title: Annotated[str, says("as reports call it")]
    secure: Annotated[bool, says("works in the secure world")] = False
    local: Annotated[bool, says("works in teebench's process: no kernel, no TEE")] = False


class Algorithm(Struct, frozen=True, kw_only=True):
    """An algorithm; `name` stands for it in a case's key."""

    name: str
    title: Annotated[str, says("as people write it")]
    class_: Annotated[str | None, says("digest, mac, cipher or aead")] = field(
        name="class", default=None
    )
    block_bytes: Annotated[Positive | None, says("that its function takes at once")] = None
    pad_bytes: Annotated[Count | None, says("the least that padding adds")] = None
    out_bytes: Annotated[Count | None, says("of the digest, MAC or tag; 0: as the input")] = None

    @property
    def encrypts(self) -> bool:
        """Returns true for an algorithm that encrypts: its output is as long as its input."""
        return self.class_ in ("cipher", "aead")


class Machine(Record, frozen=True, kw_only=True, tag="machine"):
    """First line of teebench's output: facts of the machine."""

    schema: Positive
    teebench: Annotated[str, says("version of teebench")]
    built_for: Annotated[str | None, says("architecture of teebench")] = None
    pid: Annotated[int | None, says("of teebench")] = None
    backends: Annotated[tuple[Backend, ...], says("in the order of reports")] = ()
    algorithms: Annotated[tuple[Algorithm, ...], says("all that teebench has")] = ()
    board: BoardFacts = BoardFacts()
    cpu: CpuFacts = CpuFacts()
    memory: MemoryFacts = MemoryFacts()
    clock: ClockFacts = ClockFacts()
    kernel: KernelFacts = KernelFacts()
    tee: TeeFacts = TeeFacts()
    ta_counter: TaCounterFacts = TaCounterFacts()
    crypto: CryptoFacts = CryptoFacts()
    health: HealthFacts = HealthFacts()
    settings: SettingsFacts = SettingsFacts()
    reasons: Annotated[dict[str, str], says("why a fact is null: group.name to a sentence")] = {}


class Layers(Struct, frozen=True, kw_only=True):
    """The time that some calls of a PKCS #11 module spent in libteec; the module itself spent the
    rest."""

    calls: Count
    total_ns: Count
    invoke_ns: Annotated[Count, says("in TEEC_InvokeCommand")]
    invokes: Count
    memory_ns: Annotated[Count, says("allocating, registering, releasing")]
    allocations: Count


class KernelDriver(Struct, frozen=True, kw_only=True):
    """The kernel's driver that does the work, as listed in /proc/crypto."""

    name: Annotated[str, says("of the driver, such as sha256-ce")]
    module: Annotated[str | None, says("kernel: it is built in")] = None
    type: str | None = None
    priority: int | None = None
    async_: Annotated[bool | None, says("it may complete later")] = field(
        name="async", default=None
    )


class InterruptLine(Struct, frozen=True, kw_only=True):
    """A line of /proc/interrupts whose count rose, summed over all CPUs."""

    line: str  # its number or name
    name: str  # controller, kind and device, as the kernel says
    count: int  # times it was raised in the stretch
    idle: int = 0  # times in idle_ns without anything to do


def _rise(pair: tuple[str, str]) -> InterruptLine:
    """Returns a line's rise between two readings, summed over its counts: one for each CPU or, in
    some lines, one for all."""
    before, after = (text.partition(":")[2].split() for text in pair)
    both = zip(before, after, strict=False)
    counts = [*takewhile(lambda two: two[0].isdecimal() and two[1].isdecimal(), both)]
    return InterruptLine(
        line=pair[1].partition(":")[0].strip(),
        name=" ".join(after[len(counts) :]),
        count=max(sum(int(now) - int(then) for then, now in counts), 0),
    )


class Watched(Struct, frozen=True, kw_only=True):
    """The machine's activity during a separate series of calls, before the samples."""

    calls: Positive
    ns: Annotated[Count, says("wall time of the stretch")]
    user_us: Annotated[Count, says("CPU time of teebench in user mode")]
    sys_us: Annotated[Count, says("CPU time of teebench in the kernel")]
    others_ns: Annotated[
        Count | None,
        says(
            "CPU time of kernel threads and of the first thread of each other process; "
            "null: the kernel counts none"
        ),
    ] = None
    idle_ns: Annotated[Count, says("how long the machine was looked at idle")] = 0
    raised: Annotated[
        tuple[tuple[str, str], ...],
        says("lines of /proc/interrupts that changed in the stretch, before it and after"),
    ] = ()
    idle_raised: Annotated[tuple[tuple[str, str], ...], says("those that changed in idle_ns")] = ()

    @property
    def lines(self) -> tuple[InterruptLine, ...]:
        """Returns the lines of /proc/interrupts whose count rose."""
        idle = {line.line: line.count for line in map(_rise, self.idle_raised)}
        rose = [line for line in map(_rise, self.raised) if line.count]
        return tuple(replace(line, idle=idle.get(line.line, 0)) for line in rose)


class Masked(Struct, frozen=True, kw_only=True):
    """The same calls with the CPU's crypto instructions and without, in separate processes."""

    variable: Annotated[str, says("of the environment, that hides them")]
    value: str
    calls: Annotated[Positive, says("calls in each of the stretches")]
    plain_ns: Annotated[tuple[Count, ...], says("each stretch as it is")]
    masked_ns: Annotated[tuple[Count, ...], says("each stretch with them hidden")]


class Case(Record, frozen=True, kw_only=True, tag="case"):
    """A case that runs; this record comes before the case's samples."""

    case: Key
    workload: str
    algorithm: str
    backend: str
    parameters: str
    bytes: Annotated[Count | None, says("bytes one operation works on")]
    verified: Annotated[bool, says("the output equalled a known answer")]
    samples: Annotated[Positive, says("samples asked for, of each repeat")]
    repeat: Annotated[tuple[Positive, ...], says("operations in one call, each")]
    loops: Annotated[tuple[Positive, ...], says("calls in one sample, of each repeat")]
    min_ns: Annotated[Count | None, says("a sample is at least as long")] = None
    call_ns: Annotated[Count | None, says("a call, as found when choosing loops")] = None
    ta_counter: Annotated[bool | None, says("a TA computes; true: it counts its time")] = None
    kernel_driver: Annotated[KernelDriver | None, says("AF_ALG only")] = None
    watched: Annotated[Watched | None, says("where a device may do the work")] = None
    watched_reason: Annotated[str | None, says("why it is null")] = None
    masked: Annotated[Masked | None, says("OpenSSL only, the longest message of each kind")] = None
    masked_reason: Annotated[str | None, says("why it is null")] = None
    checked_by: Annotated[str | None, says("backend that computed the same")] = None
    tee_says: Annotated[bool | None, says("asymmetric: by the TEE's own words")] = None
    module: Annotated[str | None, says("PKCS #11: its file")] = None
    initialize_ns: Annotated[Count | None, says("PKCS #11: the program's C_Initialize")] = None
    login_ns: Annotated[Count | None, says("PKCS #11: its user's C_Login")] = None
    layers: Annotated[Layers | None, says("PKCS #11: where some calls spent their time")] = None
    rpcs_per_call: Annotated[float | None, says("calls of the TEE back to the normal world")] = None
    rpcs_reason: Annotated[str | None, says("why they aren't known")] = None
    ta: Annotated[str | None, says("UUID of the TA that is called")] = None
    command: Annotated[Count | None, says("number of its command")] = None
    unchecked: Annotated[Texts, says("what nothing was expected of, such as p1")] = ()


class First(Record, frozen=True, kw_only=True, tag="first"):
    """The time of something that was done for the first time, kept apart from the samples."""

    case: Annotated[Key | None, says("null: of the whole program")]
    backend: str | None = None
    what: Annotated[str, says("context, session, invoke, call")]
    ns: Count
    source: str | None = None


Source = Literal["client-clock", "ta-counter"]


class Sample(Record, frozen=True, kw_only=True, tag="sample", gc=False):
    """One timed value, unprocessed: one call took ns / loops. A sample by the TA's counter follows
    the client's sample of the same calls, with the same seq and without usage."""

    case: Key
    seq: Annotated[Count, says("order in which the samples of a start were taken, from 0")]
    repeat: Annotated[Positive, says("operations in one call")]
    loops: Annotated[Positive, says("calls in this sample")]
    ns: Annotated[Count, says("total time, nanoseconds")]
    source: Annotated[
        Source,
        says(
            "where the time is from: the client's clock, around its calls, or the "
            "TA's counter, around what it did in them"
        ),
    ]
    user_us: Annotated[Count | None, says("CPU time in user mode")] = None
    sys_us: Annotated[Count | None, says("CPU time in the kernel, TEE included")] = None
    nvcsw: Annotated[Count | None, says("voluntary context switches")] = None
    nivcsw: Annotated[Count | None, says("involuntary context switches")] = None
    runq_ns: Annotated[Count | None, says("time waiting for a CPU")] = None

    @property
    def waited_ns(self) -> int:
        """Returns the time that the process waited for a CPU within the sample. The kernel is asked
        before and after the clock is read, so a wait longer than the sample lay outside and isn't
        counted."""
        return self.runq_ns if self.runq_ns and self.runq_ns < self.ns else 0


Leg = tuple[Count, Count, Count]


class Legs(Record, frozen=True, kw_only=True, tag="legs", gc=False):
    """One more call after the samples, with the kernel's tracepoints on: each of its stays in the
    secure world. It is no sample, since tracepoints cost time."""

    case: Key
    seq: Annotated[Count, says("which traced call of the case, from 0")]
    repeat: Annotated[Positive, says("operations in the call")]
    ns: Annotated[Count | None, says("the call by the client's clock, events included")]
    legs: Annotated[
        tuple[Leg, ...] | None,
        says(
            "begin and end in nanoseconds since the first begin, and what the secure "
            "world returned (a0): 0 is done, 0xffff0000 + n asks for something"
        ),
    ]
    resolution_ns: Annotated[Count, says("what a stamp is rounded to")]
    source: Annotated[str, says("which tracepoints")]
    reason: Annotated[str | None, says("why there are no legs of this case")] = None


class Trouble(Record, frozen=True, kw_only=True):
    """The base of `skip` and `fail`."""

    case: Key
    reason: Annotated[str, says("a sentence for people")]
    hint: Annotated[str | None, says("what to do about it")] = None
    tee_result: Annotated[str | None, says("TEE result, by name")] = None
    tee_origin: Annotated[str | None, says("where that came from")] = None


class Skip(Trouble, frozen=True, kw_only=True, tag="skip"):
    """A case that this machine can't run, and why."""

    code: Annotated[str, says("a word for machines, such as no-tee")]


class Fail(Trouble, frozen=True, kw_only=True, tag="fail"):
    """A case whose output was wrong, or that broke off; its samples don't count."""


class Teehash(Record, frozen=True, kw_only=True, tag="teehash"):
    """One run of teehash on a file; the digest was checked."""

    case: Key
    seq: Annotated[Count, says("which run of this case, from 0")]
    argv: Annotated[tuple[str, ...], says("the command line on the board")]
    report: Annotated[Facts, says("what `teehash --report=json` said")]


class End(Record, frozen=True, kw_only=True, tag="end"):
    """Last line of a start; a start without it was cut off."""

    complete: bool
    reason: Annotated[
        str,
        says(
            "done; interrupted, terminated, hung-up by a signal; connection-lost, "
            "program-failed, no-space, stopped where teemark had to write this record"
        ),
    ]
    message: Annotated[str | None, says("what happened, a sentence for people")] = None
    cases: Count | None = None
    samples: Annotated[Count | None, says("by the client's clock")] = None
    ta_samples: Annotated[Count | None, says("by the TA's counter, beside them")] = None
    skipped: Count | None = None
    failed: Count | None = None
    thrown_away: Annotated[Count | None, says("samples that were too short")] = None
    duration_ns: Count | None = None


AnyRecord = Run | Start | Machine | Case | First | Sample | Legs | Teehash | Skip | Fail | End
