# SPDX-License-Identifier: BSD-2-Clause
"""What failed or could not run, with its reasons."""

from __future__ import annotations

from collections.abc import Sequence

from teemark.base import fmt
from teemark.base.work import Work
from teemark.findings.subject import Subject, each
from teemark.page.blocks import Block, Code, Column, Quiet, Section, Table, Text
from teemark.run.records import Fail


def left_out(subjects: Sequence[Subject]) -> Section | None:
    blocks = each(subjects, _left_out_of)
    return Section("left-out", "Left out", tuple(blocks)) if blocks else None


def _left_out_of(subject: Subject) -> list[Block]:
    run = subject.run
    blocks: list[Block] = []
    if run.fails:
        blocks.append(
            Table(
                (Column("failed", "left"), Column("why", "left")),
                tuple(((Code(fail.case),), _failed(fail)) for fail in run.fails),
            )
        )
    if run.skips:
        reasons: dict[tuple[str, str, str], list[str]] = {}
        for skip in run.skips:
            why = (skip.reason, skip.code, skip.hint or "")
            reasons.setdefault(why, []).append(skip.case)
        blocks.append(
            Table(
                (
                    Column("cases", "left"),
                    Column("can't run because", "left"),
                    Column("which", "left"),
                ),
                tuple(
                    (fmt.count(len(keys)), _why(reason, code, hint), _keys(keys))
                    for (reason, code, hint), keys in reasons.items()
                ),
            )
        )
    return blocks


def _why(reason: str, code: str, hint: str) -> Text:
    return (reason, Quiet(f" ({code})"), Quiet(f". {hint[:1].upper()}{hint[1:]}" if hint else ""))


def _failed(fail: Fail) -> Text:
    tee = f" ({fail.tee_result} from {fail.tee_origin})" if fail.tee_result else ""
    return (fail.reason, Quiet(tee))


def _keys(keys: Sequence[str]) -> Text:
    """A few keys, or what they have in common."""
    if len(keys) <= 2:
        return (Code(", ".join(keys)),)
    works = [Work.of(key) for key in keys]
    columns = zip(*((w.workload, w.algorithm, w.backend, w.parameters) for w in works), strict=True)
    return (Code("/".join(_one_of(list(dict.fromkeys(column))) for column in columns)),)


def _one_of(names: Sequence[str]) -> str:
    """One word, a few in braces, or a star for many."""
    if len(names) == 1:
        return names[0]
    return "{" + ",".join(names) + "}" if len(names) <= 6 else "*"
