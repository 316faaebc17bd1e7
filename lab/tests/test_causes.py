# SPDX-License-Identifier: BSD-2-Clause
"""Causes of lost time: each rule on both sides of its threshold, and without its data."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import msgspec
import pytest
from click.testing import CliRunner

from synthetic import Synthetic, run_from, run_of, run_with, scattered
from teemark.base import fmt
from teemark.cli.explain import command
from teemark.findings import cause_words as words
from teemark.findings import trace_causes
from teemark.findings.causes import Cause, Figure, causes
from teemark.model import models
from teemark.model.stats import estimate, exactly
from teemark.run.reader import RunData
from teemark.trace.profile import CaseTrace, Function, Node, Pass, Sample, Trace
from teemark.trace.roles import roles

EMPTY = "invoke/none/tee/none"
SIZES = (0, 64, 1024, 4096, 65536, 1048576)


def made(cases: Mapping[str, float], spread: float = 0.01, **more: object) -> RunData:
    times = {key: scattered(ns, spread) for key, ns in cases.items()}
    return run_of(times, **more)  # type: ignore[arg-type]


def found(run: RunData) -> dict[str, Cause]:
    return {cause.name: cause for cause in causes(run, models.build(run))}


def digests(algorithm: str, **rates: float) -> dict[str, float]:
    """Of these backends, whose bytes cost so many nanoseconds; `_` stands for `-`."""
    return {
        f"oneshot/{algorithm}/{name.replace('_', '-')}/{n}": 50_000
        + rate * 64 * (-(-(n + 9) // 64))
        for name, rate in rates.items()
        for n in SIZES
    }


def buffers(**memory: tuple[float, float]) -> dict[str, float]:
    """At 4 KiB and at 1 MiB."""
    return {
        f"shm/{name.replace('_', '-')}/tee/in/{n}": ns
        for name, both in memory.items()
        for n, ns in zip((4096, 1048576), both, strict=True)
    }


TWO_SIDES: Sequence[tuple[str, Mapping[str, float], Mapping[str, float]]] = (
    (
        "tmpref-registration",
        buffers(temporary=(90e3, 300e3), allocated=(50e3, 100e3)),
        buffers(temporary=(50e3, 101e3), allocated=(50e3, 100e3)),
    ),
    (
        "shadow-copy",
        buffers(registered_ro=(52e3, 280e3), allocated=(50e3, 100e3)),
        buffers(registered_ro=(90e3, 140.5e3), allocated=(50e3, 100e3)),
    ),
    (
        "per-page-mapping",
        buffers(allocated=(50e3, 100e3)),
        buffers(allocated=(50e3, 50.5e3)),
    ),
    (
        "ta-size-remap",
        {"ta-size/32/tee/none": 50e3, "ta-size/4096/tee/none": 150e3},
        {"ta-size/32/tee/none": 50e3, "ta-size/4096/tee/none": 50.5e3},
    ),
    (
        "ta-load-first-call",
        {"session/first-open/tee/none": 90e6, "session/open/tee/none": 300e3},
        {"session/first-open/tee/none": 301e3, "session/open/tee/none": 300e3},
    ),
    (
        "no-crypto-extensions-in-tee",
        digests("sha256", tee=60.0, ta_ce=2.0),
        digests("sha256", tee=2.2, ta_ce=2.0),
    ),
    (
        "tee-at-cpu-speed",
        digests("sha256", tee=2.0, openssl=2.0),
        digests("sha256", tee=2.6, openssl=2.0),
    ),
    (
        "ree-time-rpc",
        {
            f"time/{c}/tee/{n}": 50e3 + n * ns
            for c, ns in (("ree", 40e3), ("system", 4e3))
            for n in (0, 64)
        },
        {
            f"time/{c}/tee/{n}": 50e3 + n * ns
            for c, ns in (("ree", 5e3), ("system", 4e3))
            for n in (0, 64)
        },
    ),
    (
        "console-traces",
        {EMPTY: 50e3} | {f"log/lines/tee/{n}": 50e3 + n * 900e3 for n in (0, 1, 2, 4)},
        {EMPTY: 50e3} | {f"log/lines/tee/{n}": 50e3 + n * 1e3 for n in (0, 8, 64, 128)},
    ),
    (
        "slow-rng",
        {EMPTY: 50e3, "rng/random/tee/4096": 900e3, "rng/random/getrandom/4096": 12e3},
        {EMPTY: 50e3, "rng/random/tee/4096": 80e3, "rng/random/getrandom/4096": 12e3},
    ),
)


@pytest.mark.parametrize(("name", "is_so", "is_not"), TWO_SIDES, ids=[one[0] for one in TWO_SIDES])
def test_found_where_its_signature_holds_and_only_there(
    name: str, is_so: Mapping[str, float], is_not: Mapping[str, float]
) -> None:
    assert found(made(is_so))[name].status == "found"
    assert found(made(is_not, spread=0.001))[name].status == "absent"


@pytest.mark.parametrize("name", [one[0] for one in TWO_SIDES])
def test_without_its_data_it_says_what_is_lacking(name: str) -> None:
    cause = found(made({"oneshot/sha256/c/64": 900.0}))[name]
    assert (cause.status, cause.confidence) == ("unchecked", "low")
    assert cause.lacks


@pytest.mark.parametrize(
    ("name", "cases", "lacks"),
    [
        ("console-traces", {EMPTY: 5e4}, "log/lines/tee/N of three N"),
        ("console-traces", {"log/lines/tee/0": 5e4}, f"log/lines/tee/N of three N and {EMPTY}"),
        (
            "size-optimised-core",
            {EMPTY: 5e4, "invoke/refused/tee/none": 1e4},
            "a board that counts instructions, or a trace with the names of the core",
        ),
        (
            "size-optimised-core",
            {"invoke/refused/tee/none": 1e4},
            f"{EMPTY} and a board that counts instructions, or a trace with the names of the core",
        ),
        ("slow-rng", {EMPTY: 5e4, "rng/random/tee/64": 6e4}, "rng/random/getrandom/N"),
        (
            "slow-rng",
            {"rng/random/tee/64": 6e4, "rng/random/getrandom/64": 1e3},
            EMPTY,
        ),
        (
            "slow-rng",
            {EMPTY: 5e4, "rng/random/tee/64": 6e4, "rng/random/getrandom/4096": 1e3},
            "rng/random/tee/N and rng/random/getrandom/N of one size",
        ),
        (
            "tmpref-registration",
            {"shm/allocated/tee/in/64": 5e4},
            "shm/temporary/tee/in/N of one size",
        ),
        (
            "tmpref-registration",
            {"shm/allocated/tee/in/64": 5e4, "shm/temporary/tee/in/4096": 5e4},
            "shm/temporary/tee/in/N and shm/allocated/tee/in/N of one size",
        ),
        ("ta-load-first-call", {"session/open/tee/none": 3e5}, "session/first-open/tee/none"),
        (
            "ree-time-rpc",
            {f"time/ree/tee/{n}": 5e4 + n * 4e4 for n in (0, 64)},
            "time/system/tee/N of two N",
        ),
        (
            "no-crypto-extensions-in-tee",
            digests("sha256", tee=60.0),
            "oneshot/ALGORITHM by ta-ce, of several sizes",
        ),
        (
            "cpu-time-per-byte",
            digests("sha256", openssl=2.0),
            "oneshot/ALGORITHM by afalg, of one size and with CPU time",
        ),
        (
            "cpu-time-per-byte",
            digests("sha256", openssl=2.0, afalg=2.0),
            "oneshot/ALGORITHM by afalg and openssl, of one size and with CPU time",
        ),
        (
            "storage-rpc-per-block",
            {f"storage/read/tee-ree-fs/{n}": 1e6 + n for n in (256, 4096, 65536)},
            "the number of RPCs, which the kernel tells root alone",
        ),
        (
            "tee-at-cpu-speed",
            digests("sha256", tee=60.0, c=60.0),
            "oneshot/ALGORITHM by openssl or ce, of several sizes",
        ),
        (
            "tee-at-cpu-speed",
            digests("sha1", tee=60.0) | digests("sha256", openssl=60.0),
            "oneshot/ALGORITHM by tee and openssl or ce, of several sizes",
        ),
    ],
)
def test_only_what_is_missing_is_lacking(name: str, cases: Mapping[str, float], lacks: str) -> None:
    cause = found(made(cases))[name]
    assert (cause.status, cause.lacks) == ("unchecked", lacks)


def test_plain_c_is_no_measure_of_the_cpu() -> None:
    """The TEE is as fast as that, and four times slower than the CPU could be."""
    rates = digests("sha256", tee=8.0, c=8.0)
    assert found(made(rates))["tee-at-cpu-speed"].status == "unchecked"
    fast = rates | digests("sha256", ce=2.0)
    assert found(made(fast))["tee-at-cpu-speed"].status == "absent"
    faster_c = digests("sha256", tee=8.0, c=2.0, openssl=8.0)  # C counts beside others
    assert found(made(faster_c))["tee-at-cpu-speed"].status == "absent"


def test_what_scatters_across_the_threshold_is_undecided() -> None:
    run = made(buffers(temporary=(50e3, 105e3), allocated=(50e3, 100e3)), spread=0.2)
    cause = found(run)["tmpref-registration"]
    assert (cause.status, cause.confidence) == ("undecided", "low")


def test_a_figure_and_its_interval_have_one_unit() -> None:
    """On a board that counts instructions, what waits is a time."""
    run = run_of({EMPTY: [1000.0] * 12}, icount=True)
    waited = Figure("opening", estimate([[25e6, 26e6, 27e6] * 8], "x"))
    counted = Figure("a page", exactly(189.0))
    said = words.say(run, Cause("ta-load-first-call", "found", (waited, counted))).evidence
    assert said.startswith(
        f"opening: 26.0\N{NO-BREAK SPACE}ms (25.0{fmt.TO}27.0\N{NO-BREAK SPACE}ms)"
    )
    assert said.endswith("; a page: 189 instructions (exact)")


def with_machine(run: RunData, group: str, **facts: object) -> RunData:
    changed = msgspec.structs.replace(getattr(run.machine, group), **facts)
    return replace(run, machine=msgspec.structs.replace(run.machine, **{group: changed}))


BIG_LITTLE = ("cpu0 1500000", "cpu1 1500000", "cpu4 2000000")
"""As teebench writes what isn't the same of all CPUs."""
IDLE_LITTLE = ("cpu0 600000", "cpu1 1500000", "cpu4 2000000")


