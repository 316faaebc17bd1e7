# SPDX-License-Identifier: BSD-2-Clause
"""What must be known before any figure is read: what was asked for and isn't in the run, and why.
The report begins with it, and `teemark run` ends with it on the terminal."""

from __future__ import annotations

from collections.abc import Sequence

from teemark.base import fmt
from teemark.page.blocks import Banner
from teemark.run.reader import RunData
from teemark.run.records import Skip


def notices(run: RunData) -> tuple[Banner, ...]:
    """In the order of their weight."""
    found = []
    if run.tee_refused:
        found.append(_refused(run, run.tee_refused))
    if run.incomplete is not None:
        found.append(_incomplete(run, run.incomplete))
    if run.fails:
        found.append(
            Banner(
                f"{fmt.plural(len(run.fails), 'case')} failed",
                ("Each had a wrong output or an error; its samples count for nothing.",),
            )
        )
    if run.without_tee:
        cases = sum(skip.code == "no-tee" for skip in run.skips)
        found.append(
            Banner(
                "This machine has no TEE",
                (f"{fmt.plural(cases, 'case')} that need one couldn't run. The rest did.",),
            )
        )
    return tuple(found)


def _refused(run: RunData, refused: Sequence[Skip]) -> Banner:
    whys = list(dict.fromkeys((skip.reason, skip.hint or "") for skip in refused))
    said = " ".join(f"{sentence(reason)} {sentence(hint)}".strip() for reason, hint in whys[:3])
    if len(whys) > 3:
        said += f" And {fmt.plural(len(whys) - 3, 'reason')} more."
    return Banner(
        "The TEE couldn't be used",
        (f"It is there, but {_of(len(refused), run)} weren't measured. {said}",),
    )


def _incomplete(run: RunData, why: str) -> Banner:
    return Banner("This run is incomplete", (f"{sentence(why)} {sentence(lacking(run))}".strip(),))


def lacking(run: RunData) -> str:
    """What an incomplete run lacks; empty for a whole one."""
    missing = run.missing
    none = sum(case.samples == 0 for case in missing)
    parts = []
    if none:
        parts.append(f"{_of(none, run)} weren't measured")
    if len(missing) > none:
        parts.append(
            f"{fmt.plural(len(missing) - none, 'case has', 'cases have')} fewer samples than asked "
            "for"
        )
    return "; ".join(parts)


def _of(number: int, run: RunData) -> str:
    asked = len(run.run.asked or ()) or run.run.cases if run.run is not None else 0
    return f"{number} of {fmt.plural(asked, 'case')}" if asked else fmt.plural(number, "case")


def sentence(text: str) -> str:
    if not text:
        return ""
    return text[:1].upper() + text[1:] + ("" if text.endswith((".", "!", "?")) else ".")
