# SPDX-License-Identifier: BSD-2-Clause
"""Fixtures for all tests: a local ssh server, a browser, and the virtual boards (one boot a
session)."""

import os
import shutil
import signal
import subprocess
import tarfile
import tempfile
from collections.abc import Generator, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, Self

import msgspec
import pytest
from hypothesis import HealthCheck, settings

import browser
import sshserver
from teemark import boards
from teemark.base import paths
from teemark.base.errors import BoardError
from teemark.boards import (
    Board,
    BoardFile,
    SshConfig,
    VirtualBoard,
    config,
    ensure_installed,
    open_board,
    optee,
)
from teemark.boards.config import VirtualConfig
from teemark.boards.endpoint import Endpoint
from teemark.boards.optee import Optee
from teemark.reference.data import Reference, load
from waiting import until

HOST = "test-host"

THOROUGH = bool(os.environ.get("THOROUGH"))
"""`make test-long` is under way: counts are those of the exhaustive tests."""


def often(few: int, many: int) -> int:
    """How often to do a thing: `few` times in `make test`, `many` in `make test-long`."""
    return many if THOROUGH else few


FEW_TAS = r"-- TAS=digest\ probe"
"""Makes make build two of our TAs, as its MAKEFLAGS: all take ten seconds."""


def cut_power(board: VirtualBoard) -> None:
    """The guest is gone in the midst of what it does; the data disk has what reached it."""
    if board._qemu is not None:
        board._qemu.kill()
        board._qemu.wait()


def reboot(board: VirtualBoard) -> None:
    """Cuts the power, and boots again with the same data disk. Programs in the root file system
    are gone: it starts anew too."""
    cut_power(board)
    board._power_off()
    board.keep = board.keep or board._attached
    board._power_on()


@pytest.fixture(scope="module")
def optee_source() -> Optee:
    """An OP-TEE built from source; an index that apt calls expired may be used for it."""
    os.environ["TEEMARK_APT_OPTIONS"] = "Acquire::Check-Valid-Until=false"
    recipe = config.find("qemu-v8-icount").config
    assert isinstance(recipe, VirtualConfig)
    try:
        return optee.resolve(msgspec.structs.replace(recipe, optee="source"))
    except BoardError as error:
        if "no source of OP-TEE can be had" in error.message:
            pytest.skip(error.message)
        raise


def fetched(programs: dict[str, tuple[str, ...]]) -> list[Path]:
    """Returns programs of Debian's packages and their libraries, for boards, fetched if need be. A
    key is a folder of build/vboard/broker; skips where one can't be had."""
    broker = paths.vboard() / "broker"
    folders = {name: broker / name / "usr" for name in programs}
    if not all(folder.is_dir() for folder in folders.values()):
        subprocess.run([paths.root() / "vboard" / "scripts" / "broker"], check=False)
    if lacking := [name for name, folder in folders.items() if not folder.is_dir()]:
        pytest.skip(f"no {' or '.join(lacking)} where this machine gets its packages")
    files = []
    for name, folder in folders.items():
        files += sorted((folder / "lib/aarch64-linux-gnu").glob("*.so.?*"))
        files += [folder / "bin" / one for one in programs[name]]
    return files


def bring(board: VirtualBoard, place: str, programs: dict[str, tuple[str, ...]]) -> None:
    """Brings those programs and libraries to a folder of the board."""
    with tempfile.TemporaryFile() as packed:
        with tarfile.open(fileobj=packed, mode="w", dereference=True) as archive:
            for file in fetched(programs):
                archive.add(file, file.name)
        packed.seek(0)
        board.script('mkdir -p "$1" && tar -xC "$1"', place, stdin=packed, timeout=None)


settings.register_profile(
    "teemark",
    max_examples=often(25, 500),
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],  # It judges the machine
)
settings.load_profile("teemark")


