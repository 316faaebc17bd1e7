# SPDX-License-Identifier: BSD-2-Clause
"""The deterministic board: two boots measure the same, and teebench measures what xtest does."""

import json
import re
import statistics
import warnings
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import inside
from conftest import THOROUGH, reboot
from synthetic import unexplained
from teemark.boards import VirtualBoard, ensure_installed, install, new_ta, own_ta
from teemark.cli import main as cli
from teemark.exact import gate
from teemark.exact.baseline import held_against
from teemark.findings import trust
from teemark.findings.ground import Ground
from teemark.measure import runner
from teemark.model import models
from teemark.model.breakdown import breakdowns
from teemark.model.compare import KERNEL_LIMIT, LIMIT, compare
from teemark.model.counter import TOLERANCE
from teemark.model.forms import AFALG
from teemark.plan.file import Plan, load_plan, parse_plan
from teemark.run import reader
from teemark.run.reader import RunData
from teemark.trace.profile import Trace

pytestmark = [pytest.mark.board, pytest.mark.long(170)]

SMALL = """\
summary = "What must come out the same, whatever else is measured beside it."

[[cases]]
workload = "invoke"
backends = ["tee"]
samples = 9

[[cases]]
workload = "oneshot"
algorithms = ["sha256"]
backends = ["tee", "ta-c", "ta-ce", "c", "ce", "openssl", "afalg"]
sizes = ["16KiB"]
samples = 9
"""


def thinned(name: str, samples: int, largest: int) -> Plan:
    """A plan with fewer samples, and without the sizes that take most of the time."""
    plan = load_plan(name)

    def fits(parameters: str) -> bool:
        return not parameters.isdigit() or int(parameters) <= largest

    return replace(
        plan,
        cases=tuple(
            replace(case, samples=samples) for case in plan.cases if fits(case.work.parameters)
        ),
    )


BASELINE = Path(__file__).parents[1] / "gate.toml"

QUIETLY = ("--align-tick", "8", "--quiet-until-end")


def measured_by_teebench(board: VirtualBoard, *words: str) -> RunData:
    done = board.capture(["teebench", "--samples", "9", "--settle", "1", *words], timeout=300)
    return reader.parse(done.stdout.splitlines(keepends=True), file="teebench")


def measured(
    board: VirtualBoard, plan: Plan, folder: Path, ta: own_ta.OwnTa | None = None
) -> RunData:
    built = own_ta.build_for(ta, plan.ta, board)
    ensure_installed(board)
    with install.guest(board, built.file if built else None, tell=lambda _: None):
        outcome = runner.measure(
            board, plan, folder, runner.RunListener(), options=("--no-evidence",)
        )
    assert outcome.error is None
    run = reader.read(folder)
    assert run.incomplete is None
    assert not run.fails
    return run


def compared(
    capfd: pytest.CaptureFixture[str], base: Path, new: Path
) -> tuple[int, dict[str, Any]]:
    """The command says so, with the strictest limit."""
    status = cli.run(["compare", str(base), str(new), "--json", "--fail-on", "0%"])
    (found,) = json.loads(capfd.readouterr().out)["comparisons"]
    return status, found


def test_this_project_passes_its_own_gate(qemu_v8_icount: VirtualBoard, tmp_path: Path) -> None:
    """The first of this boot, as in the baseline: calls, sessions, digests and teehash take no
    instruction more than when lab/tests/gate.toml was committed."""
    file = BASELINE
    baseline = gate.read(file)
    other = gate.differing(baseline, qemu_v8_icount.file)
    if other:
        pytest.skip(f"the gate's baseline was made with other versions: {other}")
    plan = load_plan(baseline.plan)
    boots = [gate.measure(qemu_v8_icount, plan, tmp_path / "first")]
    found = held_against(baseline, *boots)
    if found.of("worse"):
        reboot(qemu_v8_icount)
        ensure_installed(qemu_v8_icount)
        boots.append(gate.measure(qemu_v8_icount, plan, tmp_path / "second"))
        found = held_against(baseline, *boots)
    assert found.lost == ()
    moved = [one for one in found.pairs if one.moved]
    worse = [(one.name, one.added) for one in moved if one.verdict == "worse"]
    assert not worse, f"dearer; if it is meant: teemark gate --baseline {file} --update"
    if better := [one.name for one in moved]:
        warnings.warn(f"cheaper than in {file}, which should be updated: {better}", stacklevel=1)


def test_what_makes_it_deterministic(qemu_v8_icount: VirtualBoard) -> None:
    assert qemu_v8_icount.deterministic
    assert qemu_v8_icount.capture(["nproc"]).text == "1\n"
    assert "norandmaps" in qemu_v8_icount.capture(["cat", "/proc/cmdline"]).text


