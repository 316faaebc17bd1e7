# SPDX-License-Identifier: BSD-2-Clause
"""Places of a labgrid farm: labgrid-client is a script that says what the real one said (labgrid
26.0.1, recorded), the board is this machine behind a real ssh server. `make test-farm` has a real
coordinator."""

import contextlib
import os
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import sshserver
from conftest import HOST
from teemark import boards
from teemark.base.errors import BoardError, BoardHangs, ConnectError, MissingOutput, UnknownBoard
from teemark.boards import LabgridBoard, config, labgrid
from teemark.boards.endpoint import Endpoint
from waiting import PATIENT_TEEMARK, status_of, until

FREE = """\
Place 'desk':
  matches:
    lab/desk/*
  acquired: None
  acquired resources:
  created: 2026-11-23 03:40:32.958895
  changed: 2026-11-23 03:40:33.302847
Matching resource 'NetworkService' (lab/desk/NetworkService/NetworkService):
  {'acquired': None,
   'avail': True,
   'cls': 'NetworkService',
   'params': {'address': '127.0.0.1',
              'extra': {'proxy': 'localhost', 'proxy_required': False},
              'port': 40022,
              'username': 'root'}}
"""
TAKEN = """\
Place 'desk':
  matches:
    lab/desk/*
  acquired: vm/root
  acquired resources:
    lab/desk/NetworkService/NetworkService
  created: 2026-11-23 03:40:32.958895
  changed: 2026-11-23 03:40:36.128840
Acquired resource 'NetworkService' (lab/desk/NetworkService/NetworkService):
  {'acquired': 'desk',
   'avail': True,
   'cls': 'NetworkService',
   'params': {'address': '127.0.0.1',
              'extra': {'proxy': 'localhost', 'proxy_required': False},
              'port': 40022,
              'username': 'root'}}
"""
ORPHANED = """\
Place 'desk':
  matches:
    lab/desk/*
  acquired: vm/root
  acquired resources:
    lab/desk/NetworkService/NetworkService
  created: 2026-11-23 03:40:32.958895
  changed: 2026-11-23 03:45:14.075268
Orphaned resource 'NetworkService' (lab/desk/NetworkService/NetworkService)
"""
SECOND = """\
Acquired resource 'SecondService' (lab/two/NetworkService/SecondService):
  {'acquired': 'two',
   'avail': True,
   'cls': 'NetworkService',
   'params': {'address': '127.0.0.2',
              'extra': {'proxy': 'localhost', 'proxy_required': False},
              'username': 'admin'}}
"""
SERIAL = """\
Acquired resource 'NetworkSerialPort' (lab/desk/NetworkSerialPort/NetworkSerialPort):
  {'acquired': 'desk',
   'avail': True,
   'cls': 'NetworkSerialPort',
   'params': {'extra': {'path': '/dev/ttyUSB0',
                        'proxy': 'localhost',
                        'proxy_required': False},
              'host': '127.0.0.1',
              'port': 40033,
              'speed': 115200}}
"""
# The state of the place is the file `taken`: its owner.
CLIENT = """\
#!/bin/sh
cd '{folder}' || exit
echo "$*" >>calls
[ -z "$LG_ENV$LG_STATE$STATE" ] || exit 9  # it would do more than it is told
[ -e fails ] && cat fails >&2 && exit 1
[ "$1" = complete ] && printf 'dead\\ndesk\\nstm32-1\\nstm32-2\\n' && exit
case $3 in
show) [ -e taken ] || exec cat free.show
  sed "s:acquired. vm/root:acquired\\: $(cat taken):" taken.show ;;
acquire)
  [ -e taken ] && echo 'labgrid-client: Error: it is acquired' >&2 && exit 1
  [ -e refuses ] && cat refuses >&2 && exit 1
  [ -e slow ] && touch acquiring && sleep 2
  echo vm/root >taken && echo 'acquired place desk' ;;
release) rm taken && echo 'released place desk' ;;
power) [ -e no-power ] && cat no-power >&2 && exit 1
  touch cycled ;;
esac
"""


