# SPDX-License-Identifier: BSD-2-Clause
"""The table of what a program should choose."""

from teemark.findings.choices import choose, what_about
from teemark.findings.ground import Ground
from teemark.page.blocks import Table, left, right
from teemark.wording import fmt


def choice_table(ground: Ground) -> Table:
    """Returns a table with a row for each choice: what is better than what, at which sizes, and
    what this saves at the largest size."""
    rows = []
    for choice in choose(ground):
        pieces = choice.question == "pieces"
        names = [fmt.size(int(name)) if pieces else name for name in (choice.choose, choice.over)]
        sizes = dict.fromkeys(map(fmt.size, (choice.first, choice.last)))
        name = what_about(ground.run, choice) + (", in pieces" if pieces else "")
        rows.append((name, *names, fmt.TO.join(sizes), fmt.share(choice.saves)))
    return Table((*left("for", "choose", "instead of"), *right("at", "saves")), rows)
