# SPDX-License-Identifier: BSD-2-Clause
"""`teemark predict`: the cost of a call that wasn't measured, by the models of a run."""

import math
from pathlib import Path

from teemark.base.console import paragraph
from teemark.base.console import terminal as text_terminal
from teemark.base.errors import UsageMistake
from teemark.base.work import STREAM, Work
from teemark.cli.common import argument, latest_run, subcommand
from teemark.cli.runs import read
from teemark.model.models import Models, build
from teemark.model.predict import Prediction, Unpredictable, catalogue, predict
from teemark.page import terminal
from teemark.page.blocks import Table, left, right
from teemark.plan.words import parse_size
from teemark.run.reader import RunData
from teemark.wording import fmt
from teemark.wording.interval import Interval


@subcommand("predict")
def command(words: tuple[str, ...] = argument("[RUN] [CASE]...", nargs=-1)) -> int:
    """Say what each CASE would take, and how far off that may be.

    A CASE is oneshot/sha256/tee/5000, cipher/aes-128-cbc/tee/enc/64K, stream/sha256/tee/37M/64K, …:
    a key with its sizes. Without a CASE, list what RUN can predict, and between which sizes. RUN is
    runs/latest unless the first word is a file or a folder.

    Exit status: 0 fine; 1 if RUN gives no ground for an answer: then it says what to measure first.
    """
    named = bool(words) and (Path(words[0]).exists() or words[0].count("/") < 2)
    run_path, keys = (Path(words[0]), words[1:]) if named else (latest_run(), words)
    try:
        tasks = [asked(key) for key in keys]
    except ValueError as error:
        hint = "for example: stream/sha256/tee/37M/64K"
        raise UsageMistake(str(error), hint=hint) from None
    run = read(run_path)
    models = build(run)
    if not tasks:
        _catalogue(models)
    status = 0
    for task in tasks:
        try:
            _say(run, predict(models, task))
        except Unpredictable as error:
            status = 1
            paragraph(text_terminal(), f"{_name(task)}: no prediction: {error.message}")
            paragraph(text_terminal(), f"  measure first: {error.hint}")
    return status


def asked(text: str) -> Work:
    """Returns the case of a key, whose sizes may have units; raises ValueError for a wrong key."""
    words = text.split("/")
    sizes = [str(parse_size(word)) if word[:1].isdecimal() else word for word in words[3:]]
    task = Work.of("/".join((*words[:3], *sizes)))
    if task.size is None or task.chunk == 0:
        needs = "a size, and that of its pieces" if task.row is STREAM else "one size"
        raise ValueError(f"{text!r}: its key ends with {needs}")
    return task


def _name(task: Work) -> str:
    pieces = "" if task.chunk is None else f" in pieces of {fmt.size(task.chunk)}"
    curve = task.curve or task.workload
    return f"{curve}/{task.algorithm}/{task.backend}, {fmt.size(task.size or 0)}{pieces}"


def _say(run: RunData, answer: Prediction) -> None:
    console, task = text_terminal(), answer.task
    interval = answer.interval
    value, ends = answer.figure.value, "too few samples for an interval"
    if interval:
        # only digits that the interval allows: down to a hundredth of its width
        step = 10.0 ** max(math.floor(math.log10(max(interval.width, 1))) - 1, 0)
        value, low, high = (
            round(number / step) * step for number in (value, interval.low, interval.high)
        )
        ends = fmt.cost_ends(run, Interval(low, high))
    paragraph(console, f"{_name(task)}: {fmt.cost(run, value)} ({ends})")
    fitted = fmt.TO.join(map(fmt.size, answer.fitted))
    what = f"its model is fitted to {fitted}"
    if task.chunk is None:
        checked = f", and off by at most {fmt.share(answer.off)} at a size that is left out"
    elif answer.streams:
        streams = fmt.plural(answer.streams, "stream")
        checked = f"; checked with {streams} of this run: off by {fmt.share(answer.off)}"
    else:
        checked = "; this run has no stream to check that with"
    paragraph(console, f"  {what}{checked}")


def _catalogue(models: Models) -> None:
    predictable = list(catalogue(models))
    console = text_terminal()
    if not predictable:
        paragraph(console, "No model of this run predicts: one needs four sizes of a workload.")
        return
    rows = tuple(
        (cost.name, *map(fmt.size, ends), fmt.share(off), ", ".join(cost.fit.terms))
        for cost, ends, off in predictable
    )
    table = Table((*left("model"), *right("from", "to", "off by"), *left("terms")), rows)
    terminal.show(console, [table])
    paragraph(console, "off by: the largest error at a size that the model was fitted without.")
