# SPDX-License-Identifier: BSD-2-Clause
"""Threads that wait for each other, on a board with two CPUs: each cause is made by the workload
`parallel`, and named by `watch`; the change that `watch` advises takes it away."""

from collections import Counter
from pathlib import Path

import pytest

from conftest import THOROUGH, changed, often
from teemark.boards import VirtualBoard, own_ta
from teemark.measure import watching
from teemark.report import program_page

pytestmark = [pytest.mark.board, pytest.mark.timeout(3600)]


def waits(board: VirtualBoard, key: str, folder: Path, loops: int = often(20, 100)) -> Counter[str]:
    """Returns how often calls of a case of `parallel` waited, by cause."""
    argv = ("teebench", "--loops", str(loops), "--samples", "10", f"parallel/{key}")
    ran = watching.run(board, watching.Program(argv), folder / key.replace("/", "-"))
    assert (ran.status, ran.overrun, ran.watched.lost) == (0, 0, 0), ran.output.read_text()
    assert ran.legs is not None
    return Counter({cause: len(ns) for cause, ns in program_page.waiting(ran).items()})


def test_each_cause_is_named_and_none_falsely(qemu_v8_smp: VirtualBoard, tmp_path: Path) -> None:
    assert qemu_v8_smp.capture(["nproc"]).text == "2\n"
    own, shared, single = (
        waits(qemu_v8_smp, f"{how}/tee/4", tmp_path) for how in ("own", "shared", "single")
    )
    storage = waits(qemu_v8_smp, "own-storage/tee/2", tmp_path, 1)
    assert shared["session"] > 5
    assert single["instance"] > 5
    # Calls of sessions of their own wait for locks of OP-TEE's core, which aren't told apart.
    assert own["session"] == single["session"] == storage["session"] == shared["instance"] == 0
    assert storage["supplicant"] > own["supplicant"] + 100  # besides opening sessions
    for how in ("own", "shared", "single") if THOROUGH else ("single",):
        assert set(waits(qemu_v8_smp, f"{how}/tee/1", tmp_path)) <= {"supplicant"}


@pytest.mark.exhaustive
@pytest.mark.long(300)
@pytest.mark.usefixtures("optee_source")
def test_what_is_advised_takes_the_cause_away(tmp_path: Path) -> None:
    """Docs/waiting.md has these figures."""
    found: dict[int, dict[str, Counter[str]]] = {}
    for threads in (2, 8):
        options = (f"CFG_NUM_THREADS={threads}",)
        board = VirtualBoard(changed("qemu-v8", optee="source", options=options))
        with board, own_ta.ready_board(board):
            found[threads] = {
                how: waits(board, f"{how}/tee/8", tmp_path / str(threads), 100)
                for how in ("own", "shared", "single")
            }
    few, many = found[2], found[8]
    for how in few:  # more threads of OP-TEE
        assert few[how]["thread"] > 1000
        assert many[how]["thread"] < few[how]["thread"] / 100
    assert many["shared"]["session"] > few["shared"]["session"] > 100
    assert many["single"]["instance"] > few["single"]["instance"] > 100
    # A session for each thread; a TA without the flag.
    assert many["own"]["session"] == many["single"]["session"] == 0
    assert many["own"]["instance"] < many["single"]["instance"] / 2
