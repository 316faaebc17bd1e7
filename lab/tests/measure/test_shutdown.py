# SPDX-License-Identifier: BSD-2-Clause
"""A signal ends `teemark run` soon, in whatever phase, on a board that lives, hangs or is gone;
what it measured until then is a run that says that it is incomplete.

The board is this machine over a real ssh server: frozen by SIGSTOP, dropped by SIGKILL. SIGNALS=50
(make signals) sends so many in each state, on a quiet machine: it judges how soon the end comes.
Without it the timer that ends a process by force is set so late that a busy machine can't meet it.
"""

import contextlib
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

import sshserver
from conftest import HOST, often
from teemark.base import scratch, shutdown
from teemark.run import reader
from teemark.run.reader import PARTIAL_FILE, RUN_FILE
from waiting import HEARS, line_of, status_of, until, until_it_catches, until_it_hears

SIGNALS = int(os.environ.get("SIGNALS", often(1, 2)))
JUDGED = "SIGNALS" in os.environ
FORCE_S = 240
"""Seconds from a signal to the forced end, where time isn't judged."""
pytestmark = pytest.mark.timeout(4 * FORCE_S)

TEEMARK = f"""\
import sys
from teemark.__main__ import main
from teemark.base import shutdown
if not {JUDGED}:
    shutdown.LAST_S = shutdown.AT_ONCE_S = {FORCE_S}
sys.exit(main())
"""

PLAN = """\
summary = "Some seconds of what every machine has."
[[cases]]
workload = "oneshot"
algorithms = ["sha256", "sha512"]
backends = ["c"]
sizes = [64, "4KiB", "64KiB"]
samples = 400
min_us = 2000
"""
WHOLE_S = 8.0
"""Seconds that such a run takes, with reaching, installing and the report."""
SLACK_S = 3.0
"""Seconds by which a busy machine may be late."""


@pytest.fixture
def server(tmp_path: Path) -> Iterator[sshserver.SshServer]:
    server = sshserver.start(tmp_path, HOST)
    yield server
    server.stop()


COMMANDS = {
    "run": ("run", "--board", "{0}/board.toml", "--plan", "{0}/plan.toml", "--out", "{0}/run"),
    "several": (
        *("run", "--board", "{0}/board.toml", "--board", "{0}/other.toml", "--board"),
        *("{0}/third.toml", "--plan", "{0}/plan.toml", "--out", "{0}/runs"),
    ),
    "watch": ("watch", "--board", "{0}/board.toml", "--out", "{0}/seen", "--", "sleep", "1000"),
    "setup": ("setup", "{0}/board.toml"),
}


def start(
    server: sshserver.SshServer, folder: Path, command: str = "run"
) -> subprocess.Popen[bytes]:
    (folder / "plan.toml").write_text(PLAN)
    for name in ("board", "other", "third"):
        (folder / f"{name}.toml").write_text(
            f"""\
kind = "ssh"
address = "127.0.0.1"
user = "{server.user}"
port = {server.port}
identity = "{server.identity}"
directory = "~/programs-{name}"
options = ["UserKnownHostsFile={server.known_hosts}", "HostKeyAlias={HOST}"]
"""
        )
    (folder / "tmp").mkdir()
    words = [word.format(folder) for word in COMMANDS[command]]
    environment = {**os.environ, "TMPDIR": str(folder / "tmp"), "XDG_RUNTIME_DIR": ""}
    return subprocess.Popen(
        [sys.executable, "-c", TEEMARK, *words],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=(folder / "said").open("wb"),
        env=environment,
        preexec_fn=heard,  # noqa: PLW1509
    )


def heard() -> None:
    """A test that runs in the background or under nohup has SIGINT or SIGHUP ignored, and so would
    its children."""
    for signum in (signal.SIGINT, signal.SIGHUP):
        signal.signal(signum, signal.SIG_DFL)


def disturb(server: sshserver.SshServer, state: str) -> list[int]:
    """Freezes or kills whatever serves the connection, and what runs on it."""
    served = sshserver.children(server.process.pid)
    signum = {"frozen": signal.SIGSTOP, "dropped": signal.SIGKILL}.get(state)
    for pid in served if signum else []:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signum)  # type: ignore[arg-type]
    return served