def new_debian(root: Path, suite: str) -> None:
    """Makes a new Debian in `root`, of the archive that this machine has its packages from."""
    if shutil.which("debootstrap") is None:
        pytest.skip("there is no debootstrap")
    asked = ["apt-get", "indextargets", "--format", "$(SITE)"]
    site = subprocess.check_output(asked, text=True).split()[0]
    words = ["debootstrap", "--variant=minbase", suite, str(root), site]
    subprocess.run(words, check=True, stdout=subprocess.DEVNULL)


def pytest_configure(config: pytest.Config) -> None:
    # A shell that begins the tests in the background has SIGINT ignored, and so has whatever
    # they begin.
    if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


ONE_STRAND = {
    "test_broker_attacks_board.py": "broker",
    "test_broker_board.py": "broker",
    "test_opens_board.py": "two cores",
    "test_tas_board.py": "two cores",
    "test_waiting_board.py": "two cores",
    "test_board_exact.py": "exact",
    "test_docs_board.py": "exact",
    "test_latency_board.py": "exact",
    "test_parallel_board.py": "exact",
    "test_readme.py": "exact",
    "test_signature_tables.py": "exact",
}
"""Files that share what takes long to make: mosquitto on the board, the exact board, the board with
two cores."""


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """Keeps such files in one strand, as `--dist loadfile` does with the tests of a file."""
    if config.getoption("dist") != "loadfile":
        return None
    from xdist.scheduler import LoadFileScheduling

    def strand(nodeid: str) -> str:
        file = nodeid.partition("::")[0]
        return ONE_STRAND.get(Path(file).name, file)

    strands = LoadFileScheduling(config, log)
    strands._split_scope = strand
    return strands


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    def seconds(item: pytest.Item) -> int:
        mark = item.get_closest_marker("long")
        return int(mark.args[0]) if mark else 0

    items.sort(key=seconds, reverse=True)


@pytest.fixture(scope="session")
def ssh_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[sshserver.SshServer]:
    """A dropbear on 127.0.0.1."""
    lacking = sshserver.missing()
    if lacking:
        pytest.fail(f"{lacking}: run `make deps`")
    server = sshserver.start(tmp_path_factory.mktemp("ssh"), HOST)
    yield server
    server.stop()


def endpoint(server: sshserver.SshServer, **changes: object) -> Endpoint:
    facts: dict[str, object] = {
        "address": "127.0.0.1",
        "user": server.user,
        "port": server.port,
        "identity": server.identity,
        "known_hosts": server.known_hosts,
        "host_alias": HOST,
        "connect_timeout": 5,
    }
    return Endpoint(**(facts | changes))  # type: ignore[arg-type]


def local_board(server: sshserver.SshServer, **changes: object) -> Board:
    config = SshConfig(
        address="127.0.0.1",
        directory="~/our programs",
        ta_directory=str(server.home / "tas"),
    )
    return Board(BoardFile("local", Path("local.toml"), config), endpoint(server, **changes))


@pytest.fixture
def board(ssh_server: sshserver.SshServer) -> Iterator[Board]:
    """A board over ssh: this machine, with an empty home directory."""
    with local_board(ssh_server) as opened:
        yield opened


@pytest.fixture(scope="session")
def reference() -> Reference:
    return load()


@pytest.fixture(scope="module")
def chromium() -> Iterator[browser.Browser]:
    with browser.browser() as opened:
        yield opened


def changed(name: str, **changes: object) -> BoardFile:
    """Returns the file of the virtual board `name` with other values in its recipe."""
    file = config.find(name)
    assert isinstance(file.config, VirtualConfig)
    return replace(file, config=msgspec.structs.replace(file.config, **changes))


def _boot(board: Board) -> Iterator[VirtualBoard]:
    with board as opened:
        assert isinstance(opened, VirtualBoard)
        ensure_installed(opened)
        yield opened


@pytest.fixture(scope="session")
def qemu_v8() -> Iterator[VirtualBoard]:
    """The virtual board qemu-v8 with one core, booted once for all tests, with everything
    installed. One core takes QEMU a fifth less CPU time than two, which wait for each other."""
    yield from _boot(VirtualBoard(changed("qemu-v8", cores=1)))