@pytest.mark.parametrize(
    ("now", "most", "governor", "status", "fact"),
    [
        (("600000",), ("1800000",), ("performance",), "found", "600 of 1800 MHz"),
        (("600000",), ("1800000",), ("ondemand",), "undecided", "governor ondemand"),
        (("600000",), ("1800000",), None, "undecided", "600 of 1800 MHz"),
        (("1800000",), ("1800000",), ("ondemand",), "absent", "1800 of 1800 MHz"),
        (BIG_LITTLE, BIG_LITTLE, ("performance",), "absent", "cpu0: 1500 of 1500 MHz"),
        (BIG_LITTLE, BIG_LITTLE, ("schedutil",), "absent", "governor schedutil"),
        (IDLE_LITTLE, BIG_LITTLE, ("performance",), "found", "cpu0: 600 of 1500 MHz"),
        (IDLE_LITTLE, BIG_LITTLE, ("schedutil",), "undecided", "cpu0: 600 of 1500 MHz"),
        (
            IDLE_LITTLE,
            BIG_LITTLE,
            ("cpu0 schedutil", "cpu1 performance", "cpu4 performance"),
            "undecided",
            "governor schedutil, performance",
        ),
        (("1000000",), BIG_LITTLE, ("performance",), "found", "cpu4: 1000 of 2000 MHz"),
        (IDLE_LITTLE, ("2000000",), ("performance",), "found", "cpu0: 600 of 2000 MHz"),
        (("x",), ("2000000",), ("performance",), "unchecked", None),
    ],
)
def test_a_cpu_below_its_own_highest_frequency(
    now: tuple[str, ...],
    most: tuple[str, ...],
    governor: tuple[str, ...] | None,
    status: str,
    fact: str | None,
) -> None:
    run = made({EMPTY: 50e3})
    reasons = {"cpu.khz_now": "no cpufreq driver"}
    other = replace(run, machine=msgspec.structs.replace(run.machine, reasons=reasons))
    for one, why in ((run, "the kernel doesn't say"), (other, "no cpufreq driver")):
        unknown = found(one)["cpu-frequency"]
        assert (unknown.status, unknown.lacks) == ("unchecked", f"the CPUs' frequencies ({why})")
    told = {"khz_now": now, "khz_max": most, "governor": governor}
    cause = found(with_machine(run, "cpu", **told))["cpu-frequency"]
    assert cause.status == status
    assert fact is None or any(one.startswith(fact) for one in cause.facts)


