# SPDX-License-Identifier: BSD-2-Clause
"""What the published figures say against themselves, computed from reference/*.csv.

To add a check: a function `(Reference) -> list of sentences` in the file of its document, with the
question as its docstring, and a row in that file's CHECKS. A check shows its arithmetic, says
nothing of consistent figures, and has an alteration in lab/tests/test_reference_audit.py that
silences it.
"""

from __future__ import annotations

from teemark.reference.audit import (
    api_vs_custom,
    beaglebone,
    mqtt_tz,
    secure_hash,
    small_messages,
)
from teemark.reference.audit.base import Check, Finding
from teemark.reference.data import Reference

CHECKS: tuple[Check, ...] = (
    *secure_hash.CHECKS,
    *small_messages.CHECKS,
    *api_vs_custom.CHECKS,
    *mqtt_tz.CHECKS,
    *beaglebone.CHECKS,
)


def audit(reference: Reference, document: str | None = None) -> tuple[Finding, ...]:
    """Every finding, in the order of the documents; or those of one document."""
    return tuple(
        finding
        for check in CHECKS
        if document is None or check.document == document
        for finding in check.findings(reference)
    )