@pytest.fixture(scope="session")
def qemu_v8_smp() -> Iterator[VirtualBoard]:
    """The virtual board qemu-v8 as it is, with two cores. Tests ask for it if things must happen at
    the same time."""
    yield from _boot(open_board("qemu-v8"))


SUPPLICANT = ("tee-supplicant", "-d", "--fs-parent-path", "/data/tee")
"""The virtual board starts it so (vboard/rootfs/etc/init.d/rcS)."""

SERVES = """\
state=$(sed -n 's/^State:[^A-Z]*//p' /proc/$(pidof tee-supplicant)/status 2>/dev/null)
echo "${state:-gone}"
"""


def renew_supplicant(board: Board) -> None:
    """Ends tee-supplicant and starts it anew, and waits until a TA could be loaded.

    A test that kills clients has to: a tee-supplicant whose client was killed while it loaded a TA
    lives on, and ends with one of the next requests (docs/upstream-bugs.md).
    """
    board.script("killall -9 tee-supplicant; while pidof tee-supplicant >&2; do sleep 0.1; done")
    begin = board.capture
    until("a tee-supplicant", lambda: begin(SUPPLICANT, check=False).status == 0, 0.2)
    bench = ["teebench", "--samples", "1", "--min-us", "0", "invoke/none/tee/none"]
    assert '"type":"sample"' in board.capture(bench).text, "tee-supplicant doesn't serve"


_had_it: dict[Board, str] = {}
"""The test after which the shared board's tee-supplicant was last seen to run."""


def lost_supplicant(board: Board, test: str) -> str | None:
    """Says that the board's tee-supplicant is gone or stopped after `test`; None if it runs."""
    state = board.script(SERVES).text.strip()
    if state.startswith(("R", "S", "D", "I")):
        _had_it[board] = test
        return None
    before = _had_it.get(board, "the boot")
    return f"{board.name}: tee-supplicant is {state} after {test}; it ran after {before}"


@pytest.hookimpl(wrapper=True)
def pytest_runtest_teardown(item: pytest.Item) -> Generator[None]:
    """A shared board has its tee-supplicant after each test; else that test fails, and the next
    ones find a new one, or the board booted anew."""
    asked = getattr(item, "funcargs", {})
    board = asked.get("qemu_v8_smp") or asked.get("qemu_v8")
    yield
    if board is None or not board.running:
        return
    lost = lost_supplicant(board, item.nodeid)
    if lost is None:
        return
    try:
        renew_supplicant(board)
    except (AssertionError, BoardError):
        reboot(board)
        ensure_installed(board)
    pytest.fail(lost, pytrace=False)


class Lent:
    """A board that whoever opens it neither boots nor ends."""

    def __init__(self, board: Board) -> None:
        self._board = board

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def __getattr__(self, name: str) -> Any:
        return getattr(self._board, name)


@pytest.fixture
def lent(qemu_v8: VirtualBoard, monkeypatch: pytest.MonkeyPatch) -> VirtualBoard:
    """The board qemu-v8 is the one that commands open; it stays up."""
    monkeypatch.setattr(boards, "make_board", lambda _file: Lent(qemu_v8))
    return qemu_v8


@pytest.fixture(scope="session")
def qemu_v8_icount() -> Iterator[VirtualBoard]:
    """The deterministic virtual board, booted once for all tests, with everything installed."""
    yield from _boot(open_board("qemu-v8-icount"))


def bring_ta_programs(board: VirtualBoard) -> Path:
    """Brings ta_check and ta_torture (ta/tests/board) to a board, and returns their folder."""
    repository = Path(__file__).resolve().parents[2]
    subprocess.run(["make", "-s", "-C", str(repository / "ta/tests"), "board"], check=True)
    for name in ("ta_check", "ta_torture"):
        board.push(repository / "build/tests/ta" / name, f"/tmp/{name}", mode=0o755)
    return Path("/tmp")


@pytest.fixture(scope="module")
def ta_programs(qemu_v8: VirtualBoard) -> Path:
    """Returns the folder on the board qemu-v8 that has ta_check and ta_torture."""
    return bring_ta_programs(qemu_v8)
