# SPDX-License-Identifier: BSD-2-Clause
"""Verdicts on who did the work: made-up runs for each outcome, and for evidence that deceives."""

from collections.abc import Sequence
from typing import Any

import pytest

from synthetic import MACHINE, run_from
from teemark.findings.offload import Offload, device_lines, offloads, reached_drivers
from teemark.findings.subject import subjects
from teemark.model.models import build
from teemark.page import markdown
from teemark.report.sections.offload import offload
from teemark.run.reader import RunData
from teemark.run.records import Watched

DEVICE = "ITS-PCI-MSIX 1 Edge virtio4-virtqueues"
TIMER = "GICv3 27 Level arch_timer"
NEON, CE = 15.5, 2.38  # cycles a byte of a Cortex-A53


def case(
    driver: str | None = "sha256-generic",
    *,
    backend: str = "",
    ns: float = 200_000,
    cpu: float = 1.0,
    raised: float = 0.0,
    idle: int = 0,
    size: int = 16384,
    priority: int = 100,
    line: str = DEVICE,
    masked: Sequence[float] | None = None,
) -> list[dict[str, Any]]:
    """A case whose calls take `ns`, `cpu` of them with a CPU, with `raised` interrupts a call."""
    backend = backend or ("openssl" if driver is None else f"afalg:{driver}")
    key = f"oneshot/sha256/{backend}/{size}"
    calls = 100
    about: dict[str, Any] = {
        "type": "case",
        "case": key,
        "workload": "oneshot",
        "algorithm": "sha256",
        "backend": backend,
        "parameters": str(size),
        "bytes": size,
        "verified": True,
        "samples": 12,
        "repeat": [1],
        "loops": [10],
        "min_ns": 1000,
        "watched": {
            "calls": calls,
            "ns": int(calls * ns),
            "user_us": 0,
            "sys_us": int(calls * ns * cpu / 1000),
            "others_ns": int(calls * ns) if raised else None,
            "idle_ns": 20_000_000,
            "raised": [
                (f" 11: 5 7  {TIMER}", f" 11: {5 + 8 * calls} {7 + calls}  {TIMER}"),
                (f" 33: 10 0  {line}", f" 33: {10 + int(raised * calls)} 0  {line}"),
            ],
            "idle_raised": [(f" 33: 1 1  {line}", f" 33: {1 + idle} 1  {line}")],
        },
    }
    if driver is not None:
        about["kernel_driver"] = {"name": driver, "priority": priority}
    if masked:
        about["masked"] = {
            "variable": "OPENSSL_armcap",
            "value": "1",
            "calls": 10,
            "plain_ns": [int(1e6 * (1 + i / 1000)) for i in range(10)],
            "masked_ns": [int(1e6 * part) for part in masked],
        }
    samples = [
        {
            "type": "sample",
            "case": key,
            "seq": 0,
            "repeat": 1,
            "loops": 10,
            "ns": int(10 * ns * (1 + i / 1000)),
            "source": "client-clock",
            "user_us": 0,
            "sys_us": int(10 * ns * cpu * (1 + i / 1000) / 1000),
            "runq_ns": 0,
        }
        for i in range(12)
    ]
    return [about, *samples]


def made(
    *cases: list[dict[str, Any]],
    core: str | None = None,
    emulated: bool = False,
    drivers: Sequence[str] = (),
    skips: Sequence[dict[str, Any]] = (),
) -> RunData:
    machine = dict(MACHINE)
    if drivers:
        machine["crypto"] = {"kernel_drivers": drivers}
    if emulated:
        machine["board"] = {"emulated": True}
    if core is not None:
        machine["board"] = {"emulated": False}
        machine["cpu"] = {"models": [core], "khz_max": ["1000000"]}
    records: list[dict[str, Any]] = [machine, *(one for case in cases for one in case)]
    order = 0
    for record in records:
        if record["type"] == "sample":
            record["seq"] = order
            order += 1
    records += [{"type": "skip", **skip} for skip in skips]
    end = {"type": "end", "complete": True, "reason": "done"}
    return run_from([*records, end])


def judged(*cases: list[dict[str, Any]], **about: Any) -> list[Offload]:
    run = made(*cases, **about)
    return list(offloads(run, build(run)))


def outcome(*cases: list[dict[str, Any]], core: str | None = None) -> str:
    return judged(*cases, core=core)[0].outcome


def test_a_device_that_interrupts_each_call() -> None:
    (found,) = judged(case("virtio_crypto_aes_cbc", cpu=0.3, raised=1.0))
    assert found.outcome == "accelerator"
    (fed,) = [one.text for one in found.evidence if "kernel threads" in one.text]
    assert "took 200\N{NO-BREAK SPACE}µs of CPU time a call" in fed
    (text,) = [one.text for one in found.evidence if "raised" in one.text]
    assert "virtqueues" in text
    assert "100 times in 100 calls" in text


