# SPDX-License-Identifier: BSD-2-Clause
"""`teemark trace --boot`: what a boot is made of, and the real one."""

import json

import numpy as np
import pytest

from teemark.base.errors import UsageMistake
from teemark.boards import config
from teemark.cli import main as cli
from teemark.exact import boot, record
from teemark.exact.boot import NORMAL_WORLD, Boot
from teemark.page.blocks import Paragraph, Table, plain
from teemark.trace import window as windows
from teemark.trace.places import anchor
from teemark.trace.symbols import read_elf

BOARD = "qemu-v8-icount"

# Blocks: a caller's two, the two of each of two functions, and one that runs after the callers.
NAMES = ["_start", "_start", "first", "first", "second", "second", "late"]
ENTRIES = np.array([True, False, True, False, True, False, False])
# first calls second; then the caller calls second, too, and at last the core goes on elsewhere.
STEPS = [(0, 3), (2, 10), (4, 100), (5, 20), (3, 5), (1, 2), (4, 100), (1, 1), (6, 7)]


def test_a_call_has_all_until_its_caller_goes_on() -> None:
    blocks, counts = (np.array(column) for column in zip(*STEPS, strict=True))
    of = (blocks.astype(np.uint32), counts.astype(np.int64), NAMES, ENTRIES, ("_start",))
    assert boot._calls(*of) == (("first", 135), ("second", 100))
    assert boot._calls(*of, itself=True)[0] == ("_start itself", 6)


def test_the_answer_names_the_cores_share_and_its_dearest_initcall() -> None:
    made = Boot("OP-TEE", 500, 400, 100, (("_start itself", 400),), (("a", 20), ("b", 30)))
    answer, parts, initcalls, _ = boot.blocks(made)
    assert isinstance(answer, Paragraph)
    assert "400 instructions, 40 % of those" in plain(answer.text).replace("\u202f", " ")
    assert "dearest initcall is b (30)" in plain(answer.text)
    assert isinstance(parts, Table)
    assert [row[1] for row in parts.rows] == ["500", "400", "400", "100"]
    assert isinstance(initcalls, Table)
    assert [row[0] for row in initcalls.rows] == ["b", "a"]


@pytest.mark.parametrize("words", [["invoke/none/tee/none"], ["--plan", "trace"], ["--", "true"]])
def test_a_boot_is_traced_by_itself(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.run(["trace", "--boot", *words]) == UsageMistake("").exit_status
    assert "a boot is traced by itself" in capsys.readouterr().err


def test_a_form_that_a_boot_lacks_is_refused_before_it_boots(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(boot, "measure", lambda _: pytest.fail("it booted"))
    assert cli.run(["trace", "--boot", "--format", "folded"]) == UsageMistake("").exit_status
    assert "a boot has text and json" in capsys.readouterr().err


@pytest.mark.board
def test_the_window_ends_where_the_normal_world_begins() -> None:
    with record.recording(config.find(BOARD), f"boot={NORMAL_WORLD:#x}") as (board, folder):
        with pytest.raises(UsageMistake, match="no file with the core's symbols"):
            boot.measure(config.find(BOARD))
        tfa = read_elf(board.optee.tfa)
        with board:
            pass
        window = windows.read(folder / "window-0")
    assert anchor(window, tfa) is not None
    ran = window.blocks["vaddr"][window.steps["block"][window.steps["instructions"] > 0]]
    assert int(ran[0]) == 0  # the flash, from which BL1 runs
    assert not np.any((ran >= NORMAL_WORLD) & (ran < NORMAL_WORLD + (1 << 20)))
    assert int(window.steps["instructions"].sum()) == window.whole > 1_000_000


@pytest.mark.board
@pytest.mark.exhaustive
@pytest.mark.usefixtures("optee_source")
def test_two_boots_are_the_same_and_their_phases_are_all_of_the_core(
    capsys: pytest.CaptureFixture[str],
) -> None:
    told = []
    for _ in range(2):
        assert cli.run(["trace", "--boot", "--optee", "source", "--format", "json"]) == 0
        told.append(json.loads(capsys.readouterr().out))
    assert told[0] == told[1]
    assert sum(told[0]["phases"].values()) == told[0]["core"]
    assert {"core_init_mmu_map", "boot_init_primary_late"} <= set(told[0]["phases"])
    assert {"tee_cryp_init", "check_ta_store"} <= set(told[0]["initcalls"])
    late = sum(told[0]["phases"][f"boot_init_primary_{name}"] for name in ("late", "final"))
    assert 0 < sum(told[0]["initcalls"].values()) < late
