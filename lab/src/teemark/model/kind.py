# SPDX-License-Identifier: BSD-2-Clause
"""The kind of a quantity: the clock that it is known by, and so what it may be combined with. Each
estimate has one; whatever is computed from estimates has the kind that `joined` gives."""

from typing import Literal

Kind = Literal["number", "counted", "waited", "timed", "emulated"]
"""number: no clock was read, as for a size or a constant. counted: executed instructions. waited:
by a clock that counts instructions, and goes on while a call waits. timed: by the clock of
hardware. emulated: by the clock of an emulator, which shows how busy its host is."""

WAITED = (
    "the clock of this board goes on while a call waits, for a disk as a rule: nothing follows "
    "from such times"
)
MISFIT = "no sum of a call and its bytes describes these calls: don't calculate with it"


class Unlike(ArithmeticError):
    """Two quantities have no common measure by which one could be held against the other."""


def joined(*kinds: Kind) -> Kind:
    """Returns the kind of what is computed from quantities of these kinds; a number changes
    nothing. Raises Unlike for any two of instructions, hardware's time and an emulator's time."""
    left = set(kinds) - {"number"}
    if left == {"counted", "waited"}:
        return "waited"
    if len(left) > 1:
        raise Unlike(f"{' and '.join(sorted(left))} have no common measure")
    return next(iter(left), "number")