class Farm:
    """A labgrid-client with one place, `desk`."""

    def __init__(self, folder: Path, port: int) -> None:
        self.folder = folder
        self.port = port
        client = folder / "bin" / "labgrid-client"
        client.parent.mkdir(parents=True)
        client.write_text(CLIENT.format(folder=folder))
        client.chmod(0o755)
        self.shows(TAKEN)

    def shows(self, taken: str) -> None:
        for name, text in {"free": FREE, "taken": taken}.items():
            (self.folder / f"{name}.show").write_text(text.replace("40022", str(self.port)))

    def put(self, name: str, text: str = "") -> None:
        (self.folder / name).write_text(text)

    @property
    def owner(self) -> str | None:
        file = self.folder / "taken"
        try:
            return file.read_text().strip()
        except FileNotFoundError:
            return None

    @property
    def calls(self) -> list[str]:
        return [line.split()[-1] for line in (self.folder / "calls").read_text().splitlines()]


@pytest.fixture
def farm(ssh_server: sshserver.SshServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Farm:
    made = Farm(tmp_path / "farm", ssh_server.port)
    monkeypatch.setenv("PATH", f"{made.folder}/bin:{os.environ['PATH']}")
    monkeypatch.setenv("LG_HOSTNAME", "vm")
    for name in ("LG_ENV", "LG_STATE", "STATE"):
        monkeypatch.setenv(name, "another's")
    monkeypatch.setenv("LG_USERNAME", "root")
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    own = tmp_path / "teemark" / "boards"
    own.mkdir(parents=True)
    options = f'["HostKeyAlias={HOST}", "UserKnownHostsFile={ssh_server.known_hosts}"]'
    (own / "desk.toml").write_text(
        f'kind = "ssh"\naddress = "unused"\nuser = "{ssh_server.user}"\n'
        f'identity = "{ssh_server.identity}"\noptions = {options}\nconnect_timeout = 1\n'
    )
    return made


def test_a_place_is_ours_for_as_long_as_the_board_is_open(farm: Farm) -> None:
    with boards.open_board("labgrid:desk") as board:
        assert board.name == "desk"
        assert farm.owner == "vm/root"
        assert board.capture(["echo", "there"]).text == "there\n"
    assert farm.owner is None
    assert farm.calls == ["places", "acquire", "show", "release"]


def test_a_place_that_is_ours_already_stays_ours(
    farm: Farm, capsys: pytest.CaptureFixture[str]
) -> None:
    farm.put("taken", "vm/root")
    with boards.open_board("labgrid:desk"):
        pass
    assert farm.owner == "vm/root"
    assert "release" not in farm.calls
    assert capsys.readouterr().err == ""


def test_a_place_that_another_lets_us_use_stays_theirs(farm: Farm) -> None:
    farm.shows(TAKEN.replace("  created", "  allowed: pc9/bob, vm/root\n  created"))
    farm.put("taken", "pc7/ann")
    with boards.open_board("labgrid:desk"):
        pass
    assert farm.owner == "pc7/ann"
    assert "release" not in farm.calls


def test_a_place_that_cannot_be_released_is_said(
    farm: Farm, capsys: pytest.CaptureFixture[str]
) -> None:
    with boards.open_board("labgrid:desk"):
        farm.put("fails", "Server error: Error: Could not connect to coordinator\n")
    said = capsys.readouterr().err
    assert said.startswith("teemark: desk may still be acquired: no labgrid coordinator answers")


@pytest.fixture
def serial() -> Iterator[tuple[int, Callable[[bytes], None], list[socket.socket]]]:
    """A console as ser2net has it: its port, what makes it say something, and its clients."""
    clients: list[socket.socket] = []
    with socket.create_server(("127.0.0.1", 0)) as server:

        def serve() -> None:
            with contextlib.suppress(OSError):
                while True:
                    clients.append(server.accept()[0])
                    clients[-1].sendall(b"\xff\xfb\x01\xff\xfa\x2c\x6a\x01\xff\xf0")

        def say(text: bytes) -> None:
            until("a client of the console", lambda: clients)
            clients[-1].sendall(text)

        threading.Thread(target=serve, daemon=True).start()
        yield server.getsockname()[1], say, clients
        server.shutdown(socket.SHUT_RDWR)
    for client in clients:
        client.close()


Serial = tuple[int, Callable[[bytes], None], list[socket.socket]]


def test_the_consoles_last_lines_are_in_the_error_of_a_board_that_hangs(
    farm: Farm, serial: Serial
) -> None:
    port, say, clients = serial
    farm.shows(TAKEN + SERIAL.replace("40033", str(port)))
    lines = b"".join(b"line %d\r\n" % number for number in range(500))
    board = boards.open_board("labgrid:desk")
    with pytest.raises(BoardHangs) as caught, board:  # noqa: PT012 - it hangs within
        say(lines + b"Kernel \xff\xffpanic \x1b[2J" + b"x" * 300)
        until("the panic", lambda: "panic" in board.consoles_last())
        board.capture(["sleep", "6000"], timeout=1)
    hint = caught.value.hint or ""
    assert hint.startswith("the board may hang: see its console\n-- console 127.0.0.1:")
    shown = hint.splitlines()[2:]
    assert (len(shown), shown[-2]) == (12, "line 499")
    assert shown[-1].startswith("Kernel \ufffdpanic ")
    assert len(shown[-1]) == 200
    clients[-1].settimeout(20)
    assert clients[-1].recv(1) == b""  # it was never written, and others may read it again


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (SERIAL, "can't be read: Connection refused"),
        (SERIAL.replace("127.0.0.1", "-oProxyCommand=x"), "is no address and no name"),
        (SERIAL + SERIAL, None),  # which of two isn't known
        (SERIAL.replace("40033", "None"), None),
    ],
)
def test_a_console_that_cannot_be_read(farm: Farm, text: str, said: str | None) -> None:
    farm.shows(TAKEN.replace("40022", "1") + text.replace("40033", "1"))
    board = boards.open_board("labgrid:desk")
    with pytest.raises(BoardError) as caught:
        board.__enter__()
    told = f"{caught.value.message} {caught.value.hint}"
    assert ("-- console" in told) == (said is not None and "refused" in said)
    assert said is None or said in told


