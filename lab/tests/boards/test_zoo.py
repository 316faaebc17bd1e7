# SPDX-License-Identifier: BSD-2-Clause
"""docs/boards.md says of every board what zoo.py has, and nothing else."""

import zoo
from teemark.base import paths


def test_the_page_has_a_row_for_each_board_of_the_table() -> None:
    text = zoo.in_page(zoo.PAGE.read_text(encoding="utf-8"))
    rows = [
        [cell.strip() for cell in line.strip("|").split(" | ")]
        for line in text.splitlines()
        if line.startswith("| ")
    ][1:]
    assert [row[:2] for row in rows] == [[f"`{a.board}`", a.differs] for a in zoo.ZOO]
    assert all(len(row) == 2 + len(zoo.STEPS) and all(row) for row in rows)
    assert all(f"- {what}: not tried, {why}\n" in text for what, why in zoo.NOT_TRIED.items())


def test_rows_say_how_they_differ_from_the_first() -> None:
    told = ["12 files", "nothing", "194 cases", "right", "clean"]
    rows = [["`a`", "nothing", *told], ["`b`", "no TEE", "2 files", *told[1:]]]
    first, second = zoo.written(rows).splitlines()[2:4]
    assert first == "| `a` | nothing | 12 files | nothing | 194 cases | right | clean |"
    assert second == "| `b` | no TEE | 2 files | = | = | = | = |"


def test_every_virtual_board_is_in_the_zoo() -> None:
    """Those that count instructions differ in their clock alone, and have tests of their own."""
    boards = {path.stem for path in paths.boards().glob("*.toml")}
    assert boards == {animal.board for animal in zoo.ZOO} | {"qemu-v8-icount", "qemu-rpi3-icount"}
