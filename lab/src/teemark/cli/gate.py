# SPDX-License-Identifier: BSD-2-Clause
"""`teemark gate`: have calls become dearer since the baseline was committed?"""

from functools import partial
from pathlib import Path

import click
from msgspec.structs import replace

from teemark.base.console import say
from teemark.base.errors import UsageMistake
from teemark.base.files import write_whole
from teemark.boards import config
from teemark.cli import common
from teemark.cli.common import option, subcommand
from teemark.exact import baseline as baselines
from teemark.exact import gate, record
from teemark.exact.baseline import Baseline, figures_of
from teemark.exact.gate import Gated
from teemark.exact.record import TaCalls
from teemark.model.changes import changes
from teemark.model.compare import Limit
from teemark.page.blocks import Block, Bullets, Heading, Paragraph, Table, left, right
from teemark.report import comparing
from teemark.report.comparing import ComparedRuns
from teemark.wording import fmt

OF_TA = "--ta"  # Plan's name in a baseline: the plan is the bench.toml of the TA


@subcommand("gate")
def command(
    *,
    place: Path = option(
        "--baseline FILE",
        "What each case took: a file to be committed.",
        kind=common.OUTPUT,
        default="gate.toml",
    ),
    update: bool = option("--update", "Measure, and write the baseline anew."),
    no_functions: bool = option(
        "--no-functions", "With --update: don't trace, so that no function is named."
    ),
    ta_path: Path | None = common.ta_option,
    plan: str | None = option(
        "--plan NAME", "With --update: what to measure. [default: as before; at first: gate]"
    ),
    board: str | None = option(
        "--board NAME", "With --update: where. [default: as before; at first: qemu-v8-icount]"
    ),
    fail_on: str = option(
        "--fail-on LIMIT",
        "Fail only where a case got so much dearer: 0.2%, or 1000i (instructions a call).",
        default="0%",
    ),
    skip_others: bool = option(
        "--skip-others",
        "Exit with 0 if the baseline was made with another compiler, OP-TEE, kernel or TF-A.",
    ),
    optee: str | None = common.optee_option,
    patches: tuple[Path, ...] = common.patch_option,
    form: str = common.form_option("markdown"),
    output: Path | None = common.output_option,
) -> int:
    """Run the baseline's plan on the exact board, and fail where a call takes more instructions
    than in the baseline.

    Two boots of the same code differ by the clock's step and at most 0.02 %, by 0.1 % where the
    timer ticks within a sample, and by 1.5 % in the kernel's crypto (afalg). A larger rise makes a
    case dearer; so does a smaller rise that all calls of a kind share. Then the plan is measured
    again on a second boot, and a case of each change is traced to name the functions. Where
    the baseline has how long interrupts are held off, its cases are traced, too. With a
    baseline of another compiler, OP-TEE, kernel or TF-A nothing is measured, and the outcome is
    neither pass nor fail.

    Exit status: 0 if nothing got dearer; 1 if something did, isn't measured any more, or can't be
    compared.
    """
    if not update and (plan is not None or board is not None or no_functions):
        raise UsageMistake(
            "--plan, --board and --no-functions belong to --update",
            hint="a gate measures what its baseline names",
        )
    limit = common.parse_limit(fail_on)
    before = gate.read(place) if place.exists() or not update else None
    name = plan or (before.plan if before is not None else OF_TA if ta_path is not None else "gate")
    where = board or (before.board if before is not None else "qemu-v8-icount")
    file = record.with_optee(config.find(where), optee, (), patches)
    if name == OF_TA and ta_path is None:
        raise UsageMistake(f"{place} is of a Trusted Application", hint="name its folder by --ta")
    calls = TaCalls(*common.load(ta_path, None if name == OF_TA else name))
    if update:
        traces = "" if no_functions else ", and a traced boot of all cases"
        say(f"two boots of {fmt.plural(len(calls.plan.keys), 'case')}{traces}; ends with {place}")
        baseline = replace(gate.make(file, calls, functions=not no_functions), plan=name)
        write_whole(place, baselines.render(baseline))
        click.echo(f"{place}: {len(baseline.figures)} cases. Read the difference, and commit it.")
        return 0
    assert before is not None
    gated = gate.run(file, calls, before, limit)
    blocks = partial(_blocks, gated, before, place, limit)
    common.put_blocks(form, output, blocks, partial(_json, gated, limit))
    if gated.found is None:
        return 0 if skip_others else 1
    return 1 if _failed(gated, limit) else 0