def test_who_has_a_place_and_since_when_is_said(farm: Farm) -> None:
    farm.put("taken", "pc7/ann")
    with pytest.raises(BoardError) as caught, boards.open_board("labgrid:desk"):
        pass
    assert caught.value.message == (
        "labgrid place desk is acquired by pc7/ann since 2026-11-23 03:40:36"
    )
    assert "labgrid-client -p desk allow vm/root" in (caught.value.hint or "")
    assert farm.owner == "pc7/ann"


def test_a_place_is_released_whatever_comes_after(farm: Farm) -> None:
    farm.port = 1
    farm.shows(TAKEN)
    with pytest.raises(ConnectError, match="refuses connections"):
        boards.open_board("labgrid:desk").__enter__()
    assert farm.owner is None
    farm.shows(TAKEN + SECOND)
    with pytest.raises(BoardError, match="has 2 NetworkServices, not one"):
        boards.open_board("labgrid:desk").__enter__()
    assert farm.owner is None
    farm.shows("Place 'desk':\n  acquired: vm/root\n")
    with pytest.raises(BoardError, match="can't read"):
        boards.open_board("labgrid:desk").__enter__()
    assert farm.owner is None


def holding(farm: Farm) -> subprocess.Popen[str]:
    """A teemark that has the place, and runs a long command there."""
    argv = [*PATIENT_TEEMARK, "exec", "labgrid:desk", "--", "sh", "-c"]
    pipe = subprocess.PIPE
    process = subprocess.Popen(
        [*argv, "echo $$; exec sleep 6000"],
        stdout=pipe,
        stderr=pipe,
        text=True,
        start_new_session=True,
    )
    assert process.stdout is not None
    assert process.stdout.readline().strip().isdigit()
    assert farm.owner == "vm/root"
    return process


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_a_signal_releases_the_place(farm: Farm, number: signal.Signals) -> None:
    process = holding(farm)
    os.killpg(process.pid, number)  # as a terminal does
    status = status_of(process)
    process.communicate()
    assert status == (-number if number == signal.SIGKILL else 128 + number)
    until("the place to be free", lambda: farm.owner is None)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL])
def test_a_signal_while_it_is_acquired_releases_it_afterwards(
    farm: Farm, number: signal.Signals
) -> None:
    """Also where nobody waits for the holder any more: what it says must not end it."""
    farm.put("slow")
    argv = [*PATIENT_TEEMARK, "exec", "labgrid:desk", "--", "true"]
    process = subprocess.Popen(argv, stderr=subprocess.DEVNULL)
    until("acquiring", (farm.folder / "acquiring").exists)
    process.send_signal(number)
    assert status_of(process) == (-number if number == signal.SIGKILL else 128 + number)
    until("release", lambda: "release" in farm.calls)
    until("the place to be free", lambda: farm.owner is None)


