# SPDX-License-Identifier: BSD-2-Clause
"""Children that die with us, even when we are killed with SIGKILL."""

from __future__ import annotations

import os
from collections.abc import Sequence

# The kernel sends the signal only if we die after it was asked for; sh looks whether we did
# before, and then becomes the program.
_CHECK = '[ "$PPID" = "$1" ] || exit 1; shift; exec "$@"'


def guarded(argv: Sequence[str]) -> list[str]:
    """`argv` so that it is killed when the thread that starts it ends, however it ends."""
    me = str(os.getpid())
    return ["setpriv", "--pdeathsig", "KILL", "sh", "-c", _CHECK, "sh", me, *argv]
