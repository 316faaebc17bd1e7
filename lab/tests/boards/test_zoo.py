# SPDX-License-Identifier: BSD-2-Clause
"""docs/boards.md says of every board what zoo.py has, and nothing else."""

import zoo
from teemark.base import paths


def test_the_page_has_a_row_for_each_board_of_the_table() -> None:
    rows = [
        [cell.strip() for cell in line.strip("|").split(" | ")]
        for line in zoo.in_page(zoo.PAGE.read_text(encoding="utf-8")).splitlines()
        if line.startswith("| ")
    ][1:]
    tried, others = rows[: len(zoo.ZOO)], rows[len(zoo.ZOO) :]
    assert [row[:2] for row in tried] == [[f"`{a.board}`", a.differs] for a in zoo.ZOO]
    assert all(len(row) == 2 + len(zoo.STEPS) and all(row) for row in tried)
    assert [(row[0], row[2]) for row in others] == [
        (what, f"not tried: {why}") for what, why in zoo.NOT_TRIED.items()
    ]


def test_every_virtual_board_is_in_the_zoo() -> None:
    """The one that counts instructions differs in its clock alone, and has tests of its own."""
    boards = {path.stem for path in paths.boards().glob("*.toml")}
    assert boards == {animal.board for animal in zoo.ZOO} | {"qemu-v8-icount"}