def test_a_clock_with_coarse_steps() -> None:
    run = made({EMPTY: 50e3}, spread=0.0)
    assert found(run)["clock-resolution"].status == "unchecked"
    for step, status in ((1_000, "found"), (100, "absent")):
        cause = found(with_machine(run, "clock", resolution_ns=step))["clock-resolution"]
        assert cause.status == status


def waiting(run: RunData, ns: int | None) -> RunData:
    cases = {
        key: replace(
            one,
            starts=tuple(
                tuple(msgspec.structs.replace(sample, runq_ns=ns) for sample in start)
                for start in one.starts
            ),
        )
        for key, one in run.cases.items()
    }
    return replace(run, cases=cases)


@pytest.mark.parametrize(("ns", "status"), [(5_000, "found"), (10, "absent"), (None, "unchecked")])
def test_other_processes_that_take_the_cpu(ns: int | None, status: str) -> None:
    assert found(waiting(made({EMPTY: 50e3}), ns))["contention"].status == status


@pytest.mark.parametrize(
    "key",
    [
        "storage/read/tee-ree-fs/4096",
        "session/open/tee/none",
        "file/digest/afalg/1048576",
        "oneshot/sha256/afalg/4096",
        "oneshot/sha256/afalg:sha256-generic/4096",
        "rng/random/hwrng/64",
        "call/read/tee/none",
    ],
)
def test_who_serves_a_call_takes_the_cpu_from_nobody(key: str) -> None:
    """tee-supplicant, say: the call's process waits until that sleeps again."""
    of_calls, served = waiting(made({EMPTY: 50e3}), 10), waiting(made({key: 50e3}), 20_000)
    assert found(served)["contention"].status == "unchecked"
    both = replace(of_calls, cases={**served.cases, **of_calls.cases})
    assert found(both)["contention"].status == "absent"


