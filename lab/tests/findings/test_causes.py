# SPDX-License-Identifier: BSD-2-Clause
"""Causes of lost time: each rule on both sides of its threshold, and without its data."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import msgspec
import pytest
from click.testing import CliRunner

from synthetic import Synthetic, run_from, run_of, run_with, scattered, write
from teemark.base.finding import Finding, ranked
from teemark.cli.explain import command
from teemark.cli.trace import command as trace_command
from teemark.findings import ground, inside_core, storage
from teemark.findings.ground import EXPLAIN, Ground
from teemark.findings.rules import judge
from teemark.model.breakdown import Breakdown, Part
from teemark.model.stats import estimate, exactly
from teemark.plan.file import load_plan
from teemark.run.reader import RunData
from teemark.trace import store
from teemark.trace.profile import CaseTrace, Function, Link, Node, Trace, TracedSample
from teemark.wording import fmt
from trace_roles import roles

EMPTY = "invoke/none/tee/none"
SIZES = (0, 64, 1024, 4096, 65536, 1048576)


def made(cases: Mapping[str, float], spread: float = 0.01, **more: object) -> RunData:
    times = {key: scattered(ns, spread) for key, ns in cases.items()}
    return run_of(times, **more)  # type: ignore[arg-type]


def found(run: RunData, trace: Trace | None = None) -> dict[str, Finding]:
    return {finding.key: finding for finding in judge(Ground.of(run, trace))}


def digests(algorithm: str, **rates: float) -> dict[str, float]:
    """A run of these backends, whose bytes cost so many nanoseconds; `_` stands for `-`."""
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
    assert found(made(is_not, spread=0.001))[name].status == "ruled out"


@pytest.mark.parametrize("way", ["in", "inout", "out"])
def test_memory_is_judged_by_the_way_that_was_measured(way: str) -> None:
    """The plan `trace` measures buffers that go in and out: its reports said nothing of them."""
    times = buffers(temporary=(120_000, 500_000), allocated=(60_000, 110_000))
    run = made({key.replace("/in/", f"/{way}/"): ns for key, ns in times.items()})
    assert found(run)["tmpref-registration"].status == "found"
    assert not any(key.startswith("memory/") for key in found(run))  # said once
    mixed = buffers(temporary=(120_000, 500_000)) | {"shm/allocated/tee/out/4096": 60_000.0}
    assert found(made(mixed))["tmpref-registration"].status == "not checked"


@pytest.mark.parametrize("name", [one[0] for one in TWO_SIDES])
def test_without_its_data_it_says_what_is_lacking(name: str) -> None:
    cause = found(made({"oneshot/sha256/c/64": 900.0}))[name]
    assert (cause.status, cause.sure) == ("not checked", False)
    assert cause.lacks


@pytest.mark.parametrize(
    ("name", "cases", "lacks"),
    [
        ("console-traces", {EMPTY: 5e4}, "a trace with the names of the core"),
        (
            "size-optimised-core",
            {EMPTY: 5e4, "invoke/refused/tee/none": 1e4},
            "a trace with the names of the core",
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
            "the number of RPCs, which the kernel shows only to root",
        ),
    ],
)
def test_only_what_is_missing_is_lacking(name: str, cases: Mapping[str, float], lacks: str) -> None:
    cause = found(made(cases))[name]
    assert (cause.status, cause.lacks) == ("not checked", lacks)


def test_the_plan_that_is_named_checks_them() -> None:
    """A cause that isn't checked for lack of cases names the command that measures them."""
    named = {one.key for one in found(made({EMPTY: 5e4})).values() if one.remedy == EXPLAIN}
    assert len(named) >= 8
    keys = [case.key for case in load_plan("explain").cases]
    cases = {key: 5e4 + 60 * sum(map(int, filter(str.isdigit, key.split("/")))) for key in keys}
    run = made(cases, rpcs_per_call=3.0)
    after = {one.key for one in found(run).values() if one.remedy == EXPLAIN}
    assert after <= {"storage-rpc-per-block"}, after  # whose RPCs only --trace-events times


