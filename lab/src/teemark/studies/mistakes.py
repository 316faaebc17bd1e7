# SPDX-License-Identifier: BSD-2-Clause
"""What a document says against itself and no general rule can know: the [[mistakes]] of
reference/DOCUMENT.toml, computed from the figures that the document printed."""

from __future__ import annotations

from collections.abc import Iterator

from teemark.audit.rule import amount
from teemark.base.errors import ConfigError
from teemark.base.finding import Finding, Place
from teemark.reference.data import Reference
from teemark.studies import declared


def mistaken(reference: Reference, document: str) -> Iterator[Finding]:
    """Each mistake that the printed figures bear out, with the rounding of all of them. A figure
    that can't be computed is a ConfigError."""
    for one in declared.mistakes(document):
        try:
            value = one.figure.printed(reference, document)
        except (KeyError, ZeroDivisionError) as error:
            raise ConfigError(f"{document}.toml: mistake {one.key}: {error}") from None
        if value.high < one.low or value.low > one.high:
            yield Finding(
                key=one.key,
                topic="document",
                severity=one.severity,
                claim=one.says.replace("{figure}", amount(value, one.unit, 3)),
                place=Place(document, 0, one.table),
            )