@pytest.mark.parametrize(("rpcs", "status"), [(2.0, "unchecked"), (0.0, "found"), (None, "found")])
def test_a_call_that_goes_back_to_the_normal_world_is_served(
    rpcs: float | None, status: str
) -> None:
    run = waiting(made({"rng/random/tee/64": 50e3}, rpcs_per_call=rpcs), 20_000)
    assert found(run)["contention"].status == status


@pytest.mark.parametrize(
    ("rpcs", "status"), [((3.0, 4.0, 20.0), "found"), ((3.0, 3.0, 3.0), "absent")]
)
def test_rpcs_that_grow_with_the_blocks(rpcs: Sequence[float], status: str) -> None:
    keys = [f"storage/read/tee-ree-fs/{n}" for n in (256, 4096, 65536)]
    run = made({key: 1e6 + 1e5 * i for i, key in enumerate(keys)}, spread=0.001)
    cases = {
        key: replace(
            run.cases[key], case=msgspec.structs.replace(run.cases[key].case, rpcs_per_call=n)
        )
        for key, n in zip(keys, rpcs, strict=True)
    }
    assert found(replace(run, cases=cases))["storage-rpc-per-block"].status == status
    assert found(run)["storage-rpc-per-block"].status == "unchecked"


@pytest.mark.parametrize(("first", "status"), [(3.0, "found"), (1.0, "absent")])
def test_first_calls_that_are_cold(first: float, status: str) -> None:
    made_run = Synthetic(noise=0.001).records()
    for record in made_run:
        if record["type"] == "first" and record["case"]:
            record["ns"] = round(int(str(record["ns"])) / 1.7 * first)
    run = run_from(made_run)
    assert found(run)["cold-cache"].status == status
    assert found(made({EMPTY: 50e3}))["cold-cache"].status == "unchecked"


def test_an_emulated_board_says_so() -> None:
    run = made({EMPTY: 50e3})
    assert run.run is not None
    assert found(run)["emulated"].status == "found"
    real = replace(run, run=msgspec.structs.replace(run.run, emulated=False))
    assert found(real)["emulated"].status == "absent"
    assert found(replace(run, run=None))["emulated"].status == "unchecked"


