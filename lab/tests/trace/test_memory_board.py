# SPDX-License-Identifier: BSD-2-Clause
"""`teemark memory` on the real OP-TEE: a TA that takes known amounts of stack and heap, teemark's
own TAs and PKCS #11; how many sessions fit, and that all memory comes back."""

import json
from collections.abc import Iterator, Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import pytest

from teemark.base.work import Work
from teemark.boards import VirtualBoard, config, own_ta
from teemark.boards.install import guest
from teemark.boards.own_ta import Built
from teemark.boards.shell import Result
from teemark.cli import main as cli
from teemark.exact import memory
from teemark.exact.record import recording
from teemark.measure import memory as outside
from teemark.measure.memory import MemoryUse
from teemark.measure.watching import Program
from teemark.plan.file import CaseLine, load_plan
from teemark.run import reader
from teemark.trace.memory import GRANULE, TaMemory
from teemark.wording import fmt

pytestmark = [pytest.mark.board, pytest.mark.long(120), pytest.mark.timeout(1800)]

SIZED = Path(__file__).resolve().parent / "sized_ta"
STACKS, HEAPS = (1000, 2000), (10_000, 12_000)  # bytes that sized_ta.c takes
DIGEST = "5e5b2f0c-6d0a-4b57-9c1e-3a7f41d28860"
SYMBOLS = ["cat", "/proc/kallsyms"]
ASKED = load_plan(str(SIZED / "bench.toml"))


@pytest.fixture(scope="module")
def watched() -> Iterator[tuple[VirtualBoard, Path, Built]]:
    """The exact board whose accesses to memory are recorded, with the TA of known sizes."""
    with recording(config.find("qemu-v8-icount"), "memory=on") as (board, folder):
        built = own_ta.build_for(own_ta.find(SIZED), ASKED.ta, board)
        assert built is not None
        with own_ta.ready_board(board), guest(board, built.file, tell=lambda _: None):
            capture, listed = board.capture, board.capture(SYMBOLS)  # it takes the board seconds

            def once(argv: Sequence[str], **options: Any) -> Result:
                return listed if argv == SYMBOLS else capture(argv, **options)

            with pytest.MonkeyPatch.context() as patch:
                patch.setitem(vars(board), "capture", once)
                yield board, folder, built


def run(
    watched: tuple[VirtualBoard, Path, Built], *cases: CaseLine
) -> tuple[list[MemoryUse], tuple[TaMemory, ...]]:
    board, folder, built = watched
    taken = outside.of_cases(board, cases)
    assert [found.failure for found in taken] == [None] * len(cases)
    return taken, memory._inside(board, folder, built)


def of(tas: tuple[TaMemory, ...], name: str) -> TaMemory:
    (ta,) = (ta for ta in tas if ta.name == name)
    return ta


@pytest.fixture(scope="module")
def seen(watched: tuple[VirtualBoard, Path, Built]) -> dict[str, TaMemory]:
    """The memory that the TA of known sizes uses in each of its cases."""
    return {case.work.algorithm: of(run(watched, case)[1], "sized_ta") for case in ASKED.cases}


def test_known_sizes_of_stack_and_heap_are_seen_to_16_bytes(seen: dict[str, TaMemory]) -> None:
    assert {(ta.stack_size, ta.heap_size) for ta in seen.values()} == {(6144, 32768)}
    stacks = [seen[name].stack for name in ("stack", "more-stack")]
    assert abs(stacks[1] - stacks[0] - (STACKS[1] - STACKS[0])) <= GRANULE
    assert stacks[0] >= STACKS[0]
    heaps = [seen[name].heap or 0 for name in ("heap", "more-heap")]
    assert abs(heaps[1] - heaps[0] - (HEAPS[1] - HEAPS[0])) <= GRANULE
    # Beyond the bytes themselves: what the session and the framework had allocated meanwhile.
    assert HEAPS[0] <= heaps[0] <= HEAPS[0] + (seen["nothing"].heap or 0)
    assert seen["heap"].touched >= seen["nothing"].touched + HEAPS[0] // 4096


def test_the_least_stack_passes_and_16_bytes_less_panics(
    watched: tuple[VirtualBoard, Path, Built], seen: dict[str, TaMemory]
) -> None:
    board, _, _ = watched
    (case,) = (case for case in ASKED.cases if case.work.algorithm == "stack")
    assert ASKED.ta is not None
    trial = memory._Trial(board, (case,), own_ta.find(SIZED), ASKED.ta)
    guess = seen["stack"].stack - memory.framework(board.kit)
    assert trial.failure("TA_STACK_SIZE", guess) == ""
    assert "TARGET_DEAD" in trial.failure("TA_STACK_SIZE", guess - GRANULE)


