# SPDX-License-Identifier: BSD-2-Clause
"""Traces on the exact board: every instruction is there, in its place, and with its name."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest
from click.testing import CliRunner

from conftest import THOROUGH
from teemark.base import paths
from teemark.base.errors import CommandFailed, TeemarkError, UsageMistake
from teemark.boards import config
from teemark.boards.optee import Optee
from teemark.cli import main as cli
from teemark.exact import program as programs
from teemark.exact import record
from teemark.exact.record import TracedRun
from teemark.findings import inside_core
from teemark.measure import runner, watching
from teemark.plan.file import load_plan
from teemark.run import reader
from teemark.trace import store
from teemark.trace.profile import CLOCK_STEP_NS, CaseTrace
from trace_roles import roles

pytestmark = [pytest.mark.board, pytest.mark.long(200)]

BOARD = "qemu-v8-icount"
EMPTY = "invoke/none/tee/none"
CE = "oneshot/sha256/ta-ce/64"


def traced(folder: Path, *keys: str, which: str | None = None, samples: int = 3) -> TracedRun:
    return record.record(record.with_optee(config.find(BOARD), which, ()), keys, folder, samples)


def check_exact(case: CaseTrace) -> None:
    """Sums, and the guest's clock, which knows nothing of the trace."""
    if case.held is not None:  # each instruction of a stretch is at its function
        assert sum(node.held for node in case.nodes) == case.held.instructions
    assert sum(node.self for node in case.nodes) == case.instructions
    assert sum(case.levels().values()) == case.instructions
    assert sum(count for _, _, count in case.components()) == case.instructions
    assert sum(node.self for node in case.nodes) == case.instructions
    assert case.lost == (), case.case
    assert case.slept or case.clock_agrees(), (case.case, case.samples)


def check_teehash(result: TracedRun, step: str) -> None:
    """Its parts follow each other without a gap: together they are what teehash's own clock says
    of the file, but for what stands round them, which is the same in every run."""
    parts = {
        case.case.rpartition("/")[2]: case
        for case in result.trace.cases
        if case.case.startswith(step)
    }
    assert list(parts) == ["open", "first", "step", "last", "close"]
    counts = {
        name: [sample.instructions for sample in part.samples] for name, part in parts.items()
    }
    runs = result.run.teehash
    assert len(runs) == len(counts["first"]) == len(counts["last"]) == len(counts["close"]) == 2
    assert len(counts["step"]) == 6  # four pieces a run: the last is no step, and none is empty
    round_them = []
    for number, record_of in enumerate(runs):
        (hashed,) = record_of.report["files"]
        assert hashed["calls"] == 5  # one to begin, and one a piece
        inside = counts["first"][number] + counts["last"][number]
        inside += sum(counts["step"][3 * number : 3 * number + 3])
        round_them.append(hashed["hash_ns"] - inside)
    assert max(round_them) - min(round_them) <= 2 * CLOCK_STEP_NS
    assert 0 < max(round_them) < 2500  # fstat(), and reading clocks
    calls = {
        (p.origin, p.target, p.by): p.count for name in ("last", "step") for p in parts[name].passes
    }
    assert 3 <= calls["EL0", "EL1", "SVC"] <= 5  # getrusage, ioctl, read; advice and end of file
    assert calls["EL1", "EL3", "SMC"] == 1
    hashing, _ = below(parts["step"], "stream_hash", "TEEC_InvokeCommand", "sha256_ce_compress")
    assert hashing > 16384


LOOPS = [f"same-code/intloop/ta-c/{steps}" for steps in (4096, 65536)]
COPIES = [f"same-code/memcpy/ta-c/{size}" for size in (32768, 65536, 131072)]


TRACED = [key for key in load_plan("trace").keys if THOROUGH or not re.match(
    "shm/(temporary|allocated)/.*/(4096|65536)|oneshot/sha256/ta-c/65536", key)]  # fmt: skip
"""The traced cases of the plan `trace`. `make test` leaves out larger messages of calls that it
traces with a small one."""


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, TracedRun]:
    """The folder and the outcome of one boot that traces the plan `trace`, loops and copies."""
    folder = tmp_path_factory.mktemp("recorded") / "run"
    return folder, traced(folder, *TRACED, *LOOPS, *COPIES, samples=2)


def test_every_case_of_the_plan_is_exact(recorded: tuple[Path, TracedRun]) -> None:
    plan = load_plan("trace")
    keys = [*(case.key for case in plan.cases if case.key in TRACED), *LOOPS, *COPIES]
    (step,) = (step.key for step in plan.teehash)
    folder, result = recorded
    trace = result.trace
    check_teehash(result, step)
    assert [case.case for case in trace.cases if not case.case.startswith(step)] == keys
    for case in trace.cases:
        check_exact(case)
        # No other process is one: a part that wasn't recognised as the caller's own.
        strayed = dict(case.others()).get("[teebench]", 0)
        assert strayed < 0.001 * case.instructions, case.case
        # In the first call ld.so, which has no names, binds what is called there.
        bound = 0.02 if case.case.endswith("/first") else 0.01
        assert case.nameless - case.core_nameless < bound * case.instructions
        assert case.core_nameless == case.levels()["S-EL1"]
    empty = trace.case(EMPTY)
    assert empty is not None
    assert empty.interrupts() == (0, 0)
    assert empty.others() == []
    # in and out once, through all levels
    ways = {(p.origin, p.target): p.count for p in empty.passes}
    assert ways["EL0", "EL1"] == ways["EL1", "EL3"] == ways["S-EL1", "S-EL0"] == 1
    for case in trace.cases:
        if case.case not in ("storage/read/tee-ree-fs/256", "session/first-open/tee/none"):
            continue
        others = dict(case.others())
        assert 0 < others["[tee-supplicant]"] < 0.2 * case.instructions, case.case
    assert store.read(folder) == trace


