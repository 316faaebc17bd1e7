# SPDX-License-Identifier: BSD-2-Clause
"""Records a run with its trace, on the exact board booted with QEMU's plugin."""

import itertools
import re
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

import msgspec

from teemark.base import paths
from teemark.base.checked import convert
from teemark.base.console import say, took, working
from teemark.base.errors import ConfigError, DataError, MissingOutput, UsageMistake
from teemark.base.work import CALL, EMPTY_CALL, Work
from teemark.boards import VirtualBoard, own_ta
from teemark.boards.config import BoardFile, VirtualConfig
from teemark.boards.own_ta import Built, OwnTa
from teemark.boards.qemu import PROGRAM as QEMU
from teemark.boards.qemu import require as require_qemu
from teemark.exact.analyse import CALIBRATION, analyse, sources
from teemark.measure import runner
from teemark.measure.runner import Outcome
from teemark.measure.teehash_steps import PROGRAM
from teemark.plan import check as plan_check
from teemark.plan.file import CaseLine, Plan, step_of
from teemark.run import reader
from teemark.run.reader import RunData
from teemark.trace import store
from teemark.trace.profile import Trace
from teemark.trace.window import TEEHASH_PARTS
from teemark.version import full_version
from teemark.wording import fmt

SAMPLES = 3
BUILDING = "building OP-TEE, unless it is there already …"
ASIDE = "-aside"  # Ends the name of a folder that was in the way


@dataclass(frozen=True, slots=True)
class TracedRun:
    run: RunData
    trace: Trace


_NO_PLAN = Plan("none", "")


@dataclass(frozen=True, slots=True)
class TaCalls:
    """The TA of cases of workload `call`, if it isn't on the board, and the plan with the calls."""

    ta: OwnTa | None = None
    plan: Plan = _NO_PLAN


def plan_of(keys: Sequence[str], samples: int, plan: Plan = _NO_PLAN) -> Plan:
    """Returns a plan of these cases, with one call per sample and the calibration first. The plan
    `plan` defines the calls of workload `call`. Each step of teehash runs `samples` times."""
    cases, steps = [], {}
    calls = {case.key: case for case in plan.cases if case.call}
    for key in dict.fromkeys((CALIBRATION, *keys)):
        if key.startswith(f"{PROGRAM}/"):
            step = step_of(_split(key)[0], samples)
            steps[step.key] = step
            continue
        try:
            line = CaseLine(Work.of(key))
        except ValueError as error:
            raise UsageMistake(
                str(error),
                hint=f"such as {EMPTY_CALL}; `teemark plan show NAME` prints the cases of a plan",
            ) from None
        if key not in calls and line.work.row is CALL:
            hint = "name the TA's folder by --ta, or its bench.toml by --plan"
            hint += f"; there are: {', '.join(calls)}" if calls else ""
            raise UsageMistake(f"{key}: no plan says what that calls", hint=hint)
        cases.append(replace(calls.get(key, line), samples=samples, min_us=0))
    summary = "One call of each case, instruction by instruction."
    traced = keys[0] if len(keys) == 1 else f"{len(keys)} calls"
    title = f"Where the instructions of {traced} go"
    return Plan("trace", summary, tuple(cases), tuple(steps.values()), plan.ta, title=title)


def _split(key: str) -> tuple[str, str]:
    step, slash, part = key.rpartition("/")
    return (step, slash + part) if part in TEEHASH_PARTS.values() else (key, "")


def _as_recorded(key: str) -> str:
    step, part = _split(key)
    return step_of(step, 1).key + part if key.startswith(f"{PROGRAM}/") else key


def with_optee(
    file: BoardFile, optee: str | None, options: Sequence[str], patches: Sequence[Path] = ()
) -> BoardFile:
    """Returns the board with the command line's firmware options. Options or patches without
    `optee` mean a build from source."""
    if not isinstance(file.config, VirtualConfig) or not file.config.icount:
        raise UsageMistake(
            f"{file.name} doesn't count instructions, so nothing is exact there",
            hint="use --board qemu-v8-icount, or a board file with icount = true; elsewhere "
            "`teemark compare BASE NEW --fail-on 5%` tells what became worse",
        )
    config = msgspec.to_builtins(file.config)
    if (options or patches) and optee is None:
        # If the board names its own tree, that tree is kept.
        optee = "source" if file.config.optee == "debian" else file.config.optee
    config["patches"] = [*config["patches"], *(str(patch.absolute()) for patch in patches)]
    if optee is not None:
        folder = optee not in ("debian", "source")
        config["optee"] = str(Path(optee).expanduser().absolute()) if folder else optee
        config["options"] = options
    try:
        return replace(file, config=convert(config, VirtualConfig, file.name))
    except ConfigError as error:
        raise UsageMistake(error.message, hint=error.hint) from None