def test_how_cpu_time_was_split_isnt_said() -> None:
    """A kernel that counts by ticks gives a program all of what it did for it: 100 % user."""
    (found,) = judged(case("sha256-ce"))
    (text,) = [one.text for one in found.evidence if "had the CPU" in one.text]
    assert (
        text == "the process had the CPU 100\N{NARROW NO-BREAK SPACE}% of the time, "
        "without waits for it"
    )


def test_a_device_whose_driver_is_not_known() -> None:
    assert outcome(case("new-sha256", cpu=0.3, raised=1.0)) == "accelerator"


def test_a_device_that_is_polled_leaves_the_cpu_idle() -> None:
    assert outcome(case("omap-sha256", cpu=0.2)) == "accelerator"


def test_some_of_the_calls() -> None:
    assert outcome(case("omap-sha256", cpu=0.8, raised=0.2)) == "mixed"


def test_a_driver_of_a_device_that_computes_itself() -> None:
    """Below its threshold, or with the device gone: the name and the priority promise more."""
    assert outcome(case("omap-sha256", priority=400, size=128)) == "software"


def test_a_knee_where_the_driver_falls_back() -> None:
    small, large = judged(
        case("omap-sha256", size=128), case("omap-sha256", size=16384, cpu=0.3, raised=1.0)
    )
    assert (small.outcome, large.outcome) == ("software", "accelerator")
    (knee,) = [one.text for one in large.evidence if "takes part from" in one.text]
    assert "not up to 128" in knee
    assert "256 bytes" in knee


def test_instructions_and_software_by_the_driver_that_is_bound() -> None:
    assert outcome(case("sha256-ce", ns=20_000)) == "cpu-instructions"
    assert outcome(case("sha256-generic")) == "software"
    assert outcome(case("sha256-ce", backend="afalg")) == "cpu-instructions"


def test_a_fake_highest_priority_does_not_deceive() -> None:
    assert outcome(case("sha256-generic", backend="afalg", priority=9999)) == "software"


@pytest.mark.parametrize(
    ("cycles", "says"),
    [(CE, "cpu-instructions"), (NEON, "software"), (NEON * 2, "software")],
)
def test_a_driver_that_is_not_known_by_its_cycles(cycles: float, says: str) -> None:
    strange = case("sha256-mystery", ns=cycles * 16384)
    assert outcome(strange, core="ARM Cortex-A53 r0p4") == says
    assert outcome(strange) == "unknown"  # of what core?


def test_a_name_that_its_cycles_contradict() -> None:
    fast = case("sha256-generic", ns=CE * 16384)
    assert outcome(fast, core="ARM Cortex-A53 r0p4") == "unknown"


def test_lines_that_rise_at_rest_or_belong_to_the_cpu_are_nobodys() -> None:
    busy = case("sha256-generic", raised=1.0, idle=100)
    assert outcome(busy) == "software"
    assert outcome(case("sha256-generic", raised=1.0, line="Rescheduling timer")) == "software"


@pytest.mark.parametrize(
    "line", ["ITS-PCI-MSIX-0000:00:01.0 2 Edge virtio0-req.1", "GICv2 106 Level mmc0", "41 eth0"]
)
def test_a_disk_or_a_network_is_no_accelerator(line: str) -> None:
    """A file is read and written: OpenSSL's case has no driver whose name would say more."""
    same = [1 + i / 1000 for i in range(10)]
    assert outcome(case(None, raised=4.0, line=line, masked=same)) == "software"


def test_another_device_beside_the_cpus_instructions() -> None:
    hidden = [2.0 + i / 1000 for i in range(10)]
    assert outcome(case(None, raised=4.0, masked=hidden)) == "unknown"


def test_another_device_beside_software() -> None:
    assert outcome(case("sha256-generic", raised=1.0)) == "unknown"


def test_time_that_nobody_accounts_for() -> None:
    assert outcome(case("sha256-generic", cpu=0.4)) == "unknown"


@pytest.mark.parametrize(
    ("hidden", "says", "emulated"),
    [
        (2.0, "cpu-instructions", "cpu-instructions"),
        (1.18, "unknown", "unknown"),
        (1.0, "software", "software"),
        (0.8, "unknown", "cpu-instructions"),  # an emulator's own may be slower than plain code
    ],
)
def test_openssl_with_its_instructions_hidden(hidden: float, says: str, emulated: str) -> None:
    found = case(None, masked=[hidden * (1 + i / 1000) for i in range(10)])
    assert outcome(found) == says
    (judged_there,) = judged(found, emulated=True)
    assert judged_there.outcome == emulated


def test_openssl_that_nobody_compared() -> None:
    assert outcome(case(None)) == "unknown"


def test_the_longest_message_speaks_for_the_shorter_ones() -> None:
    hidden = [2.0 + i / 1000 for i in range(10)]
    small, _ = judged(case(None, size=64, ns=500), case(None, masked=hidden))
    assert small.outcome == "cpu-instructions"


