# SPDX-License-Identifier: BSD-2-Clause
"""`teemark audit`: what figures say against themselves and against what is published."""

from __future__ import annotations

from pathlib import Path

import click


@click.command("audit")
@click.argument(
    "files", metavar="FILE...", nargs=-1, required=True, type=click.Path(path_type=Path)
)
@click.option(
    "--core",
    default="",
    metavar="NAME",
    help="The core that gave the figures, if they don't say: cortex-a53.",
)
@click.option(
    "--ghz",
    default=0.0,
    type=click.FloatRange(0),
    metavar="GHZ",
    help="Its clock, if they don't say.",
)
@click.option("--json", "as_json", is_flag=True, help="Write the findings as JSON.")
def command(files: tuple[Path, ...], core: str, ghz: float, as_json: bool) -> int:
    """Look for figures that can't be right.

    FILE is the output of openssl speed, xtest's perf tests, kcapi-speed, `time`, cryptsetup
    benchmark or tcrypt, a text with tables, or a run of teemark. Several are compared with each
    other.

    Exit status: 0 fine; 1 if there are findings; 2 for a mistake on the command line.
    """
    import msgspec

    from teemark.audit import audit
    from teemark.audit import files as audit_files
    from teemark.base import fmt
    from teemark.base.errors import UsageMistake
    from teemark.reference import data

    reference = data.load()
    cores = sorted({row.core for row in reference.cycles})
    if core and core.lower() not in cores:
        raise UsageMistake(
            f"--core {core}: nothing is published of it", hint=f"known: {', '.join(cores)}"
        )
    sheets = [audit_files.read(file) for file in files]
    findings = audit(sheets, reference, core.lower(), ghz * 1e9)
    if as_json:
        found = {"findings": findings, "figures": sum(len(sheet.cells) for sheet in sheets)}
        click.echo(msgspec.json.format(msgspec.json.encode(found)).decode())
    else:
        for one in findings:
            click.echo(f"{one.file}:{one.line}: {one.severity}: {one.evidence} [{one.rule}]")
        count = sum(len(sheet.cells) for sheet in sheets)
        said = f"{fmt.plural(len(findings), 'finding')} in {fmt.plural(count, 'figure')}"
        click.echo(said, err=True)
    return 1 if findings else 0