@pytest.mark.parametrize(
    ("said", "error", "message"),
    [
        ("Match lab/desk/* has no matching remote resource", BoardError, "no matching remote"),
        ("Place desk is reserved", BoardError, "`labgrid-client -p desk acquire`: Place desk is"),
    ],
)
def test_a_place_that_is_refused(
    farm: Farm, said: str, error: type[BoardError], message: str
) -> None:
    farm.put("refuses", f"labgrid-client: Error: {said}\n")
    with pytest.raises(error, match=message) as caught, boards.open_board("labgrid:desk"):
        pass
    assert ("labgrid-exporter" in (caught.value.hint or "")) == ("Match" in said)
    assert "release" not in farm.calls


def test_a_place_that_somebody_takes_just_before_us(farm: Farm) -> None:
    farm.put("refuses", "labgrid-client: Error: Place desk is already acquired by pc7/ann.\n")
    client = farm.folder / "bin" / "labgrid-client"
    race = client.read_text().replace("cat refuses", "echo pc7/ann >taken && cat refuses")
    client.write_text(race)
    with (
        pytest.raises(BoardError, match="acquired by pc7/ann since"),
        boards.open_board("labgrid:desk"),
    ):
        pass
    assert farm.owner == "pc7/ann"


def test_an_exporter_that_is_gone(farm: Farm) -> None:
    farm.put("taken", "vm/root")
    farm.shows(ORPHANED)
    with pytest.raises(
        BoardError, match="has 0 NetworkServices, not one; gone with their exporter: NetworkService"
    ):
        boards.open_board("labgrid:desk").__enter__()


