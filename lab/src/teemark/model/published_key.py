# SPDX-License-Identifier: BSD-2-Clause
"""Did this board's TEE run TAs that anybody could have signed?"""

from __future__ import annotations

from teemark.run.reader import RunData

_IN_A_TA = ("tee", "ta-c", "ta-ce")


def accepted(run: RunData) -> bool:
    """TAs signed with the key that OP-TEE publishes computed here. Of a board that is emulated
    that says nothing: nobody keeps a secret in it."""
    return (
        run.run is not None
        and run.run.tas_signed_with_published_key is True
        and not run.run.emulated
        and any(measured.case.backend in _IN_A_TA for measured in run.sound)
    )