def with_cpu(
    kernel_us: int, openssl_us: int, kernel_ns: float = 400e3, size: int = 65536
) -> RunData:
    """The kernel and OpenSSL on a message; what each takes of the CPU."""
    keys = {"afalg": (kernel_ns, kernel_us), "openssl": (200e3, openssl_us)}
    run = made(
        {f"oneshot/sha256/{name}/{size}": ns for name, (ns, _) in keys.items()},
        spread=0.001,
        watched_reason="not of interest here",
    )
    cases = dict(run.cases)
    for name, (_, used) in keys.items():
        key = f"oneshot/sha256/{name}/{size}"
        starts = tuple(
            tuple(
                msgspec.structs.replace(one, user_us=used + one.seq % 3, sys_us=0) for one in start
            )
            for start in run.cases[key].starts
        )
        cases[key] = replace(run.cases[key], starts=starts)
    return replace(run, cases=cases)


def test_a_slower_driver_that_frees_the_cpu() -> None:
    assert found(with_cpu(50, 200))["cpu-time-per-byte"].status == "found"
    assert found(with_cpu(400, 200))["cpu-time-per-byte"].status == "absent"
    assert found(with_cpu(50, 200, kernel_ns=100e3))["cpu-time-per-byte"].status == "absent"
    assert found(made({EMPTY: 50e3}))["cpu-time-per-byte"].status == "unchecked"
    unclear = found(with_cpu(190, 200))["cpu-time-per-byte"]
    clear = with_cpu(400, 200, size=4096)
    both = replace(clear, cases={**with_cpu(190, 200).cases, **clear.cases})
    assert found(both)["cpu-time-per-byte"].status == "undecided"
    assert unclear.status == "undecided"
    assert [one.what for one in unclear.figures] == [
        "CPU time of oneshot/sha256/afalg/65536 over oneshot/sha256/openssl/65536",
        "time",
    ]


def call(functions: Mapping[str, tuple[int, int]], *, smcs: int = 1, named: bool = True) -> Trace:
    """A traced empty call: 10,000 instructions of the kernel, and functions of OP-TEE's core with
    their own instructions and how often they were called."""
    nodes = [Node(-1, 0, 10_000, 1)]
    nodes += [Node(0, n, own, calls) for n, (own, calls) in enumerate(functions.values(), 1)]
    core = [Function("S-EL1", "core", name, named) for name in functions]
    total = sum(node.self for node in nodes)
    case = CaseTrace(
        EMPTY,
        total,
        (Sample(total, total),),
        (Function("EL1", "kernel", "ioctl"), *core),
        tuple(nodes),
        passes=(Pass("S-EL1", "EL3", "SMC", smcs), Pass("EL3", "EL1", "ERET", 1)),
    )
    return Trace(1, "OP-TEE 4.10.0-2 from source", (case,))


def by_trace(traced: Trace | None) -> dict[str, str]:
    return {cause.name: cause.status for cause in trace_causes.inside(traced)}


REFUSED = "invoke/refused/tee/none"


@pytest.mark.parametrize(
    ("empty", "refused", "status"),
    [
        (57_212, 11_544, "found"),  # Debian's 4.5
        (41_605, 9_467, "found"),  # 4.10 for size, without CFG_TEE_CORE_DEBUG
        (29_888, 11_129, "absent"),  # 4.10 with CFG_CC_OPT_LEVEL=2
        (16_954, 8_623, "absent"),  # and without CFG_TEE_CORE_DEBUG
    ],
)
def test_a_core_built_for_size_is_told_from_outside(
    empty: float, refused: float, status: str
) -> None:
    """By counts alone: in time, an entry may be slow for other reasons."""
    calls = {EMPTY: empty, REFUSED: refused}
    cause = found(run_with(calls))["size-optimised-core"]
    assert cause.status == status
    (figure,) = cause.figures
    assert (figure.what, figure.unit) == (f"{EMPTY} over {REFUSED}", "times")
    assert figure.value.value == pytest.approx(empty / refused)
    or_trace = "or a trace with the names of the core"
    for other, lacks in (
        (run_with(calls, spread=0.01), "a board that counts instructions"),
        (run_with({EMPTY: empty}), REFUSED),
        (run_with({REFUSED: refused}), EMPTY),
    ):
        cause = found(other)["size-optimised-core"]
        assert (cause.status, cause.lacks) == ("unchecked", f"{lacks}, {or_trace}")


def test_a_trace_overrules_what_is_told_from_outside() -> None:
    run = run_with({EMPTY: 57_212, REFUSED: 11_544})
    for trace, status in (
        (None, "found"),
        (call(QUIET, named=False), "found"),
        (call(QUIET), "absent"),
    ):
        every = trace_causes.causes(run, models.build(run), trace)
        told = {cause.name: cause.status for cause in every}
        assert told["size-optimised-core"] == status