def plugin() -> Path:
    """Returns the plugin that fits this machine's QEMU."""
    require_qemu()
    output = subprocess.run([QEMU, "--version"], capture_output=True, text=True, check=False).stdout
    major = re.search(r"version (\d+)", output)
    file = paths.trace_tools() / f"libteetrace-{2 if major and int(major[1]) >= 9 else 1}.so"
    if not file.is_file():
        raise MissingOutput(
            f"QEMU's plugin isn't built: there is no {file}",
            hint="run `make trace`, which needs a C compiler (Debian: apt install gcc)",
        )
    return file


@contextmanager
def recording(file: BoardFile, *options: str) -> Iterator[tuple[VirtualBoard, Path]]:
    """Yields a board, not yet booted, and the folder to which its plugin writes windows."""
    # Not in /tmp, which may be in memory: the window of a TA's loading takes 50 MB.
    with tempfile.TemporaryDirectory(prefix="trace-", dir=paths.build()) as folder:
        arguments = (str(plugin()), f"dir={folder.replace(',', ',,')}", *options)
        yield VirtualBoard(file, plugin=",".join(arguments)), Path(folder)


def record(
    file: BoardFile,
    keys: Sequence[str],
    directory: Path,
    samples: int = SAMPLES,
    calls: TaCalls | None = None,
    *,
    beginning: bool = False,
) -> TracedRun:
    """Measures the cases on a fresh boot, and keeps the run and its trace in `directory`. If the
    run is incomplete, keeps what was measured and raises the error. With `beginning`, a call too
    long to record is traced as far as it was recorded."""
    calls = calls or TaCalls()
    plan = plan_of(keys, samples, plan=calls.plan)
    try:
        plan_check.check(plan)
    except ConfigError as error:
        reason = error.message.removeprefix(f"{plan.name}: ")
        raise UsageMistake(
            reason, hint=error.hint or "`teemark plan show trace` prints cases that there are"
        ) from None
    with recording(file) as (board, folder):
        with working(BUILDING):
            what = board.optee.what
        if board.recipe.optee != "debian":
            say(f"teemark: {what}")
        guest = own_ta.build_for(calls.ta, plan.ta, board)
        outcome, kernel = _measure(board, plan, directory, guest)
        run = reader.read(outcome.file)
        if outcome.error is not None or run.incomplete:
            why = f"{directory}: the run is incomplete: {run.incomplete}"
            raise outcome.error or DataError(why)
        with working("reading the trace …"):
            named_by = sources(board.optee, kernel, guest)
            files = [folder / f"window-{n}" for n in range(len(list(folder.glob("window-*"))))]
            wanted = [_as_recorded(key) for key in keys]
            trace = analyse(run, files, named_by, board.optee.what, wanted, beginning=beginning)
        store.write(trace, directory)
    return TracedRun(run, trace)


def ahead(builds: int, cases: int, file: BoardFile) -> str:
    """Returns a sentence on the builds of OP-TEE and the traced boots that a command will make, and
    how long one took the last time."""
    built = took(BUILDING)
    each = fmt.roughly_minutes(built) if built is not None else "about 2 minutes"
    traced = took(f"measuring {fmt.plural(cases + 1, 'case')} on {file.name} …")
    boot = f", {fmt.roughly_minutes(traced)} each" if traced is not None else ""
    return (
        f"{fmt.plural(builds, 'build')} of OP-TEE, {each} each unless it is there already; each is "
        f"booted, and {fmt.plural(cases, 'call')} traced{boot}"
    )


def kept(file: BoardFile, keys: Sequence[str], directory: Path) -> TracedRun | None:
    """Returns the run and trace that `directory` has of these cases, by this teemark and with the
    OP-TEE that the board has now. Otherwise returns None, and moves aside what is in the way."""
    if (directory / store.FILE).is_file() and (directory / reader.RUN_FILE).is_file():
        run, trace = reader.read(directory), store.read(directory)
        made_by = (run.header.teemark, run.header.firmware) if run.header is not None else ()
        same = made_by == (full_version(), VirtualBoard(file).firmware)
        has_all = {_as_recorded(key) for key in keys} <= {case.case for case in trace.cases}
        if same and has_all and run.incomplete is None:
            return TracedRun(run, trace)
    if directory.exists() and any(directory.iterdir()):
        aside = (directory.with_name(f"{directory.name}-{n}{ASIDE}") for n in itertools.count(1))
        directory.rename(next(place for place in aside if not place.exists()))
    return None


def _measure(
    board: VirtualBoard, plan: Plan, directory: Path, guest: Built | None
) -> tuple[Outcome, str]:
    with own_ta.ready_board(board, guest):
        with working(f"measuring {fmt.plural(len(plan.keys), 'case')} on {board.name} …"):
            options = ("--loops", "1", "--no-ta-counter")
            outcome = runner.measure(board, plan, directory, runner.RunListener(), options=options)
        with working("fetching the kernel's symbols …"):
            kernel = board.capture(["cat", "/proc/kallsyms"]).text
    return outcome, kernel