def _failed(gated: Gated, limit: Limit) -> bool:
    comparison = gated.found
    if comparison is None or comparison.lost or gated.held:
        return True
    unknown = all(pair.verdict == "undecided" for pair in comparison.pairs)
    return unknown or any(map(limit.broken, comparison.pairs))


def _blocks(gated: Gated, before: Baseline, place: Path, limit: Limit) -> list[Block]:
    comparison = gated.found
    if comparison is None:
        answer = f"UNKNOWN: {place} was made with other versions, so nothing can be said."
        rows = [(name, *versions) for name, versions in (gated.other or {}).items()]
        again = "Check out the code of the baseline (`git stash`, or its commit), measure it with "
        again += "what is here, by `--update`, and gate again."
        versions = Table(left("version of", "in the baseline", "here"), rows)
        return [Heading(answer), versions, Paragraph((again,))]
    gone = f" {len(comparison.lost)} gone." if comparison.lost else ""
    if gated.held:
        gone += f" {fmt.plural(len(gated.held), 'case')} with interrupts held off for longer."
    verdict = "FAIL" if _failed(gated, limit) else "PASS"
    head = f"{verdict}: {comparing.outcome(comparison)}{gone}"
    shown: list[Block] = [Heading(head)]
    if moved := [pair for pair in comparison.worst_first if pair.moved]:
        functions = {case: f"{case}: {words}" for case, words in gated.functions.items()}
        shown += comparing.change_table(ComparedRuns(comparison, changes(comparison), functions))
        cases = []
        for pair in moved:
            counts = (fmt.count(round(figure.value)) for figure in (pair.first, pair.second))
            change = f"{comparing.SIGN[pair.verdict]} {comparing.change(pair)}"
            cases.append((pair.name, *counts, change))
        shown.append(Table((*left("case"), *right("baseline", "now", "change")), cases))
    notes = [
        f"{case}: interrupts held off for up to {' → '.join(map(fmt.count, lengths))} instructions"
        for case, lengths in gated.held.items()
    ]
    notes += [f"{case}: not measured any more" for case in comparison.lost]
    notes += [f"{skip.case}: {skip.reason}" for skip in comparison.second.skips if comparison.lost]
    if any(map(limit.broken, moved)) and not gated.functions:
        why = "has no functions" if not before.functions else "has no functions of these cases"
        notes.append(f"which functions isn't known: the baseline {why}")
    if scattered := figures_of(comparison.second)[1]:
        why = "not judged, as where calls wait for a disk, or each makes another key"
        notes.append(f"{why}: {', '.join(scattered)}")
    if comparison.new:
        notes.append(f"not in the baseline: {', '.join(comparison.new)}")
    if comparison.of("better") or comparison.new:
        notes.append("`--update` takes what is new or cheaper into the baseline.")
    notes += filter(None, (comparing.visible(comparison),))
    return [*shown, Bullets(tuple((note,) for note in notes))]


def _json(gated: Gated, limit: Limit) -> dict[str, object]:
    comparison = gated.found
    if comparison is None:
        versions = (gated.other or {}).items()
        other = {name: {"baseline": pair[0], "here": pair[1]} for name, pair in versions}
        return {"outcome": "unknown", "other_versions": other}
    return {
        "outcome": "fail" if _failed(gated, limit) else "pass",
        "cases": [comparing.case_data(pair) for pair in comparison.worst_first],
        "changes": [
            comparing.change_data(comparison.second, change)
            | dict(zip(("traced", "functions"), gated.why(change), strict=True))
            for change in changes(comparison)
        ],
        "gone": list(comparison.lost),
        "not_in_baseline": list(comparison.new),
        "scattered": list(figures_of(comparison.second)[1]),
        "functions": dict(gated.functions),
        "held": gated.held,
    }