def check_what_is_left(folder: Path) -> str:
    """Nothing half looks whole; returns what there is."""
    run = folder / "run"
    assert not (run / PARTIAL_FILE).exists()
    if not (run / RUN_FILE).exists():
        return "nothing"
    data = reader.read(run)
    assert data.end is not None
    asked = {case.key: case.record.samples for case in data.cases.values()}
    whole = all(len(case.samples) == asked[key] for key, case in data.cases.items())
    assert data.incomplete or (len(data.cases) == 6 and whole)
    return data.incomplete or "whole"


@pytest.mark.parametrize("state", ["live", "frozen", "dropped"])
@pytest.mark.parametrize("number", range(SIGNALS))
def test_the_first_signal_ends_it_soon_and_the_second_at_once(
    server: sshserver.SshServer, tmp_path: Path, state: str, number: int
) -> None:
    dice = random.Random(f"{state} {number}")
    folder = tmp_path / "here"
    folder.mkdir()
    with start(server, folder) as process:
        until_it_catches(process, signal.SIGTERM)  # Python alone doesn't
        time.sleep(dice.uniform(0, WHOLE_S))
        served = disturb(server, state)
        time.sleep(dice.choice([0, 0.3]))
        signum = dice.choice([signal.SIGINT, signal.SIGTERM])
        over = process.poll() is not None
        began = time.monotonic()
        process.send_signal(signum)
        twice = dice.random() < 0.4
        if twice:
            time.sleep(0.2)
            process.send_signal(signum)
        try:
            status = status_of(process)
        finally:
            took = time.monotonic() - began
            process.kill()
            for pid in served:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
    said = (folder / "said").read_text()
    limit = 0.2 + shutdown.AT_ONCE_S if twice else shutdown.LAST_S
    assert took < limit + SLACK_S or not JUDGED, said
    assert "Traceback" not in said
    left = check_what_is_left(folder)
    if not over and state != "dropped":
        # A run that was over before the signal came ends as any other.
        usual = {0, 1} if left == "whole" else set[int]()
        assert status in {128 + signum, -signum} | usual, said
    # A folder of ours that is left is swept by the next command.
    scratch.make(str(folder / "tmp"))
    assert len(list((folder / "tmp").glob("teemark-*"))) == 1


