# SPDX-License-Identifier: BSD-2-Clause
"""Collects a board's facts for the doctor. Its only effect: a first use may load kernel modules."""

from dataclasses import replace
from pathlib import Path

import msgspec

from teemark.base import scratch
from teemark.base.errors import TeemarkError
from teemark.base.finding import Finding
from teemark.base.sanitize import harmless_value
from teemark.boards import answers, tas
from teemark.boards.board import Board
from teemark.boards.command_lines import BoardPath
from teemark.boards.ta_key import signed_with_published_key
from teemark.boards.transfer import digest, digests
from teemark.doctor.facts import ExaminedBoard
from teemark.doctor.rules import problem
from teemark.run.records import HealthFacts, Machine

ABSENT = "program-absent"  # The key of the problem that installing teebench solves

HEALTH = Path(__file__).with_name("health.sh").read_text(encoding="utf-8")
"""The script whose output `with_health` takes."""

_OPENSSL = "openssl version -a 2>/dev/null; openssl list -providers 2>/dev/null; exit 0"

# Checks whether $1/teebench can be run. Prints `absent`, `mode` with the file's mode, `noexec` with
# the mount's options, or `fine`.
_PROGRAM = """\
d=$1 f=$1/teebench
[ -e "$f" ] || { echo "absent"; exit 0; }
[ -x "$f" ] && [ -r "$f" ] || { echo "mode $(ls -l "$f")"; exit 0; }
while read -r _ point _ options _; do
  case $d/ in "${point%/}"/*) best=$point; found=$options;; esac
done </proc/mounts
case ,$found, in *,noexec,*) echo "noexec $best $found";; *) echo fine;; esac
"""


def program(board: Board) -> Finding | None:
    """Returns the problem that keeps teebench from running on the board; None if it can run."""
    form = {"absent": "", "mode": ".+", "noexec": "/.*", "fine": ""}
    word, rest = board.ask("teebench", form, _PROGRAM, BoardPath(board.config.directory)).only()
    name, folder = board.name, board.config.directory
    match word:
        case "absent":
            return problem(ABSENT, f"no file teebench in {folder}", name, folder)
        case "mode":
            return problem("program-mode", rest, name)
        case "noexec":
            return problem("noexec", f"/proc/mounts: {rest}", name, folder, rest.split()[0])
    return None


_TEXTS = ("user", "tracer", "trace_events", "throttled", "rng_available", "disk_free_kib")
_LISTS = ("devices", "modules", "modules_there")


def with_health(facts: Machine, board: str, text: str) -> Machine:
    """Returns the facts with those that HEALTH told, which has the output `text`."""
    answer = answers.parse(board, "how well it is", text, dict.fromkeys(_TEXTS + _LISTS, ".*"))
    texts = {name: answer.all(name)[0] for name in _TEXTS if answer.all(name)}
    lists = {name: [*filter(None, answer.all(name))] for name in _LISTS if answer.all(name)}
    free = texts.pop("disk_free_kib", None)
    disk = {"disk_free_bytes": 1024 * int(free)} if free and free.isdecimal() else {}
    health = msgspec.to_builtins(facts.health) | harmless_value(texts | lists | disk)
    health = answers.typed(board, "how well it is", health, HealthFacts)
    return msgspec.structs.replace(facts, health=health)


def machine(board: Board) -> Machine:
    """Returns the facts that `teebench --machine` reports."""
    result = board.capture(["teebench", "--machine"], timeout=60)
    about = "what machine it is"
    record = answers.from_json(board.name, about, result.stdout)
    return answers.typed(board.name, about, record | {"type": "machine"}, Machine)


def look(board: Board) -> ExaminedBoard:
    """Returns the facts that the rules need; teebench must run on the board."""
    facts = with_health(machine(board), board.name, board.script(HEALTH).text)
    usable = facts.tee.device is not None and facts.tee.supplicant in ("running", None)
    openssl = board.script(_OPENSSL).text
    return ExaminedBoard(
        name=board.name,
        machine=facts,
        tas=_tas(board) if usable else (),
        openssl=tuple(line.strip() for line in openssl.splitlines() if line.strip()),
        icount=board.deterministic,
    )


def _tas(board: Board) -> tuple[tas.Ta, ...]:
    folder = board.ta_directory
    try:
        built = {f"{folder}/{path.name}": path for path in sorted(board.tas.glob("*.ta"))}
    except TeemarkError:
        return ()  # no kit to build our TAs with: none is expected
    keys: dict[str, bool | None] = {}
    for file, value in digests(board, [*built]).items():
        as_built = digest(built[file]) == value
        key = signed_with_published_key(built[file]) if as_built else _of_the_board(board, file)
        keys[built[file].stem] = key
    return tuple(replace(ta, published_key=keys.get(ta.uuid)) for ta in tas.open_each(board))


def _of_the_board(board: Board, path: str) -> bool | None:
    """Returns true if OP-TEE's published key signed a board's file; None if it is unreadable."""
    with scratch.folder() as folder:
        local = folder / "ta"
        try:
            board.pull(path, local)
        except TeemarkError:
            return None
        return signed_with_published_key(local)