def test_what_scatters_across_the_threshold_is_undecided() -> None:
    run = made(buffers(temporary=(50e3, 105e3), allocated=(50e3, 100e3)), spread=0.2)
    cause = found(run)["tmpref-registration"]
    assert (cause.status, cause.sure) == ("undecided", False)


def test_a_figure_and_its_interval_have_one_unit() -> None:
    """On a board that counts instructions, what waits is a time."""
    run = run_of({EMPTY: [1000.0] * 12}, icount=True)
    on = Ground.of(run)
    waited = on.figure("opening", replace(estimate([[25e6, 26e6, 27e6] * 8], "x"), kind="waited"))
    counted = on.figure("a page", exactly(189.0))
    assert (waited.unit, counted.unit) == ("ns", "instructions")
    assert ground.written(waited) == (
        f"opening: 26.0\N{NO-BREAK SPACE}ms (25.0{fmt.TO}27.0\N{NO-BREAK SPACE}ms)"
    )
    assert ground.written(counted) == "a page: 189 instructions (exact)"


def with_machine(run: RunData, group: str, **facts: object) -> RunData:
    changed = msgspec.structs.replace(getattr(run.machine, group), **facts)
    return replace(run, machine=msgspec.structs.replace(run.machine, **{group: changed}))


BIG_LITTLE = ("cpu0 1500000", "cpu1 1500000", "cpu4 2000000")
"""teebench writes so what isn't the same of all CPUs."""
IDLE_LITTLE = ("cpu0 600000", "cpu1 1500000", "cpu4 2000000")