def test_two_boots_measure_the_same(qemu_v8_icount: VirtualBoard, tmp_path: Path) -> None:
    """A few cases, to the instruction but for what the kernel's own crypto differs by. Where the
    gate's baseline holds it has compared this boot with another one."""
    if not THOROUGH and not gate.differing(gate.read(BASELINE), qemu_v8_icount.file):
        pytest.skip("the gate compared two boots")
    small = parse_plan(SMALL, name="small", file="small")
    first = measured(qemu_v8_icount, small, tmp_path / "first")
    reboot(qemu_v8_icount)
    pairs = compare(first, measured(qemu_v8_icount, small, tmp_path / "second")).pairs
    assert len(pairs) == 8
    for one in pairs:
        kernel = one.work is not None and one.work.by == AFALG
        assert abs(one.change) <= (KERNEL_LIMIT if kernel else LIMIT), one


@pytest.mark.exhaustive
def test_two_boots_and_two_runs_in_one_boot_give_the_same_medians(
    qemu_v8_icount: VirtualBoard, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """Everything that `quick` measures but its longest messages; by `teemark compare`."""
    quick = thinned("quick", samples=5, largest=64 << 10)
    first = measured(qemu_v8_icount, quick, tmp_path / "first")
    assert {skip.code for skip in first.skips} == {"unsupported-algorithm"}
    assert len(first.cases) == len(quick.cases) - len(first.skips) > 70
    # The cost of measuring itself, against the smallest case: a promise of 1 %.
    share = trust.harness(Ground.of(first))
    assert share is not None
    assert (share.severity, share.sure) == ("note", True), share.claim
    small = measured(
        qemu_v8_icount, parse_plan(SMALL, name="small", file="small"), tmp_path / "small"
    )
    reboot(qemu_v8_icount)
    second = measured(qemu_v8_icount, quick, tmp_path / "second")

    def apart(one: str, other: str) -> list[dict[str, Any]]:
        status, found = compared(capfd, tmp_path / one, tmp_path / other)
        assert found["only_in_base"] == found["only_in_new"] == []
        assert len(found["cases"]) == len(first.cases) + 2 * 3  # three cases have three repeats
        differ = [case for case in found["cases"] if case["verdict"] != "same"]
        assert status == any(case["verdict"] == "worse" for case in differ)
        return differ

    like_first = second
    if found := apart("first", "second"):
        # In one boot of about forty each call of the TEE's own crypto took 136 instructions more
        # (0.15 % of an empty message), and why isn't known. Two of three boots must agree.
        warnings.warn(f"the first two boots differ: {found}", stacklevel=1)
        reboot(qemu_v8_icount)
        third = measured(qemu_v8_icount, quick, tmp_path / "third")
        like_first = third if apart("first", "third") == [] else first
        assert like_first is third or apart("second", "third") == [], found
    again = compare(small, like_first).pairs
    assert len(again) == len(small.cases) == 8
    for one in again:
        kernel = one.work is not None and one.work.by == AFALG
        assert abs(one.change) <= (KERNEL_LIMIT if kernel else LIMIT), one


MORE_WORK = """\
summary = "A command whose work grows with its bytes."
[ta]
uuid = "{uuid}"
[[call]]
name = "increment"
command = 0
p0 = {{ type = "value-inout", a = 41, expect_a = 42 }}
samples = 5
[[call]]
name = "copy"
command = 1
sizes = ["4KiB", "32KiB", "128KiB"]
p0 = {{ type = "memory-in", size = "{{}}", content = "message" }}
p1 = {{ type = "memory-out", size = "{{}}", expect = "p0" }}
samples = 5
"""


@pytest.mark.exhaustive
def test_one_per_cent_more_work_in_a_ta_is_worse_and_explained(
    qemu_v8_icount: VirtualBoard, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """A loop in one of its commands makes a hundredth more turns."""
    folder = tmp_path / "my_ta"
    file = tmp_path / "work.toml"
    file.write_text(MORE_WORK.format(uuid=new_ta.make(folder)))
    plan = load_plan(str(file))
    entry = folder / "ta/entry.c"
    before = entry.read_text()
    copying = "\tif (bytes)\n\t\tTEE_MemMove("
    assert copying in before
    for name, turns in (("base", "bytes"), ("more", "bytes + bytes / 100")):
        loop = f"\tfor (volatile size_t i = 0; i < {turns}; i++)\n\t\t;\n"
        entry.write_text(before.replace(copying, loop + copying))
        measured(qemu_v8_icount, plan, tmp_path / name, own_ta.find(folder))
    status, found = compared(capfd, tmp_path / "base", tmp_path / "more")
    assert status == 1
    verdicts_of = {case["case"]: case["verdict"] for case in found["cases"]}
    assert verdicts_of.pop("call/increment/tee/none") == "same"
    # A call may be a few hundred instructions dearer or cheaper, too: where a TA lies differs when
    # it is loaded anew. For the smallest size that is more than a hundredth of the work.
    assert verdicts_of.pop("call/copy/tee/4096") != "better"
    assert set(verdicts_of.values()) == {"worse"}
    assert 0.002 < found["cases"][0]["ratio"] - 1 < 0.01  # of the call as a whole
    # Each turn is 7 instructions; what a call differs by may be counted with the bytes.
    told = [
        float(by[1])
        for change in found["changes"]
        if "call/copy/tee/131072" in change["cases"]
        and (by := re.search(r"([\d.]+) instructions a byte", change["by"]))
    ]
    assert told == [pytest.approx(0.07, rel=0.1)], found["changes"]
    status, found = compared(capfd, tmp_path / "more", tmp_path / "base")
    assert status == 0, found
    assert {case["verdict"] for case in found["cases"]} == {"better", "same"}


def test_xtest_and_teebench_agree_in_one_boot(qemu_v8_icount: VirtualBoard) -> None:
    def teebench() -> float:
        run = measured_by_teebench(qemu_v8_icount, "oneshot/sha256/tee/262144")
        (case,) = run.cases.values()
        return statistics.median(case.times()[0])

    core = qemu_v8_icount.capture(["xtest", "1001"])
    assert re.search(r"^[1-9][0-9]* test cases? of which 0 failed$", core.text, re.MULTILINE)
    xtest = qemu_v8_icount.capture(
        ["xtest", "--hash-perf", "-a", "SHA256", "-s", "262144", "-n", "20"]
    )
    found = re.search(r"mean=([0-9.]+)us", xtest.text)
    assert found, xtest.text
    assert teebench() == pytest.approx(float(found[1]) * 1000, rel=0.10)


def test_a_ta_counts_what_the_slope_over_repetitions_says(qemu_v8_icount: VirtualBoard) -> None:
    """Two ways to the time of one operation inside: they must agree within 5 %, and here, where
    little disturbs, to the counter's resolution. What remains of a call is the way. A single
    disturbed sample of 9 left a case undecided; of 15 it takes three."""
    keys = [
        f"oneshot/sha256/{backend}/{size}"
        for backend in ("tee", "ta-c", "ta-ce")
        for size in (4096, 65536)
    ]
    empty = "invoke/none/tee/none"
    repeated = [f"{key} repeat=1,4,16" for key in keys]
    samples = 15
    run = measured_by_teebench(
        qemu_v8_icount, *QUIETLY, "--samples", str(samples), empty, *repeated
    )
    assert run.machine.ta_counter.name == "CNTVCT_EL0"
    assert run.machine.ta_counter.hz == 62_500_000
    assert run.end is not None
    assert run.end.samples == samples + samples * 3 * len(keys)
    assert run.end.ta_samples == samples * 3 * len(keys)
    assert run.cases[empty].ta_samples == ()

    built = models.build(run)
    assert list(built.counted) == keys
    call = statistics.median(run.cases[empty].times()[0])
    for counted in built.counted.values():
        assert run.cases[counted.key].record.ta_counter is True
        assert counted.deviation is not None
        assert abs(counted.deviation) < 0.001 < TOLERANCE, counted
        assert counted.answer == "yes"
        # the way with a buffer and a digest costs more than an empty call, and not twice
        assert counted.crossing is not None
        assert call < counted.crossing.value < 2 * call
    clocks = trust.two_clocks(Ground(run, built))
    assert clocks is not None
    assert f"{len(keys)} cases" in clocks.claim


def test_what_counting_costs(qemu_v8_icount: VirtualBoard) -> None:
    """An instruction is a nanosecond: what TAs count adds 30 of them to a call at most, and
    nothing to an empty one, whose clock is off. One process in 24 has calls that are 136 to 424
    longer, all of them; none has shorter ones. So it is the shortest of up to four processes."""
    cases = ("invoke/none/tee/none", "oneshot/sha256/ta-ce/64")

    def calls(*options: str) -> list[float]:
        run = measured_by_teebench(qemu_v8_icount, *QUIETLY, *options, *cases)
        return [statistics.median(run.cases[key].times()[0]) for key in cases]

    counting, silent = list[list[float]](), list[list[float]]()
    for _ in range(4):
        counting.append(calls())
        silent.append(calls("--no-ta-counter"))
        (empty, hashing), (empty_silent, hashing_silent) = (
            map(min, zip(*runs, strict=True)) for runs in (counting, silent)
        )
        if empty == empty_silent and 0 < hashing - hashing_silent <= 30:
            break
    assert empty == pytest.approx(empty_silent, abs=8)
    assert 0 < hashing - hashing_silent <= 30


EXPLAINED = """\
summary = "Enough to take a digest apart."

[[cases]]
workload = "invoke"
algorithms = ["none", "direct", "refused"]
backends = ["tee"]
samples = 6

[[cases]]
workload = "shm"
algorithms = ["allocated"]
backends = ["tee"]
parameters = ["in/{}"]
sizes = [64, "256KiB"]
samples = 6

[[cases]]
workload = "oneshot"
algorithms = ["sha256"]
backends = ["tee"]
sizes = [64, "256KiB"]
samples = 6
repeat = [1, 2, 4]
"""


def test_a_digest_is_explained_to_within_2_percent(
    qemu_v8_icount: VirtualBoard, tmp_path: Path
) -> None:
    """Its parts are measured apart; and no source contradicts another."""
    (tmp_path / "explained.toml").write_text(EXPLAINED)
    ensure_installed(qemu_v8_icount)
    plan = load_plan(str(tmp_path / "explained.toml"))
    runner.measure(
        qemu_v8_icount, plan, tmp_path / "run", runner.RunListener(), options=("--trace-events",)
    )
    run = reader.read(tmp_path / "run")
    found = {one.key: one for one in breakdowns(run, models.build(run))}
    digest = found["oneshot/sha256/tee/262144"]
    assert abs(unexplained(digest).value) < 0.02 * digest.total.value
    assert {check.what for check in digest.checks} == {
        "the way in and out",
        "time in the secure world",
    }
    checks = [(one.key, check) for one in found.values() for check in one.checks]
    assert [pair for pair in checks if pair[1].answer != "yes"] == []
    client = found["invoke/none/tee/none"].part("client")
    assert client is not None
    assert client.value is not None
    interval = client.value.interval
    assert interval is not None
    assert 500 < interval.low < interval.high < 6_000


@pytest.mark.exhaustive
def test_injected_causes_are_put_where_they_are(
    qemu_v8_icount: VirtualBoard, tmp_path: Path
) -> None:
    """A call takes more than another that lacks the cause, and the difference is in the part that
    it belongs to; the rule on it fires with it, and not without. The tool inside.py --injected
    is the same with traces."""
    ensure_installed(qemu_v8_icount)
    plan = load_plan(str(inside.PLAN))
    calls = tuple(case for case in plan.cases if case.work.workload != "oneshot")
    plan = replace(plan, cases=calls)
    runner.measure(
        qemu_v8_icount, plan, tmp_path / "run", runner.RunListener(), options=("--trace-events",)
    )
    run = reader.read(tmp_path / "run")
    both = inside.Both(run, Trace(1, "not traced", ()))
    fired = {}
    for one in inside.CALLS:
        there, without = (both.parts[key].total.value for key in (one.there, one.without))
        found = inside.more(both, one)
        assert found == pytest.approx(there - without, rel=0.05, abs=500), one.what
        if one.rule is not None:
            fired[one.rule] = inside.verdict(both, one.rule)
            assert fired[one.rule] == ("found" if there > 1.05 * without else "ruled out"), one.rule
            assert inside.verdict(both, one.rule, one.like) == "ruled out", one.rule
    assert fired["tmpref-registration"] == "found"
    assert fired["ree-time-rpc"] == "found"


def test_instructions_a_byte(qemu_v8_icount: VirtualBoard) -> None:
    """A digest's cost inside the TA is the slope over repetitions within one call."""
    # FIPS 180-4 code of both kinds; the limits leave a tenth for other compilers.
    limits = {
        "oneshot/sha1/ta-ce/65536": 1.8,
        "oneshot/sha256/ta-ce/65536": 1.9,
        "oneshot/sha1/ta-c/65536": 17.5,
        "oneshot/sha256/ta-c/65536": 32.0,
        "oneshot/sha512/ta-c/65536": 20.5,
    }
    cases = "".join(f"{case} repeat=1,2\n" for case in limits)
    done = qemu_v8_icount.capture(
        ["teebench", "--cases", "-", "--samples", "9", "--settle", "1"], stdin=cases.encode()
    )
    run = reader.parse(done.stdout.splitlines(keepends=True), file="teebench")

    def cost(case: str) -> float:
        by_repeat = {
            repeat: statistics.median(
                sample.ns / sample.loops
                for sample in run.cases[case].samples
                if sample.repeat == repeat
            )
            for repeat in (1, 2)
        }
        return (by_repeat[2] - by_repeat[1]) / 65536

    found = {case: cost(case) for case in limits}
    assert all(limits[case] / 2 < found[case] <= limits[case] for case in limits), found