@pytest.mark.exhaustive
def test_two_boots_give_the_same_stacks(tmp_path: Path) -> None:
    texts = [store.folded(traced(tmp_path / name, EMPTY, CE).trace) for name in ("one", "two")]
    assert texts[0] == texts[1]
    assert len(texts[0].splitlines()) > 100


def loop_length(function: str) -> int:
    """Instructions of the loop in a function of the TA `bench`, by its disassembly: from the
    target of the last branch backwards to that branch."""
    (file,) = (f for f in (paths.built_tas() / "bench").glob("*.elf") if "stripped" not in f.name)
    text = subprocess.run(
        ["aarch64-linux-gnu-objdump", "-d", f"--disassemble={function}", str(file)],
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    back = [
        (int(at, 16), int(to, 16))
        for at, to in re.findall(
            r"^\s*([0-9a-f]+):\s+[0-9a-f]{8}\s+(?:b\.\w+|cbn?z\s+\w+,|tbn?z.*,)\s+([0-9a-f]+) <",
            text,
            re.MULTILINE,
        )
        if int(to, 16) < int(at, 16)
    ]
    assert len(back) == 1, text
    ((at, to),) = back
    return (at - to) // 4 + 1


def below(case: CaseTrace, *names: str) -> tuple[int, int]:
    """Instructions and calls of the last of these functions, found below the others in turn."""
    found = calls = 0
    for index, node in enumerate(case.nodes):
        stack = []
        at = index
        while at >= 0:
            stack.append(case.functions[case.nodes[at].function].name)
            at = case.nodes[at].parent
        if stack[0] == names[-1] and all(name in stack for name in names):
            found += node.self
            calls += node.calls
    return found, calls


def test_work_put_into_a_ta_is_seen_at_its_place_with_its_number(
    recorded: tuple[Path, TracedRun],
) -> None:
    cases = {case.case: case for case in recorded[1].trace.cases}
    place = ("measure_once", "TEEC_InvokeCommand", "__utee_entry")
    few, many = (below(cases[key], *place, "kernel_intloop") for key in LOOPS)
    assert few[1] == many[1] == 1
    assert many[0] - few[0] == (65536 - 4096) * loop_length("kernel_intloop")
    # twice the bytes are twice the work, to the instruction
    small, medium, large = (below(cases[key], *place, "kernel_memcpy")[0] for key in COPIES)
    assert small > 32768 // 8
    assert large - medium == 2 * (medium - small)


ASKED = {
    # what the TA calls, the function of the core that does it, and what it takes each time
    "log/lines": ("_utee_log", "trace_ext_puts", 0),
    "time/ree": ("_utee_get_time", "thread_rpc_cmd", 1),
    "time/system": ("_utee_get_time", "tee_time_get_sys_time", 0),
}


def check_asked(case: CaseTrace) -> None:
    """A TA that was told to ask OP-TEE n times: n system calls, at their place, and n RPCs where it
    takes one."""
    what, times = case.case.split("/tee/")
    stub, function, rpcs = ASKED[what]
    n = int(times)
    assert case.interrupts() == (0, 0)
    assert below(case, "TEEC_InvokeCommand", "__utee_entry", "ask", stub)[1] == n
    found, calls = below(case, "ask", stub, function)
    assert calls == n
    assert found > 0
    assert found % n == 0 or rpcs  # each takes the same
    ways = {(p.origin, p.target, p.by): p.count for p in case.passes}
    assert ways["S-EL0", "S-EL1", "SVC"] == n + 1  # and the return of the TA
    assert ways["EL1", "EL3", "SMC"] == 1 + rpcs * n


def check_roles(empty: CaseTrace, hashed: CaseTrace) -> None:
    """The parts of a call by which `explain` is judged are there, and are all of it."""
    for case in (empty, hashed):
        assert sum(roles(case).values()) == case.instructions
    of_empty, of_hashed = roles(empty), roles(hashed)
    assert set(of_empty) == {"client", "switch", "ta-entry", "mapping", "command"}
    assert of_empty["mapping"] < 500  # it looks whether there are references
    assert of_empty["command"] < 20  # and, in the end, whether RPCs were given memory
    assert of_empty["ta-entry"] == pytest.approx(of_hashed["ta-entry"], rel=0.05)
    assert of_hashed["mapping"] > 5000
    # 1,025 blocks of the TEE's own SHA-256, and little else in the command
    assert of_hashed["compute"] > 3_000_000 > 100 * of_hashed["command"]


@pytest.mark.exhaustive
@pytest.mark.usefixtures("optee_source")
def test_an_op_tee_from_source_has_names(tmp_path: Path) -> None:
    asked = [f"{what}/tee/{times}" for what in ASKED for times in (1, 4)]
    result = traced(tmp_path / "run", EMPTY, "oneshot/sha256/tee/65536", *asked, which="source")
    trace = result.trace
    # The headline's command: what a report suspects, this trace confirms.
    verdicts = list(inside_core.confirmed(result.run, trace))
    assert any(verdict.startswith("size-optimised-core, confirmed: ") for verdict in verdicts)
    for case in trace.cases:
        check_exact(case)
        assert case.core_nameless == 0
        assert case.nameless < 0.01 * case.instructions
    empty, hashed, *asking = trace.cases
    check_roles(empty, hashed)
    for one in asking:
        check_asked(one)
    zeroing, _ = below(empty, "core_mmu_create_user_map", "memset")
    assert 4096 * 5 <= zeroing < 4096 * 6  # a page, byte by byte, 5 instructions a byte
    # 64 KiB are 1,024 blocks, and one of padding
    _, calls = below(hashed, "__utee_entry", "s_sha256_compress")
    assert calls == 1025


@pytest.mark.exhaustive
def test_a_folder_of_ones_own_and_a_tee_elf_that_does_not_fit(
    optee_source: Optee, tmp_path: Path
) -> None:
    """The very build by its folder; then with another build's symbols, which is said."""
    built = optee_source
    own = tmp_path / "out"
    shutil.copytree(built.images, own / "core")
    shutil.copytree(built.images.parent / "export-ta_arm64", own / "export-ta_arm64")
    trace = traced(tmp_path / "run", EMPTY, which=str(own), samples=1).trace
    assert trace.optee == f"OP-TEE of {own}"
    assert trace.cases[0].core_nameless == 0

    assert built.elf is not None
    wrong = bytearray((own / "core/tee.elf").read_bytes())
    for at in range(0x10000, 0x80000, 16):  # of its code, a word in four
        wrong[at] ^= 1
    (own / "core/tee.elf").write_bytes(wrong)
    with pytest.raises(TeemarkError, match=r"tee\.elf: not the OP-TEE that the board ran"):
        traced(tmp_path / "wrong", EMPTY, which=str(own), samples=1)


@pytest.mark.exhaustive
def test_a_program_that_dies_in_a_window_leaves_a_run_without_a_trace(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def dying(*argv: str) -> list[str]:
        # killed while it measures: after the preparations have written their records
        script = (
            '"$@" & p=$!; sleep 3; kill -9 $p; wait $p; exit 137'
            if "--output" in argv
            else 'exec "$@"'
        )
        return ["sh", "-c", script, "sh", *argv]

    monkeypatch.setattr(runner, "quietly", dying)
    with pytest.raises(CommandFailed, match="killed by SIGKILL"):
        traced(tmp_path / "run", "oneshot/sha256/tee/65536", samples=90)
    assert reader.read(tmp_path / "run").incomplete
    assert not (tmp_path / "run/trace.json").exists()


def test_xtest_as_it_is_to_the_instruction(tmp_path: Path) -> None:
    """Its calls are counted by subtest, clocked to the guest's clock's step, and the first two and
    the dearest of each kind are traced; watching costs less than 1 % of an empty call."""
    file = record.with_optee(config.find(BOARD), None, ())
    program = watching.Program(("xtest", "4001"))
    traced = programs.record(file, program, tmp_path / "run", (), 0)
    assert traced.ran.status == 0
    assert traced.unread == ()
    watched = traced.ran.watched
    assert (watched.lost, watched.processes) == (0, 1)
    assert watched.own_ns < 0.01 * 57144
    tests = list(programs.subtests(traced.ran))
    assert [name for name, _, _ in tests] == [f"regression_4001.{n}" for n in range(1, 22)]
    assert sum(count for _, count, _ in tests) == len(watched.calls)
    by_window = {call.window: call for call in watched.calls if call.window is not None}
    assert len(by_window) == len(traced.trace.cases) >= 2 * 7
    for call, case in zip(by_window.values(), traced.trace.cases, strict=True):
        assert sum(node.self for node in case.nodes) == case.instructions
        # the clock's own reading is in what it says
        assert case.slept or 0 <= call.ns - case.instructions < 400
    sign = max(traced.trace.cases, key=lambda case: case.instructions)
    assert "open session" in sign.case


@pytest.mark.exhaustive
def test_a_case_that_teebench_does_not_know(tmp_path: Path) -> None:
    done = CliRunner().invoke(
        cli.cli,
        ["trace", "invoke/nonsense/tee/none", "--out", str(tmp_path / "run")],
        standalone_mode=False,
    )
    assert isinstance(done.exception, UsageMistake)
    assert "nonsense" in done.exception.message
    assert not (tmp_path / "run").exists()