def test_the_least_heap_passes_and_16_bytes_less_has_no_memory(
    watched: tuple[VirtualBoard, Path, Built], seen: dict[str, TaMemory]
) -> None:
    board, _, _ = watched
    (case,) = (case for case in ASKED.cases if case.work.algorithm == "heap")
    heap = seen["heap"].heap
    assert heap is not None
    assert ASKED.ta is not None
    found = memory._Trial(board, (case,), own_ta.find(SIZED), ASKED.ta).search(
        "TA_DATA_SIZE", heap, 1024
    )
    assert abs(found.size - heap) <= 4 * GRANULE
    assert "OUT_OF_MEMORY" in found.less


def test_the_digest_tas_painted_stack_says_the_same_and_a_signed_ta_is_seen(
    watched: tuple[VirtualBoard, Path, Built],
) -> None:
    """Two instruments: each access by QEMU's plugin, and the pattern that the TA paints itself.
    teehash hashes in other calls than the case, whose frames differ by two places of 16 bytes. Of
    the TA of PKCS #11 there is no ELF file."""
    board, _, _ = watched
    board.script("head -c 4096 /dev/urandom >/tmp/hashed")
    text = board.capture(["teehash", "--report=json", "/tmp/hashed"]).text
    painted = json.loads(text)["tee"]["ta_stack_high_water"]["value"]
    keys = ("oneshot/sha256/tee/4096", "pkcs11/session-info/pkcs11/none")
    _, inside = run(watched, *(CaseLine(Work.of(key)) for key in keys))
    assert abs(of(inside, "digest").stack - painted) <= 2 * GRANULE
    pkcs11 = of(inside, "pkcs11")
    assert 0 < pkcs11.stack < pkcs11.stack_size
    assert pkcs11.heap is None  # no symbols


def test_sessions_fill_one_pool_and_all_of_it_comes_back(
    watched: tuple[VirtualBoard, Path, Built],
) -> None:
    board, _, _ = watched
    (taken,) = outside.of_sessions(board, [DIGEST])
    assert taken.pools == ("Heap", "Physical TA memory")
    # FACTS of Debian's 4.5: the core's heap is what fifty instances exhaust.
    assert [pool.name for pool in taken.exhausted] == ["Heap"]
    assert 45 <= (taken.sessions or 0) <= 55
    assert taken.more("first", "Heap") == 3696
    assert taken.more("second", "Heap", since="first") == 3296
    assert taken.more("first", "Physical TA memory") == 192_512
    assert taken.more("second", "Physical TA memory", since="first") == 90_112
    assert [taken.more("after", pool) for pool in taken.pools] == [0, 0]


def test_a_program_as_it_is_takes_stack_and_memory(
    watched: tuple[VirtualBoard, Path, Built], tmp_path: Path
) -> None:
    """xtest's sessions with its TA: what the TEE gives away comes back, and the TA's stack."""
    board, folder, _ = watched
    program = Program(("xtest", "4001"))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(memory, "_opened", lambda _: nullcontext((board, folder)))
        patch.setattr(own_ta, "ready_board", lambda _: nullcontext())
        measured, ran = memory.of_program(config.find("qemu-v8-icount"), program, tmp_path)
    (taken,) = measured.cases
    assert ran.status == 0
    assert (taken.most("Physical TA memory") or 0) > 100_000
    assert taken.more("after", "Physical TA memory") == 0
    (ta,) = measured.tas or ()
    assert 0 < ta.stack < ta.stack_size


@pytest.mark.exhaustive
def test_a_run_of_a_new_ta_says_how_much_of_its_stack_and_heap_it_used(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """Recorded on a boot of its own, it is in the run, in its report and in the short answer."""
    folder, out = tmp_path / "my_ta", tmp_path / "run"
    assert cli.run(["new-ta", str(folder)]) == 0
    asked = ("--only", "call/increment/*", "--board", "qemu-v8-icount", "-o", str(out))
    assert cli.run(["run", "--ta", str(folder), *asked]) == 0
    header = reader.read(out).header
    assert header is not None
    took = header.ta_memory
    assert took is not None
    assert 0 < took.stack < took.stack_size
    assert took.heap is not None
    said = f"Your TA used {took.stack} of its {took.stack_size} bytes of stack"
    assert said in capfd.readouterr().out.replace(fmt.THIN, "")
    assert said in (out / "report.md").read_text().replace(fmt.THIN, "")


def test_the_command_says_how_much_of_a_ta_is_used(
    lent: VirtualBoard, capfd: pytest.CaptureFixture[str]
) -> None:
    """On a board with clocks the TEE's statistics are all that there is, and it says so."""
    assert cli.run(["memory", "--board", "qemu-v8", "invoke/none/tee/none"]) == 0
    out = capfd.readouterr().out
    assert "Physical TA memory" in out
    assert "--board qemu-v8-icount only" in out
    assert cli.run(["memory", "--board", "qemu-v8", "--fit", "not-a-uuid"]) == 2
    assert "no UUID" in capfd.readouterr().err
    assert cli.run(["memory", "--board", "qemu-v8"]) == 2
    assert cli.run(["memory", "--least", "--board", "qemu-v8", "invoke/none/tee/none"]) == 2
