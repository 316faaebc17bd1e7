# SPDX-License-Identifier: BSD-2-Clause
"""`teemark plan`: list the plans, or show the cases of one."""

import click

from teemark.base import console
from teemark.base.errors import TeemarkError
from teemark.cli.common import only_option, option, picked, plan_argument, put_json, subcommand
from teemark.plan import check as plan_check
from teemark.plan.file import case_lines, load_plan, plan_names, select_cases


@click.group("plan")
def command() -> None:
    """List the plans, or show the cases of one."""


@subcommand("list", command)
def list_plans(as_json: bool = option("--json", "One JSON array, for scripts.")) -> int:
    """List the plans: name, number of cases, summary."""
    rows = []
    status = 0
    for name in plan_names():
        try:
            loaded = load_plan(name)
        except TeemarkError as error:
            click.echo(f"teemark: error: {error.message}", err=True)
            status = 1
            continue
        rows.append((name, len(loaded.cases), loaded.summary))
    if as_json:
        put_json([dict(zip(("name", "cases", "summary"), row, strict=True)) for row in rows])
        return status
    console.rows([(name, f"{cases:>5} cases", summary) for name, cases, summary in rows])
    return status


@subcommand("show", command)
def show(
    name: str = plan_argument,
    only: tuple[str, ...] = only_option,
    as_json: bool = option("--json", "One JSON object, for scripts."),
) -> None:
    """Print the cases of plan NAME, in the form that teebench reads.

    NAME may be a .toml file. A case that teebench wouldn't take is an error that names the plan's
    line: no board is needed for that.
    """
    loaded = load_plan(name)
    if only:
        loaded = select_cases(loaded, only)
    if not plan_check.check(loaded):
        console.say("teemark: names of cases weren't checked: `make host` builds what knows them")
    cases = loaded.cases
    if as_json:
        rows = [{"case": case.key, **picked(case, "samples", "min_us", "repeat")} for case in cases]
        put_json({"name": loaded.name, "summary": loaded.summary, "cases": rows})
        return
    click.echo(f"# {loaded.name}: {loaded.summary}")
    click.echo(case_lines(cases), nl=False)