QUIET = {"memset": (1200, 1), "user_ta_enter": (200, 1)}


@pytest.mark.parametrize(
    ("name", "traced"),
    [
        ("size-optimised-core", call({"memset": (20_484, 1)})),
        ("core-debug", call(QUIET | {"spinlock_count_incr": (63, 7)})),
        (
            "lazy-vfp",
            call(QUIET | {"thread_user_enable_vfp": (33, 1), "el0_sync_abort": (486, 1)}),
        ),
        ("pager", call(QUIET | {"tee_pager_handle_fault": (900, 2)})),
        ("spectre-workaround-smc", call(QUIET, smcs=3)),
    ],
)
def test_what_a_trace_shows(name: str, traced: Trace) -> None:
    """Each signature is its own cause's alone, and a quiet call has none."""
    assert by_trace(traced) == {
        one: "found" if one == name else "absent" for one in trace_causes.RULES
    }
    assert set(by_trace(call(QUIET)).values()) == {"absent"}


def test_a_window_that_begins_inside_memset_is_no_error() -> None:
    """A frame that the window comes back to was called by nothing in it."""
    assert by_trace(call({"memset": (900, 0)}))["size-optimised-core"] == "unchecked"
    traced = call({"memset": (900, 0), "user_ta_enter": (200, 1)}).cases[0]
    for own, status in ((20_484, "found"), (1_200, "absent")):
        nodes = (*traced.nodes, Node(0, 1, own, 1))
        whole = msgspec.structs.replace(traced, nodes=nodes)
        assert by_trace(Trace(1, "OP-TEE", (whole,)))["size-optimised-core"] == status


@pytest.mark.parametrize(("calls", "legs"), [(1, 0), (0, 0), (0, 1)])
def test_a_call_whose_begin_the_window_lacks_has_no_second_leg(calls: int, legs: int) -> None:
    functions = (Function("EL0", "program", "main"), Function("EL1", "kernel", "optee_smccc_smc"))
    case = CaseTrace(
        EMPTY, 150, (Sample(1, 1),), functions, (Node(-1, 0, 100, calls), Node(0, 1, 50, legs))
    )
    assert roles(case) == {"client": 100, "switch": 50}


def test_an_abort_without_vector_registers_is_no_lazy_vfp() -> None:
    assert by_trace(call(QUIET | {"el0_sync_abort": (900, 1)}))["lazy-vfp"] == "absent"


def test_without_a_trace_that_has_names_nothing_is_claimed() -> None:
    other = call(QUIET)
    other = msgspec.structs.replace(
        other, cases=(msgspec.structs.replace(other.cases[0], case="shm/x"),)
    )
    for traced in (None, other, call(QUIET, named=False)):
        assert set(by_trace(traced).values()) == {"unchecked"}


def test_a_cause_by_trace_names_the_op_tee_that_was_traced() -> None:
    for cause in trace_causes.inside(call(QUIET)):
        assert cause.facts[-1] == "OP-TEE 4.10.0-2 from source"


def test_every_cause_that_can_be_found_has_its_words() -> None:
    run = made({EMPTY: 50e3})
    every = trace_causes.causes(run, models.build(run), None)
    assert {one.name for one in every} == {*found(run), *trace_causes.RULES}
    for cause in every:
        assert words.say(run, replace(cause, status="found")).claim
        assert words.say(run, replace(cause, status="absent")).claim is None


def test_a_cause_without_words_is_not_passed_over() -> None:
    with pytest.raises(KeyError, match="no-such-cause"):
        words.say(made({EMPTY: 50e3}), Cause("no-such-cause", "found"))


def test_explain_says_what_it_checked_and_what_it_lacks(tmp_path: Path) -> None:
    Synthetic().write(tmp_path)
    text = CliRunner().invoke(command, [str(tmp_path)], standalone_mode=False).output
    assert "• emulated: " in text
    assert "• shadow-copy, for lack of" in " ".join(text.split())
    output = CliRunner().invoke(command, [str(tmp_path), "--json"], standalone_mode=False).output
    by_key = {one["key"]: one for one in json.loads(output)["verdicts"]}
    assert by_key["tmpref-registration"]["status"] == "unchecked"
    assert by_key["tmpref-registration"]["lacks"]
    assert by_key["emulated"]["status"] == "found"
