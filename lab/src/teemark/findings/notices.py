# SPDX-License-Identifier: BSD-2-Clause
"""Notices of results that were asked for and that the run lacks. A report begins with them, and
`teemark run` ends with them."""

from dataclasses import dataclass

from teemark.base.work import Work
from teemark.run.reader import RunData
from teemark.wording import fmt


@dataclass(frozen=True, slots=True)
class Notice:
    """A message that no reader may miss."""

    title: str
    text: str

    @property
    def plain(self) -> str:
        """Returns the text for a terminal."""
        return f"{self.title}. {self.text}"


def notices(run: RunData) -> tuple[Notice, ...]:
    """Returns the notices of a run, the most serious first."""
    found: list[tuple[str, str]] = []
    if run.tee_refused:
        whys = list(dict.fromkeys((skip.reason, skip.hint or "") for skip in run.tee_refused))
        why = " ".join(f"{sentence(reason)} {sentence(hint)}".strip() for reason, hint in whys[:3])
        if len(whys) > 3:
            why += f" And {fmt.plural(len(whys) - 3, 'reason')} more."
        left = _of(len(run.tee_refused), run)
        rejected = [Work.of(skip.case) for skip in run.tee_refused if skip.code == "ta-rejected"]
        if rejected:
            by = ", ".join(dict.fromkeys(work.backend for work in rejected))
            why += f" TAs that the vendor signs add {fmt.plural(len(rejected), 'case')} ({by}): "
            why += "docs/boards.md says which files to give."
        found.append(
            ("The TEE couldn't be used", f"It is there, but {left} weren't measured. {why}")
        )
    if run.incomplete is not None:
        why = f"{sentence(run.incomplete)} {sentence(lacking(run))}".strip()
        found.append(("This run is incomplete", why))
    if run.fails:
        why = "Each had a wrong output or an error; its samples count for nothing."
        found.append((f"{fmt.plural(len(run.fails), 'case')} failed", why))
    if run.legs and all(leg.reason for leg in run.legs):
        why = f"--trace-events was asked for. {sentence(run.legs[0].reason or '')} "
        why += "What only they tell is missing from `teemark explain`."
        found.append(("The kernel's tracepoints traced no call", why))
    if run.without_tee:
        cases = fmt.plural(sum(skip.code == "no-tee" for skip in run.skips), "case")
        why = f"{cases} that need one couldn't run. The rest did."
        found.append(("This machine has no TEE", why))
    return tuple(Notice(title, text) for title, text in found)


def lacking(run: RunData) -> str:
    """Says which results an incomplete run lacks; an empty string for a complete run."""
    missing = run.missing
    none = sum(case.samples == 0 for case in missing)
    parts = []
    if none:
        parts.append(f"{_of(none, run)} weren't measured")
    if len(missing) > none:
        few = fmt.plural(len(missing) - none, "case has", "cases have")
        parts.append(f"{few} fewer samples than asked for")
    return "; ".join(parts)


def _of(number: int, run: RunData) -> str:
    total = len(run.header.asked or ()) or run.header.cases if run.header is not None else 0
    return f"{number} of {fmt.plural(total, 'case')}" if total else fmt.plural(number, "case")


def sentence(text: str) -> str:
    """Returns `text` as a sentence. If it begins with the name of a board or file, the name stays
    as it is: "qemu-v8: the connection broke off."."""
    if not text:
        return ""
    first = text[:1] if text.split(" ", 1)[0].endswith(":") else text[:1].upper()
    return first + text[1:] + ("" if text.endswith((".", "!", "?")) else ".")