def test_a_coordinator_that_is_not_there(farm: Farm, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LG_COORDINATOR", "127.0.0.1:1")
    farm.put("fails", "Server error: Error: Could not connect to coordinator\n")
    with pytest.raises(ConnectError, match=r"no labgrid coordinator answers at 127\.0\.0\.1:1"):
        boards.open_board("labgrid:desk").__enter__()


def test_no_labgrid_client(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(sys, "executable", str(tmp_path / "python"))
    with pytest.raises(MissingOutput, match="no labgrid-client"):
        boards.open_board("labgrid:desk").__enter__()


def test_a_part_of_a_name_is_no_place(farm: Farm) -> None:
    """labgrid-client itself takes `des` for desk."""
    with pytest.raises(UnknownBoard) as caught, boards.open_board("labgrid:des"):
        pass
    assert caught.value.hint == "there are: dead, desk, stm32-1, stm32-2"


def test_a_pattern_names_each_place_that_is_like_it(farm: Farm) -> None:
    assert boards.named(["labgrid:stm32*", "desk"]) == [
        "labgrid:stm32-1",
        "labgrid:stm32-2",
        "desk",
    ]
    with pytest.raises(UnknownBoard):
        boards.named(["labgrid:rpi*"])


def place(text: str) -> labgrid.FarmPlace:
    return labgrid.FarmPlace("desk", text)


def test_what_the_board_file_says_holds_before_the_place() -> None:
    asked = Endpoint("labgrid:desk", user="me", options=("ProxyJump=mine",))
    found = place(TAKEN.replace("False", "True")).endpoint(asked)
    assert (found.user, found.address, found.port) == ("me", "127.0.0.1", 40022)
    assert found.options == ("ProxyJump=mine", "ProxyJump=localhost")  # ssh takes the first
    assert place(TAKEN).endpoint(Endpoint("x", port=7)).port == 7
    assert place(TAKEN).endpoint(Endpoint("x")).options == ()


def test_what_an_exporter_says_reaches_no_shell(monkeypatch: pytest.MonkeyPatch) -> None:
    for wrong in ("-oProxyCommand=id", "a b", "$(id)", "`id`", "a;b"):
        text = TAKEN.replace("127.0.0.1", wrong)
        with pytest.raises(BoardError, match="no address"):
            place(text).endpoint(Endpoint("x"))
        jump = TAKEN.replace("localhost", wrong).replace("False", "True")
        with pytest.raises(BoardError, match="no address"):
            place(jump).endpoint(Endpoint("x"))
    for right in ("fe80::1%eth0", "[::1]", "user@gw:22", "stm32-1.lab"):
        assert place(TAKEN.replace("127.0.0.1", right)).endpoint(Endpoint("x")).address == right


def test_the_way_that_labgrid_is_told_is_ours_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LG_PROXY", "gw")
    assert place(TAKEN).endpoint(Endpoint("x")).options == ("ProxyJump=gw",)


@pytest.mark.parametrize("text", ["", "Place 'desk':\n", TAKEN.replace("'cls'", "cls")])
def test_what_cannot_be_read_is_an_error(text: str) -> None:
    with pytest.raises(BoardError, match="can't read"):
        place(text)


def test_a_place_without_a_board_file(farm: Farm) -> None:
    found = config.find("labgrid:lab/stm32 1")
    assert (found.name, found.config) == (
        "lab-stm32-1",
        config.SshConfig(address="labgrid:lab/stm32 1"),
    )


def test_a_board_that_hangs_is_power_cycled_once(farm: Farm, tmp_path: Path) -> None:
    board = boards.open_board("labgrid:desk")
    assert isinstance(board, LabgridBoard)
    board.power_cycle = "now"
    with board:
        assert (farm.folder / "cycled").exists()
        (farm.folder / "cycled").unlink()
    with board:
        assert not (farm.folder / "cycled").exists()
    assert farm.owner is None


def test_a_board_that_cannot_be_reached_is_power_cycled(
    farm: Farm, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(labgrid, "BOOT_S", 0.0)
    farm.port = 1
    farm.shows(TAKEN)
    board = boards.open_board("labgrid:desk")
    assert isinstance(board, LabgridBoard)
    board.power_cycle = "once"
    with pytest.raises(ConnectError):
        board.__enter__()
    assert (farm.folder / "cycled").exists()
    farm.put("no-power", "labgrid-client: Error: target has no compatible resource available")
    board.power_cycle = "once"
    with pytest.raises(BoardError, match="power cycle`: target has no compatible resource"):
        board.__enter__()
    assert farm.owner is None


def _resource(**params: object) -> str:
    return FREE.partition("Matching")[0] + (
        "Matching resource 'NetworkService' (a)\n  "
        + repr({"cls": "NetworkService", "params": params})
    )


ODD = {
    "nothing": "",
    "verse": "roses are red\n",
    "no owner": FREE.replace("  acquired: None\n", ""),
    "no time": FREE.replace("  changed: 2026-11-23 03:40:33.302847\n", ""),
    "half a resource": FREE[:-20],
    "code": FREE.replace("'127.0.0.1'", "__import__('os').system('touch pwned')"),
    "a list": FREE.partition("Matching")[0] + "Matching resource 'NetworkService' (a)\n  [1, 2]\n",
    "a number": FREE.partition("Matching")[0] + "Matching resource 'NetworkService' (a)\n  1\n",
    "a text": FREE.partition("Matching")[0] + "Matching resource 'NetworkService' (a)\n  'x'\n",
    "no class": FREE.replace("'cls'", "'class'"),
    "no parameters": FREE.replace("'params'", "'parameters'"),
    "deep": FREE.replace("40022", "[" * 5000 + "]" * 5000),
    "deeper": FREE.replace("40022", "-" * 100_000 + "1"),
    "huge number": FREE.replace("40022", "9" * 5000),
    "a byte 0": FREE.replace("40022", "4\0"),
    "no address": _resource(username="root"),
    "no user": _resource(address="127.0.0.1"),
    "address of another type": _resource(address=7, username="root"),
    "user of another type": _resource(address="127.0.0.1", username=["root"]),
    "port of another type": _resource(address="127.0.0.1", username="root", port="ssh"),
    "port 0": _resource(address="127.0.0.1", username="root", port=0),
    "port 70000": _resource(address="127.0.0.1", username="root", port=70000),
    "extra of another type": _resource(address="127.0.0.1", username="root", extra=3),
    "proxy of another type": _resource(
        address="127.0.0.1", username="root", extra={"proxy": 1, "proxy_required": True}
    ),
    "an option as address": _resource(address="-oProxyCommand=id", username="root"),
    "a command as user": _resource(address="127.0.0.1", username="$(id)"),
}


@pytest.mark.parametrize("what", ODD)
def test_an_odd_place_is_answered_in_a_sentence(what: str) -> None:
    with pytest.raises(BoardError, match="place desk") as caught:
        labgrid.FarmPlace("desk", ODD[what]).endpoint(Endpoint("desk"))
    assert len(caught.value.message) < 400
    assert "\n" not in caught.value.message


def test_a_flood_of_labgrid_client_is_cut_off(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """200 MB of its answer took 611 MB."""
    client = tmp_path / "labgrid-client"
    client.write_text("#!/bin/sh\nexec yes\n")
    client.chmod(0o755)
    monkeypatch.setattr(sys, "executable", str(tmp_path / "python"))
    with pytest.raises(BoardError, match="answers with more than 4 MiB"):
        labgrid.places("desk")