def marked(mark: str) -> list[int]:
    """The processes that have this in their environment."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            if mark.encode() in (folder / "environ").read_bytes():
                found.append(int(folder.name))
    return found


@pytest.mark.parametrize("command", [name for name in COMMANDS if name != "run"])
@pytest.mark.parametrize("number", range(SIGNALS))
def test_nothing_is_left_of_a_command_that_a_signal_ended(
    server: sshserver.SshServer, tmp_path: Path, command: str, number: int
) -> None:
    """SIGINT, SIGTERM or SIGKILL comes at a random moment. Each process of the command, here and on
    the board, has the folder in its environment; the next command works."""
    dice = random.Random(f"{command} {number}")
    folder = tmp_path / "here"
    folder.mkdir()
    how = dice.choice([signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
    with start(server, folder, command) as process:
        time.sleep(dice.uniform(0.1, WHOLE_S))
        process.send_signal(how)
        status = process.wait(FORCE_S)
    said = (folder / "said").read_text()
    assert "Traceback" not in said or "/teemark/" not in said, said  # Python's own start may
    assert status in (0, 1, 128 + how, -how), said
    until("all processes' end", lambda: not marked(f"TMPDIR={folder}/tmp"))
    on_board = f"TEEMARK_WATCH={tempfile.gettempdir()}/teemark-held."
    until("the watched program's end", lambda: not marked(on_board))
    held = Path(tempfile.gettempdir())
    until("the board's folder's end", lambda: not list(held.glob("teemark-held.*")))
    again = [sys.executable, "-m", "teemark", "exec", f"{folder}/board.toml", "--", "echo", "well"]
    environment = {**os.environ, "TMPDIR": str(folder / "tmp"), "XDG_RUNTIME_DIR": ""}
    assert subprocess.check_output(again, env=environment) == b"well\n"
    assert not list((folder / "tmp").glob("teemark-*"))


def test_importing_the_package_takes_nothing_before_signals_are_taken() -> None:
    """Ctrl-C in the first tenth of a second was a traceback, in the midst of importing typing."""
    code = "import sys; import signal; before = set(sys.modules); import teemark; "
    code += "print(*sorted(set(sys.modules) - before))"
    took = subprocess.check_output([sys.executable, "-c", code], text=True).split()
    assert took == ["teemark", "teemark.version"]


def test_what_was_given_for_the_end_runs_when_all_else_hangs(tmp_path: Path) -> None:
    """The timer ends a process whose every exit waits for something."""
    mark = tmp_path / "mark"
    code = (
        f"{HEARS}import sys; from pathlib import Path; from teemark.base import shutdown\n"
        "shutdown.install()\n"
        "shutdown.LAST_S = 0.5\n"
        "with shutdown.at_last(lambda: Path(sys.argv[1]).write_text('end')):\n"
        "    while True:\n"
        "        try: print('ready', flush=True); hear()\n"
        "        except BaseException: pass\n"
    )
    argv = [sys.executable, "-c", code, str(mark)]
    with subprocess.Popen(argv, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        process.stdout.readline()
        process.terminate()
        assert status_of(process) == 128 + signal.SIGTERM
    assert mark.read_text() == "end"


@pytest.mark.parametrize("signum", shutdown.SIGNALS)
def test_a_second_signal_raises_nothing_while_the_first_is_handled(signum: signal.Signals) -> None:
    """It only ends all waiting. The child says when it handles the first, and then waits for a
    line, which comes after the second."""
    code = (
        f"{HEARS}import sys; from teemark.base import shutdown\n"
        f"shutdown.LAST_S = shutdown.AT_ONCE_S = {FORCE_S}\n"
        "shutdown.install()\n"
        "try:\n"
        "    print('ready', flush=True); hear()\n"
        "except BaseException:\n"
        "    print('handles', flush=True); sys.stdin.readline()\n"
        "    print(shutdown._state.count, shutdown.patience(1), flush=True)\n"
    )
    argv = [sys.executable, "-c", code]
    pipe = subprocess.PIPE
    with subprocess.Popen(argv, stdin=pipe, stdout=pipe, preexec_fn=heard) as process:  # noqa: PLW1509
        assert process.stdin is not None
        assert line_of(process) == b"ready\n"
        process.send_signal(signum)
        assert line_of(process) == b"handles\n"
        process.send_signal(signum)
        until_it_hears(process, signum)
        process.stdin.write(b"go on\n")
        process.stdin.close()
        assert line_of(process) == b"2 0.0\n"
        assert status_of(process) == 0


def test_who_is_told_of_a_signal_is_told_whatever_comes_meanwhile() -> None:
    """Where the grace is over, or the second signal comes, before the first was passed on, the
    board's command would never hear of it."""
    code = (
        f"{HEARS}import sys; from teemark.base import shutdown\n"
        f"shutdown.LAST_S = shutdown.AT_ONCE_S = {FORCE_S}; shutdown.GRACE_S = 0\n"
        "shutdown.install()\n"
        "def tell(signum):\n"
        "    print('tells', flush=True); sys.stdin.readline(); print('told', flush=True)\n"
        "try:\n"
        "    with shutdown.telling(tell):\n"
        "        print('ready', flush=True); hear()\n"
        "except KeyboardInterrupt:\n"
        "    print('ends', flush=True)\n"
    )
    argv = [sys.executable, "-c", code]
    pipe = subprocess.PIPE
    with subprocess.Popen(argv, stdin=pipe, stdout=pipe, preexec_fn=heard) as process:  # noqa: PLW1509
        assert process.stdin is not None
        assert line_of(process) == b"ready\n"
        process.send_signal(signal.SIGINT)
        assert line_of(process) == b"tells\n"
        process.send_signal(signal.SIGINT)
        until_it_hears(process, signal.SIGINT)
        process.stdin.write(b"go on\n")
        process.stdin.close()
        assert [line_of(process), line_of(process)] == [b"told\n", b"ends\n"]
        assert status_of(process) == 0


def test_a_second_interrupt_while_the_first_is_handled_leaves_no_traceback() -> None:
    program = (
        "from teemark.cli import main\n"
        "def run():\n"
        "    raise KeyboardInterrupt\n"
        "main.run = run\n"
        "main.main()\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, check=False)
    assert (done.returncode, done.stderr) == (128 + signal.SIGINT, b"")
