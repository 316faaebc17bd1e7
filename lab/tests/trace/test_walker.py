# SPDX-License-Identifier: BSD-2-Clause
"""The check of traces by a second plugin (walker.py) sees a trace that differs."""

from pathlib import Path

import pytest

import walker
from teemark.trace.profile import CaseTrace, Function, Node
from test_trace_outputs import case

NAMES = {
    "EL1": walker.Names({0x10: (4, {"el1h_64_irq"})}, {}),
    "S-EL1": walker.Names({0x100: (64, {"entry <std>", "alias"}), 0x200: (0, {"memset"})}, {}),
}

KNOWN = {("EL1", "el1h_64_irq"), ("S-EL1", "entry <std>"), ("S-EL1", "memset")}
COUNTED = """total 120
at 0 0x1 10
at 0 0x5 21
at 1 0x10 4
at 3 0x100 2
call 3 0x100 2 0 85
at 3 0x104 23
at 3 0x200 3
call 3 0x200 3 0 60
at 3 0x204 57
unclear 0
"""


def compared(folder: Path, text: str) -> walker.Compared:
    (folder / "count-0").write_text(text)
    counted = walker.read(folder / "count-0", NAMES, KNOWN)
    return walker.compare(case(), counted, tuple(NAMES))


def test_figures_that_agree(tmp_path: Path) -> None:
    found = compared(tmp_path, COUNTED)
    assert [one for one in found.differences if one.what != "all"] == []
    assert (found.functions, found.whole, found.left_out) == (3, 2, 0)


@pytest.mark.parametrize(
    ("old", "new", "what"),
    [
        ("total 120", "total 121", "all"),
        ("at 0 0x5 21", "at 0 0x5 22", "EL0"),
        ("at 3 0x204 57", "at 3 0x204 58", "memset by itself"),
        ("0x200 3 0 60", "0x200 4 0 60", "memset, calls"),
        ("0x100 2 0 85", "0x100 2 0 84", "entry <std> with all it calls"),
        ("unclear 0", "unclear 1", "calls whose target isn't known"),
    ],
)
def test_one_that_differs(tmp_path: Path, old: str, new: str, what: str) -> None:
    text = COUNTED.replace(old, new)
    # A function that is executed more often than it is called was jumped to as well.
    text = (
        text.replace("at 3 0x200 3", "at 3 0x200 4") if "calls" in what and "4 0" in new else text
    )
    assert what in [one.what for one in compared(tmp_path, text).differences]


def test_functions_of_one_name_are_told_apart_by_their_address(tmp_path: Path) -> None:
    """An interrupt while get_core_pos of one file runs calls that of another file."""
    place = Function("S-EL1", "core", "get_core_pos")
    nodes = (Node(-1, 0, 5, 1), Node(0, 1, 10, 1), Node(1, 2, 4, 2), Node(2, 1, 3, 1))
    one = CaseTrace("it", 22, (), (Function("EL1", "kernel", "main"), place, place), nodes)
    (tmp_path / "count-0").write_text(
        "total 22\nat 1 0x0 1\nat 1 0x4 4\n"
        "at 3 0x100 2\nat 3 0x104 11\ncall 3 0x100 2 0 17\n"
        "at 3 0x200 2\nat 3 0x204 2\ncall 3 0x200 2 0 7\nunclear 0\n"
    )
    names = {
        "EL1": walker.Names({0: (8, {"main"})}, {}),
        "S-EL1": walker.Names({n: (8, {"get_core_pos"}) for n in (0x100, 0x200)}, {}),
    }
    counted = walker.read(tmp_path / "count-0", names, {(f.level, f.name) for f in one.functions})
    found = walker.compare(one, counted, tuple(names))
    assert (found.differences, found.whole, found.left_out) == ([], 1, 0)


def test_what_was_jumped_to_or_has_not_returned_is_left_out(tmp_path: Path) -> None:
    found = compared(tmp_path, COUNTED.replace("0x200 3 0 60", "0x200 2 0 60"))
    assert (found.whole, found.left_out) == (1, 1)
    found = compared(tmp_path, COUNTED.replace("0x100 2 0 85", "0x100 2 1 80"))
    assert (found.whole, found.left_out) == (1, 1)