@pytest.mark.parametrize(
    ("now", "most", "governor", "status", "fact"),
    [
        (("600000",), ("1800000",), ("performance",), "found", "600 of 1800 MHz"),
        (("600000",), ("1800000",), ("ondemand",), "undecided", "governor ondemand"),
        (("600000",), ("1800000",), None, "undecided", "600 of 1800 MHz"),
        (("1800000",), ("1800000",), ("ondemand",), "ruled out", "1800 of 1800 MHz"),
        (BIG_LITTLE, BIG_LITTLE, ("performance",), "ruled out", "cpu0: 1500 of 1500 MHz"),
        (BIG_LITTLE, BIG_LITTLE, ("schedutil",), "ruled out", "governor schedutil"),
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
        (("x",), ("2000000",), ("performance",), "not checked", None),
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
        assert (unknown.status, unknown.lacks) == ("not checked", f"the CPUs' frequencies ({why})")
    told = {"khz_now": now, "khz_max": most, "governor": governor}
    cause = found(with_machine(run, "cpu", **told))["cpu-frequency"]
    assert cause.status == status
    assert fact is None or any(one.startswith(fact) for one in cause.evidence.split("; "))


def test_a_clock_with_coarse_steps() -> None:
    run = made({EMPTY: 50e3}, spread=0.0)
    assert found(run)["clock-resolution"].status == "not checked"
    for step, status in ((1_000, "found"), (100, "ruled out")):
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


@pytest.mark.parametrize(
    ("ns", "status"), [(5_000, "found"), (10, "ruled out"), (None, "not checked")]
)
def test_other_processes_that_take_the_cpu(ns: int | None, status: str) -> None:
    assert found(waiting(made({EMPTY: 50e3}), ns))["contention"].status == status


def test_one_sample_that_waits_leaves_a_case_as_it_is() -> None:
    """On a busy host one sample of 15 had waited for 16 % of its time, and for 0.012 % of the run:
    the first page of a new user's report said that other processes took the CPU."""
    run = made({EMPTY: 50e3, "oneshot/sha256/ta-c/1048576": 300e6})
    late, *others = (msgspec.structs.replace(s, runq_ns=0) for s in run.cases[EMPTY].samples)
    late = msgspec.structs.replace(late, runq_ns=late.ns // 2)
    cases = waiting(run, 0).cases | {EMPTY: replace(run.cases[EMPTY], starts=((late, *others),))}
    assert found(replace(run, cases=cases))["contention"].status == "ruled out"


def test_a_wait_longer_than_its_sample_lay_outside_of_it() -> None:
    """The kernel is asked before and after the clock is read. 22 ms of a sample of 0.4 ms were
    called a wait of 179 % of the calls."""
    run = made({EMPTY: 50e3})
    longest = max(sample.ns for sample in run.cases[EMPTY].samples)
    cause = found(waiting(run, 50 * longest))["contention"]
    assert cause.status == "ruled out"
    assert cause.figures[0].value == 0


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
    assert found(served)["contention"].status == "not checked"
    both = replace(of_calls, cases={**served.cases, **of_calls.cases})
    assert found(both)["contention"].status == "ruled out"


@pytest.mark.parametrize(
    ("rpcs", "status"), [(2.0, "not checked"), (0.0, "found"), (None, "found")]
)
def test_a_call_that_goes_back_to_the_normal_world_is_served(
    rpcs: float | None, status: str
) -> None:
    run = waiting(made({"rng/random/tee/64": 50e3}, rpcs_per_call=rpcs), 20_000)
    assert found(run)["contention"].status == status


def test_one_case_that_waits_isnt_lost_among_long_ones() -> None:
    """A third of an empty call: found, but ranked by next to nothing of the time of all calls."""
    hashes, empty = made({"oneshot/sha256/tee/1048576": 60e6}), made({EMPTY: 50e3})
    run = replace(hashes, cases={**waiting(hashes, 0).cases, **waiting(empty, 17_000).cases})
    cause = found(run)["contention"]
    assert (cause.status, cause.figures[1].what) == ("found", f"of {EMPTY}")
    assert cause.figures[0].value < 0.001
    assert cause.costs is not None
    assert cause.costs.of == "the time of all these calls"
    assert cause.rank < 0.001


BLOCKS = [f"storage/read/tee-ree-fs/{n}" for n in (256, 4096, 65536)]


@pytest.mark.parametrize(
    ("rpcs", "share", "status"),
    [
        ((3.0, 4.0, 20.0), 0.051, "found"),
        ((3.0, 4.0, 20.0), 0.049, "ruled out"),  # a price that is lost in what the rest takes
        ((3.0, 3.0, 3.0), 0.4, "ruled out"),
        ((3.0, 4.0, 20.0), None, "not checked"),
    ],
)
def test_rpcs_that_grow_with_the_blocks(
    rpcs: Sequence[float], share: float | None, status: str
) -> None:
    run = run_with({key: 1e6 + 1e5 * i for i, key in enumerate(BLOCKS)})
    cases = {
        key: replace(
            run.cases[key], record=msgspec.structs.replace(run.cases[key].record, rpcs_per_call=n)
        )
        for key, n in zip(BLOCKS, rpcs, strict=True)
    }
    on = Ground.of(replace(run, cases=cases))
    largest = on.models.case(BLOCKS[-1])
    assert largest is not None
    value = None if share is None else exactly(share * largest.time.median)
    parts = (Part("rpcs", value), Part("unexplained", exactly(0.0)))
    told = replace(on, breakdowns=(Breakdown(largest.key, "storage", largest, parts),))
    assert storage.rpcs(told).status == status
    assert found(run)["storage-rpc-per-block"].status == "not checked"
    if value is None:  # how often is known all the same
        says = f"The TEE calls the normal world 1.13 times a block, in {BLOCKS[-1]}."
        assert storage.rpcs(told).claim == says
    if status == "ruled out" and share == 0.049:
        wild = estimate([scattered(value.value, 90.0) if value else []], "RPCs that scatter")
        parts = (Part("rpcs", wild), Part("unexplained", exactly(0.0)))
        told = replace(on, breakdowns=(Breakdown(largest.key, "storage", largest, parts),))
        interval = storage.rpcs(told).figures[1].interval
        assert interval is not None
        assert (interval.low, interval.high) == (0.0, 1.0)  # a report had a share below zero


@pytest.mark.parametrize(("first", "status"), [(3.0, "found"), (1.0, "ruled out")])
def test_first_calls_that_are_cold(first: float, status: str) -> None:
    made_run = Synthetic(noise=0.001).records()
    for record in made_run:
        if record["type"] == "first" and record["case"]:
            record["ns"] = round(int(str(record["ns"])) / 1.7 * first)
    run = on_silicon(run_from(made_run))
    assert found(run)["cold-cache"].status == status
    assert found(on_silicon(made({EMPTY: 50e3})))["cold-cache"].status == "not checked"


def on_silicon(run: RunData) -> RunData:
    assert run.header is not None
    real = replace(run, header=msgspec.structs.replace(run.header, emulated=False))
    return with_machine(real, "board", emulated=False)


def test_a_board_without_caches_clears_none() -> None:
    cause = found(Synthetic(noise=0.001).run())["cold-cache"]
    assert (cause.status, cause.lacks) == ("not checked", "a CPU with caches: this one is emulated")


def test_an_opened_ta_on_a_clock_that_goes_on_is_uncertain() -> None:
    """The report says of such times that nothing follows from them."""
    waits = [25e6, 26e6, 27e6, 31e6] * 4
    cases = {"session/first-open/tee/none": waits, "session/open/tee/none": [70e3] * 16}
    exact = {key: [values[0]] * 16 for key, values in cases.items()}
    for times, icount, sure in ((cases, True, False), (exact, True, True), (cases, False, True)):
        cause = found(run_of(times, icount=icount))["ta-load-first-call"]
        assert (cause.status, cause.sure) == ("found" if sure else "undecided", sure)
        assert ("nothing follows" in cause.evidence) != sure


SLOW = digests("sha256", tee=60.0, ta_ce=2.0, ta_c=30.0)


@pytest.mark.parametrize(
    ("cases", "spread", "status", "sure"),
    [
        (SLOW, 0.0, "found", True),  # instructions that are counted have no other explanation
        (SLOW, 0.001, "found", False),
        (SLOW | digests("sm3", tee=60.0, ta_c=30.0), 0.001, "found", True),
        # The TEE is 30 times slower with code that the CPU has no instructions for, too.
        (SLOW | digests("sm3", tee=900.0, ta_c=30.0), 0.001, "ruled out", True),
        (SLOW | digests("sm3", tee=900.0, ta_c=30.0), 0.0, "found", True),
    ],
)
def test_a_tee_that_is_slow_all_over_isnt_told_to_use_what_it_uses(
    cases: Mapping[str, float], spread: float, status: str, sure: bool
) -> None:
    run = run_with(cases, spread)
    cause = found(run)["no-crypto-extensions-in-tee"]
    assert (cause.status, cause.sure) == (status, sure)
    assert ("looks as if" in cause.claim) == (status == "found" and not sure)


def test_causes_are_ranked_by_what_they_cost() -> None:
    """The dearest of a call at hand first; those whose price isn't known come last."""
    cheap = buffers(temporary=(55e3, 110e3), allocated=(50e3, 100e3))
    first, *others = ranked(tuple(found(run_with(SLOW | cheap)).values()))
    assert first.key == "no-crypto-extensions-in-tee"
    assert first.saves is not None
    assert first.saves.value == pytest.approx(1 - 2 / 60, rel=0.01)
    assert [one.rank for one in others] == sorted((one.rank for one in others), reverse=True)
    dear = buffers(temporary=(5e6, 9e6), allocated=(50e3, 100e3))
    assert ranked(tuple(found(run_with(SLOW | dear)).values()))[0].key == "tmpref-registration"


def test_an_emulated_board_says_so() -> None:
    run = made({EMPTY: 50e3})
    assert run.header is not None
    assert found(run)["emulated"].status == "found"
    real = replace(run, header=msgspec.structs.replace(run.header, emulated=False))
    assert found(real)["emulated"].status == "ruled out"
    assert found(replace(run, header=None))["emulated"].status == "not checked"


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
    assert found(with_cpu(400, 200))["cpu-time-per-byte"].status == "ruled out"
    assert found(with_cpu(50, 200, kernel_ns=100e3))["cpu-time-per-byte"].status == "ruled out"
    assert found(made({EMPTY: 50e3}))["cpu-time-per-byte"].status == "not checked"
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
        (TracedSample(total, total),),
        (Function("EL1", "kernel", "ioctl"), *core),
        tuple(nodes),
        passes=(Link("S-EL1", "EL3", "SMC", smcs), Link("EL3", "EL1", "ERET", 1)),
    )
    return Trace(1, "OP-TEE 4.10.0-2 from source", (case,))


def by_trace(traced: Trace | None) -> dict[str, str]:
    causes = found(made({EMPTY: 50e3}), traced)
    return {key: causes[key].status for key in inside_core.RULES}


REFUSED = "invoke/refused/tee/none"
FROM_SOURCE = f"teemark trace {EMPTY} --optee source"


@pytest.mark.parametrize(
    ("empty", "refused", "status"),
    [
        (57_212, 11_544, "found"),  # Debian's 4.5
        (77_212, 11_544, "found"),  # and an entry that does more, by 20,000 instructions
        (56_370, 12_185, "found"),  # 4.10
        (41_605, 9_467, "found"),  # 4.10 for size, without CFG_TEE_CORE_DEBUG
        (29_888, 11_129, "not checked"),  # 4.10 with CFG_CC_OPT_LEVEL=2
        (16_954, 8_623, "not checked"),  # and without CFG_TEE_CORE_DEBUG
    ],
)
def test_a_core_built_for_size_is_a_suspicion_from_outside(
    empty: float, refused: float, status: str
) -> None:
    """Counts alone find it: in time, an entry may be slow for other reasons. Nor do counts prove
    it, or clear it: other work may be put into an entry, and other switches may be dear."""
    calls = {EMPTY: empty, REFUSED: refused}
    cause = found(run_with(calls))["size-optimised-core"]
    assert (cause.status, cause.sure) == (status, False)
    (figure,) = cause.figures
    assert (figure.what, figure.unit) == (f"{EMPTY} over {REFUSED}", "times")
    assert figure.value == pytest.approx(empty / refused)
    assert (f"what-if {EMPTY}" if status == "found" else FROM_SOURCE) in cause.remedy
    if status == "found":
        assert "looks built for size" in cause.claim
        assert cause.saves is not None
        assert cause.saves.at_most
        assert 0.4 < cause.saves.value < 0.51 or (empty == 77_212 and cause.saves.value < 0.4)
        if refused == 12_185:
            assert cause.saves.value == pytest.approx(0.47, abs=0.005), "as what-if measured it"
    for other in (
        run_with(calls, spread=0.01),
        run_with({EMPTY: empty}),
        run_with({REFUSED: refused}),
    ):
        cause = found(other)["size-optimised-core"]
        assert (cause.status, cause.remedy) == ("not checked", FROM_SOURCE)


def test_a_trace_overrules_what_is_told_from_outside() -> None:
    run = run_with({EMPTY: 57_212, REFUSED: 11_544})
    for trace, status in (
        (None, "found"),
        (call(QUIET, named=False), "found"),
        (call(QUIET), "ruled out"),
    ):
        assert found(run, trace)["size-optimised-core"].status == status


def test_a_trace_is_never_asked_of_another_version_than_the_board_s() -> None:
    """`--optee source` is Debian's version; a board's own, and that of a tree, need its sources."""
    records = Synthetic(emulated=False).records()
    records[1] = {**records[1], "tee": {"revision": "4.6.0"}}
    tree = Synthetic().records()
    commit = {"hash": "1" * 40}
    tree[0] |= {"firmware": [{"name": "OP-TEE", "sha256": "0", "commit": commit}]}
    for lines in (records, tree):
        causes = found(run_from(lines))
        asked = [one.remedy for one in causes.values() if "teemark trace" in one.remedy]
        assert len(asked) >= len(inside_core.RULES)
        assert not [remedy for remedy in asked if "--optee source" in remedy]
        lacks = causes["core-debug"].lacks
        assert ("4.6.0" in lacks) == (lines is records)


def test_trace_says_which_cause_it_confirms_and_by_which_share(tmp_path: Path) -> None:
    """The headline's command printed a flame graph's table and no verdict."""
    write(Synthetic(identical=True).records(), tmp_path)
    for functions, says in (
        (QUIET | {"memset": (5000, 1)}, "size-optimised-core, confirmed: OP-TEE's core is built"),
        (QUIET, "size-optimised-core, not the cause: instructions of memset"),
    ):
        store.write(call(functions), tmp_path)
        command_line = [EMPTY, "--read", str(tmp_path)]
        output = CliRunner().invoke(trace_command, command_line, standalone_mode=False).output
        (line,) = [line for line in output.splitlines() if line.startswith("size-optimised-core")]
        share = functions["memset"][0] / call(functions).cases[0].instructions
        assert line.startswith(says)
        assert f"memset in the core, of {EMPTY}: {fmt.percent(share)}" in line
    store.write(call(QUIET, named=False), tmp_path)
    run = run_from(Synthetic(identical=True).records())
    suspected = run_with({EMPTY: 57_212, REFUSED: 11_544})  # No more than that, from outside
    for one in (run, suspected):
        assert list(inside_core.confirmed(one, call(QUIET, named=False))) == [
            "No cause is confirmed or ruled out: OP-TEE 4.10.0-2 from source has no names of its "
            "core."
        ]


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
        one: "found" if one == name else "ruled out" for one in inside_core.RULES
    }
    assert set(by_trace(call(QUIET)).values()) == {"ruled out"}


def test_a_window_that_begins_inside_memset_is_no_error() -> None:
    """A frame that the window comes back to was called by nothing in it."""
    assert by_trace(call({"memset": (900, 0)}))["size-optimised-core"] == "not checked"
    traced = call({"memset": (900, 0), "user_ta_enter": (200, 1)}).cases[0]
    for own, status in ((20_484, "found"), (1_200, "ruled out")):
        nodes = (*traced.nodes, Node(0, 1, own, 1))
        whole = msgspec.structs.replace(traced, nodes=nodes)
        assert by_trace(Trace(1, "OP-TEE", (whole,)))["size-optimised-core"] == status


@pytest.mark.parametrize(("calls", "legs"), [(1, 0), (0, 0), (0, 1)])
def test_a_call_whose_begin_the_window_lacks_has_no_second_leg(calls: int, legs: int) -> None:
    functions = (Function("EL0", "program", "main"), Function("EL1", "kernel", "optee_smccc_smc"))
    case = CaseTrace(
        EMPTY,
        150,
        (TracedSample(1, 1),),
        functions,
        (Node(-1, 0, 100, calls), Node(0, 1, 50, legs)),
    )
    assert roles(case) == {"client": 100, "switch": 50}


def test_an_abort_without_vector_registers_is_no_lazy_vfp() -> None:
    assert by_trace(call(QUIET | {"el0_sync_abort": (900, 1)}))["lazy-vfp"] == "ruled out"


def test_without_a_trace_that_has_names_nothing_is_claimed() -> None:
    other = call(QUIET)
    other = msgspec.structs.replace(
        other, cases=(msgspec.structs.replace(other.cases[0], case="shm/x"),)
    )
    for traced in (None, other, call(QUIET, named=False)):
        assert set(by_trace(traced).values()) == {"not checked"}


def test_a_cause_by_trace_names_the_op_tee_that_was_traced() -> None:
    causes = found(made({EMPTY: 50e3}), call(QUIET))
    for key in inside_core.RULES:
        assert causes[key].evidence.endswith("; OP-TEE 4.10.0-2 from source")


def test_what_op_tee_does_by_itself_is_no_advice() -> None:
    cause = found(made({EMPTY: 50e3}), call(QUIET, smcs=3))["spectre-workaround-smc"]
    assert (cause.status, cause.advice) == ("found", "")


def logging(case: str, instructions: int) -> Trace:
    (traced,) = call(QUIET | {"trace_ext_puts": (instructions, 1)}).cases
    return Trace(1, "OP-TEE", (msgspec.structs.replace(traced, case=case),))


def test_a_price_is_no_loss() -> None:
    """A workload that writes lines on purpose tells what one costs, not that calls write any."""
    lines = {EMPTY: 50e3} | {f"log/lines/tee/{n}": 50e3 + n * 900e3 for n in (0, 1, 2, 4)}
    run = run_with(lines)
    price = found(run)["console-traces"]
    assert (price.status, price.remedy) == ("not checked", FROM_SOURCE)
    assert "a line would cost: 900" in price.claim
    assert found(run, logging("log/lines/tee/4", 800))["console-traces"].status == "not checked"
    assert found(run, call(QUIET))["console-traces"].status == "ruled out"
    writes = found(run, logging(EMPTY, 800))["console-traces"]
    assert writes.status == "found"
    assert writes.costs is not None
    assert writes.costs.value == pytest.approx(800 / (10_000 + 1_400 + 800))


def test_every_cause_that_can_be_found_has_its_words() -> None:
    """A cause that isn't found says nothing but its name, unless a user has to know."""
    for run, trace in ((made({EMPTY: 50e3}), None), (run_with(SLOW), call(QUIET, smcs=3))):
        for cause in found(run, trace).values():
            assert cause.status != "found" or cause.claim.endswith(".")
            assert cause.status != "not checked" or cause.lacks


def test_explain_says_what_it_checked_and_what_it_lacks(tmp_path: Path) -> None:
    Synthetic().write(tmp_path)
    text = CliRunner().invoke(command, [str(tmp_path)], standalone_mode=False).output
    assert "! Emulated board: " in text
    assert ". To check: teemark run --plan explain --trace-events." in " ".join(text.split())
    output = CliRunner().invoke(command, [str(tmp_path), "--json"], standalone_mode=False).output
    by_key = {one["key"]: one for one in json.loads(output)["findings"]}
    assert by_key["tmpref-registration"]["status"] == "not checked"
    assert by_key["tmpref-registration"]["lacks"]
    assert by_key["emulated"]["status"] == "found"


def test_a_page_of_shared_memory() -> None:
    """1 MiB has 255 pages more than 4 KiB."""
    cause = found(made(buffers(allocated=(50e3, 101e3)), spread=0.0001))["per-page-mapping"]
    assert cause.figures[1].value == pytest.approx(200.0, rel=0.001)


def test_instructions_save_a_factor_that_is_small_too() -> None:
    cause = found(made(digests("sha256", tee=8.0, ta_ce=2.0)))["no-crypto-extensions-in-tee"]
    assert cause.status == "found"


@pytest.mark.parametrize(
    ("inside", "status"), [(30.0, "found"), (10.0, "ruled out"), (5.0, "ruled out")]
)
def test_the_same_code_that_is_slower_inside(inside: float, status: str) -> None:
    cause = found(made(digests("sha256", ta_c=inside, c=10.0), spread=0.001))["same-code"]
    assert cause.status == status


def test_as_much_as_the_digest_of_so_many_bytes() -> None:
    """A message that costs twice the way: 64 B, which are 2 blocks, and 705 bytes more."""
    run = made({EMPTY: 50e3} | digests("sha256", tee=60.0), spread=0.0001)
    (claim,) = (one.claim for one in judge(Ground.of(run)) if one.key == "call-outweighs-compute")
    assert claim == "Getting in and out of the TEE costs as much as the SHA-256 of 770\u00a0B."