def test_without_counts_there_is_no_verdict_on_a_device() -> None:
    blind = case("omap-sha256")
    blind[0]["watched"] = None
    blind[0]["watched_reason"] = "cannot read /proc/interrupts"
    assert outcome(blind) == "unknown"


def test_cases_of_older_runs_have_none() -> None:
    old = case("omap-sha256")
    del old[0]["watched"]
    assert judged(old) == []


def test_the_report_has_a_row_for_each_outcome() -> None:
    """Sizes stand there only where they decide who did the work."""
    run = made(
        case("omap-sha256", size=128),
        case("omap-sha256", size=16384, cpu=0.3, raised=1.0),
        *(case("sha256-ce", size=size) for size in (64, 1024)),
    )
    section = offload(subjects([run]))
    assert section is not None
    text = markdown.render("", "", [section], ()).replace("\N{NO-BREAK SPACE}", " ")
    for row in (
        "| `afalg:omap-sha256` | **software** | SHA-256 at 128 B |",
        "| `afalg:omap-sha256` | **accelerator** | SHA-256 at 16 KiB |",
        "| `afalg:sha256-ce` | **CPU instructions** | SHA-256 |",
    ):
        assert row in text


def test_the_report_says_which_devices_af_alg_reaches() -> None:
    """The report says which drivers AF_ALG reached and which it refused; where no case asked, it
    names the command that would."""
    run = made(
        case("omap-sha256", cpu=0.3, raised=1.0),
        case("stm32-sha256"),
        case("sha256-ce"),
        drivers=[
            "sha256 omap-sha256 priority 400 ahash module omap_sham",
            "sha1 rk-sha1 priority 300 ahash module rk",
            "cbc(aes) virtio_crypto_aes_cbc priority 150 skcipher module virtio_crypto",
            "rsa rsa-caam priority 150 akcipher module caam_jr",
            "shash",
            "sha256 sha256-ce priority 200 shash module sha2_ce",
        ],
        skips=[
            {"case": "oneshot/sha1/afalg:rk-sha1/64", "reason": "no {driver} rk-sha1.", "code": "x"}
        ],
    )
    assert reached_drivers(run, offloads(run, build(run))) == (
        "AF_ALG reaches a device by omap-sha256: the evidence is below.",
        "AF_ALG doesn't reach a device by rk-sha1: no {driver} rk-sha1.",
        "AF_ALG takes stm32-sha256, but nothing shows that the device worked.",
        "No case used virtio_crypto_aes_cbc. `teemark doctor BOARD --accelerators` shows whether "
        "AF_ALG reaches a device by it.",
    )
    section = offload(subjects([run]))
    assert section is not None
    assert "`teemark doctor BOARD --accelerators` shows" in markdown.render("", "", [section], ())
    assert reached_drivers(made(case("sha256-ce")), ()) == ()


@pytest.mark.parametrize(("idle", "rates"), [(30, []), (20, [0.8])])
def test_a_line_has_to_rise_four_times_as_often_as_at_rest(idle: int, rates: list[float]) -> None:
    watched = Watched(
        calls=100,
        ns=20_000_000,
        user_us=0,
        sys_us=0,
        idle_ns=20_000_000,
        raised=((" 33: 0 a crypto engine", " 33: 100 a crypto engine"),),
        idle_raised=((" 33: 0 a crypto engine", f" 33: {idle} a crypto engine"),),
    )
    assert [rate for _, rate in device_lines(watched)] == rates


def test_lines_of_proc_interrupts() -> None:
    """A line of all CPUs, of one for the machine, of its own; a CPU that went away."""
    device = "ITS-PCI-MSIX-0000:00:05.0   1 Edge      virtio4-virtqueues"
    watched = Watched(
        calls=1,
        ns=1,
        user_us=0,
        sys_us=0,
        raised=(
            ("       CPU0       CPU1", "       CPU0"),
            (f" 33:   40   48   {device}", f" 33:   50   49   {device}"),
            ("IPI0:  300  400  Rescheduling interrupts", "IPI0: 300 402 Rescheduling interrupts"),
            ("Err:   7", "Err:  9"),
            (" 34:   40   48   a", " 34:   50   a"),
            (" 35:   40   48   b", " 35:   30   b"),
        ),
        idle_raised=((f" 33: 30 40 {device}", f" 33: 33 40 {device}"),),
    )
    found = [(line.line, line.name, line.count, line.idle) for line in watched.lines]
    assert found == [
        ("33", "ITS-PCI-MSIX-0000:00:05.0 1 Edge virtio4-virtqueues", 11, 3),
        ("IPI0", "Rescheduling interrupts", 2, 0),
        ("Err", "", 2, 0),
        ("34", "a", 10, 0),
    ]


def test_cpu_time_is_that_of_a_call() -> None:
    run = made(case("sha256-generic", cpu=0.5))
    stats = build(run).stats[0]
    assert stats.cpu is not None
    assert stats.cpu.value == pytest.approx(0.5 * stats.time.median, rel=0.01)
