# SPDX-License-Identifier: BSD-2-Clause
"""`teemark audit`: figures that contradict each other."""

from pathlib import Path

import click

from teemark.audit import audit
from teemark.audit.text import read_file
from teemark.base.console import say
from teemark.cli.common import PATH, argument, option, put_json, subcommand


@subcommand("audit")
def command(
    files: tuple[Path, ...] = argument("FILE...", nargs=-1, required=True, type=PATH),
    as_json: bool = option("--json", "Write what was read and found as JSON."),
) -> int:
    """Look for figures that can't be right.

    FILE is the output of a program (openssl speed, tcrypt, kcapi-speed, cryptsetup benchmark, dd,
    time, xtest's perf tests, hyperfine, criterion, fio, cyclictest, wolfSSL's and Mbed TLS's
    benchmarks), or a text with tables or "name: value" lines. Sentences aren't read. The last
    line of each file says how much of it was read, how much could be tested, and which lines have
    numbers that weren't read.

    Exit status: 0 fine; 1 if there are findings.
    """
    audited = [audit(read_file(file)) for file in files]
    if as_json:
        put_json(audited)
    else:
        for outcome in audited:
            for finding in outcome.findings:
                line = finding.place.line if finding.place is not None else 0
                text = f"{finding.severity}: {finding.claim} [{finding.key}]"
                click.echo(f"{outcome.file}:{line}: {text}")
            say(outcome.summary)
    return 1 if any(outcome.findings for outcome in audited) else 0
