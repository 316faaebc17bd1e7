# SPDX-License-Identifier: BSD-2-Clause
"""A labgrid farm on the loopback (`make test-farm`): a real coordinator and a real exporter, with
two virtual boards and one place whose board comes up when its power is cut."""

import contextlib
import http.server
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from conftest import often
from teemark.boards import VirtualBoard, config
from teemark.boards.virtual import free_port
from teemark.run import reader
from waiting import until

pytestmark = [pytest.mark.farm]

PLAN = """\
summary = "Short."

[[cases]]
workload = "invoke"
backends = ["tee"]
samples = 6

[[cases]]
workload = "oneshot"
algorithms = ["sha256"]
backends = ["tee", "c"]
sizes = [64, 1024, 4096, 16384]
samples = 6
"""
LONG = PLAN.replace("samples = 6", "samples = 100000")


class Switch:
    """A power switch by HTTP, and the board behind it: a port that leads to a virtual board's, once
    power has come back."""

    def __init__(self, ssh: int) -> None:
        self.ssh = ssh
        self.said: list[str] = []
        self.board = free_port()
        self.sockets: list[socket.socket] = []
        switch = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                switch.said.append(self.path)
                switch.cut()
                if self.path == "/1":
                    switch.boot()
                self.send_response(200)
                self.end_headers()

            def log_message(self, format: str, *args: object) -> None:  # noqa: A002
                pass

        self.console = socket.create_server(("127.0.0.1", 0))
        self.readers: list[socket.socket] = []
        threading.Thread(target=self._consoles, daemon=True).start()
        self.http = http.server.HTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.http.serve_forever, daemon=True).start()

    def _consoles(self) -> None:
        while True:
            self.readers.append(self.console.accept()[0])
            self.readers[-1].sendall(b"OP-TEE version: 4.5\r\n")

    def panic(self) -> None:
        """The board says why it hangs, on its console, and is gone."""
        for one in self.readers[-1:]:
            one.sendall(b"Kernel panic - not syncing: Oops\r\n")
        self.cut()

    def cut(self) -> None:
        """The board is gone, and all of its connections."""
        for one in self.sockets:
            with contextlib.suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)
            one.close()
        self.sockets.clear()

    def boot(self) -> None:
        server = socket.create_server(("127.0.0.1", self.board))
        self.sockets.append(server)

        def serve() -> None:
            with contextlib.suppress(OSError):
                while True:
                    ours, _ = server.accept()
                    theirs = socket.create_connection(("127.0.0.1", self.ssh))
                    self.sockets += [ours, theirs]
                    for source, sink in ((ours, theirs), (theirs, ours)):
                        threading.Thread(target=_copy, args=(source, sink), daemon=True).start()

        threading.Thread(target=serve, daemon=True).start()


def _copy(source: socket.socket, sink: socket.socket) -> None:
    with contextlib.suppress(OSError):
        while data := source.recv(65536):
            sink.sendall(data)
        sink.shutdown(socket.SHUT_WR)


class Farm:
    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.env = os.environ | {
            "LG_COORDINATOR": f"127.0.0.1:{free_port()}",
            "LG_HOSTNAME": "here",
            "LG_USERNAME": "me",
            "XDG_CONFIG_HOME": str(folder),
        }
        self.exporter: subprocess.Popen[bytes] | None = None

    def start(self, name: str, *words: str) -> subprocess.Popen[bytes]:
        log = (self.folder / f"{name}.log").open("ab")
        return subprocess.Popen(
            [name, *words], cwd=self.folder, env=self.env, stdout=log, stderr=log
        )

    def client(self, *words: str, **env: str) -> str:
        done = subprocess.run(
            ["labgrid-client", *words],
            env=self.env | env,
            capture_output=True,
            text=True,
            check=False,
        )
        return done.stdout + done.stderr

    def export(self) -> None:
        self.exporter = self.start("labgrid-exporter", "-n", "lab", "exported.yaml")
        until("the dead board", lambda: "lab/dead/NetworkService" in self.client("resources"))

    def owner(self, place: str) -> str:
        return next(
            line.split()[-1]
            for line in self.client("-p", place, "show").splitlines()
            if line.startswith("  acquired:")
        )

    def begin(self, *words: str) -> subprocess.Popen[str]:
        pipe = subprocess.PIPE
        argv = [sys.executable, "-m", "teemark", *words]
        return subprocess.Popen(argv, env=self.env, stdout=pipe, stderr=pipe, text=True)

    def teemark(self, *words: str) -> subprocess.CompletedProcess[str]:
        process = self.begin(*words)
        out, err = process.communicate()
        return subprocess.CompletedProcess(words, process.returncode, out, err)

    def run(self, *words: str, plan: str = PLAN) -> subprocess.CompletedProcess[str]:
        (self.folder / "short.toml").write_text(plan)
        out = ["--out", f"{self.folder}/runs/{time.monotonic_ns()}"]  # the last --out holds
        return self.teemark("run", "--plan", f"{self.folder}/short.toml", *out, *words)


@pytest.fixture(scope="module")
def switch(qemu_v8: VirtualBoard) -> Switch:
    assert qemu_v8.endpoint.port
    return Switch(qemu_v8.endpoint.port)


@pytest.fixture(scope="module")
def farm(
    tmp_path_factory: pytest.TempPathFactory,
    qemu_v8: VirtualBoard,
    qemu_v8_icount: VirtualBoard,
    switch: Switch,
) -> Iterator[Farm]:
    if shutil.which("labgrid-coordinator") is None:
        pytest.skip("there is no labgrid-coordinator: make test-farm installs it")
    made = Farm(tmp_path_factory.mktemp("farm"))
    ports = {
        "one": qemu_v8.endpoint.port,
        "two": qemu_v8_icount.endpoint.port,
        "dead": switch.board,
    }
    exported = [
        f"{name}:\n  NetworkService:\n    address: 127.0.0.1\n    username: root\n"
        f"    port: {port}\n"
        for name, port in ports.items()
    ]
    address, port = switch.http.server_address[:2]
    exported.append(
        f"  NetworkPowerPort:\n    model: simplerest\n    host: 'http://{address!s}:{port}/{{value}}'\n"
        "    index: 0\n"
        "  NetworkSerialPort:\n    host: 127.0.0.1\n    protocol: raw\n"
        f"    port: {switch.console.getsockname()[1]}\n"
    )
    (made.folder / "exported.yaml").write_text("".join(exported))
    boards = made.folder / "teemark" / "boards"
    boards.mkdir(parents=True)
    images = qemu_v8.images
    for name in ports:
        (boards / f"{name}.toml").write_text(
            f'kind = "ssh"\naddress = "labgrid:{name}"\nidentity = "{images.identity}"\n'
            'directory = "/opt/teemark"\nconnect_timeout = 5\noptions = '
            f'["HostKeyAlias=teemark-vboard", "UserKnownHostsFile={images.known_hosts}"]\n'
        )
    coordinator = made.start("labgrid-coordinator", "-l", made.env["LG_COORDINATOR"])
    try:
        until("the places", lambda: "unavailable" not in made.client("places"))
        made.export()
        for name in ports:
            made.client("-p", name, "create")
            made.client("-p", name, "add-match", f"lab/{name}/*")
        yield made
    finally:
        for process in (made.exporter, coordinator):
            if process is not None:
                process.terminate()
                process.wait()


def test_boards_are_measured_side_by_side_and_a_dead_one_stops_no_other(
    farm: Farm, tmp_path: Path
) -> None:
    done = farm.run("--board", "labgrid:*", "--out", str(tmp_path))
    assert done.returncode == 1, done.stderr
    assert "teemark: dead: failed, status 1" in done.stderr
    assert "refuses connections" in done.stderr
    for name in ("one", "two"):
        run = reader.read(tmp_path / name)
        assert run.as_asked
        assert run.name == name
        assert f"{name} " in done.stdout
    assert {farm.owner(name) for name in ("one", "two", "dead")} == {"None"}
    table = farm.teemark("table", str(tmp_path / "one"), str(tmp_path / "two"), "--json")
    rows = json.loads(table.stdout)
    assert [(row["board"], row["tee"]) for row in rows] == [
        ("one", "OP-TEE 4.5"),
        ("two", "OP-TEE 4.5"),
    ]
    assert all(isinstance(row[name], float) for row in rows for name in ("empty_call", "tee_byte"))


def test_a_dead_board_is_power_cycled_once(farm: Farm, switch: Switch) -> None:
    switch.cut()
    switch.said.clear()
    done = farm.run("--board", "labgrid:dead", "--power-cycle", "--json")
    assert done.returncode == 0, done.stderr
    assert switch.said == ["/0", "/1"]
    assert "dead hangs: its power is cut" in done.stderr
    assert re.search(r"\n-- console 127.*last lines:\nOP-TEE version: 4.5\n", done.stderr)
    assert farm.owner("dead") == "None"


def test_a_board_that_is_lost_while_it_is_measured_is_power_cycled_once(
    farm: Farm, switch: Switch, tmp_path: Path
) -> None:
    switch.cut()
    switch.boot()
    switch.said.clear()
    (farm.folder / "middle.toml").write_text(PLAN.replace("samples = 6", "samples = 150"))
    words = ["--plan", f"{farm.folder}/middle.toml", "--out", str(tmp_path / "run")]
    process = farm.begin("run", "--board", "dead", "--power-cycle", *words)
    assert process.stderr is not None
    said = ""
    while "measuring 9" not in said:
        said += process.stderr.readline()
    switch.panic()
    said += process.communicate()[1]
    assert process.returncode == 0, said
    assert switch.said == ["/0", "/1"]
    assert said.count("dead hangs: its power is cut") == 1
    assert "OP-TEE version: 4.5\nKernel panic - not syncing: Oops\n" in said
    assert reader.read(tmp_path / "run").as_asked
    hung = reader.read(tmp_path / "run-hung")
    assert hung.end is not None
    assert hung.end.reason == "connection-lost"
    assert farm.owner("dead") == "None"


def test_a_place_of_somebody_else(farm: Farm) -> None:
    farm.client("-p", "one", "acquire", LG_USERNAME="ann")
    try:
        done = farm.run("--board", "labgrid:one")
        assert done.returncode == 1
        assert "labgrid place one is acquired by here/ann since 20" in done.stderr
        farm.client("-p", "one", "allow", "here/me", LG_USERNAME="ann")
        assert farm.teemark("exec", "labgrid:one", "--", "true").returncode == 0
        assert farm.owner("one") == "here/ann"
    finally:
        farm.client("-p", "one", "release", LG_USERNAME="ann")


def test_a_place_that_is_ours_stays_ours(farm: Farm) -> None:
    farm.client("-p", "one", "acquire")
    assert farm.teemark("exec", "one", "--", "true").returncode == 0
    assert farm.owner("one") == "here/me"
    farm.client("-p", "one", "release")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL])
def test_a_run_that_is_ended_releases_its_places(
    farm: Farm, tmp_path: Path, number: signal.Signals
) -> None:
    (farm.folder / "long.toml").write_text(LONG)
    words = ["--board", "labgrid:one", *(["--board", "two"] if number == signal.SIGINT else [])]
    process = farm.begin(
        "run", "--plan", f"{farm.folder}/long.toml", *words, "--out", str(tmp_path / "run")
    )
    assert process.stderr is not None
    for line in process.stderr:
        if "samples" in line or "measuring 9" in line:
            break
    assert farm.owner("one") == "here/me"
    process.send_signal(number)
    process.communicate()
    assert process.returncode == (128 + number if number == signal.SIGINT else -number)
    until("one to be free", lambda: farm.owner("one") == "None")
    if number == signal.SIGINT:
        until("two to be free", lambda: farm.owner("two") == "None")
        run = reader.read(tmp_path / "run" / "one")
        assert run.end is not None
        assert run.end.reason == "interrupted"


def test_an_exporter_that_is_gone_is_one_sentence(farm: Farm) -> None:
    assert farm.exporter is not None
    farm.client("-p", "two", "acquire")
    farm.exporter.terminate()
    farm.exporter.wait()
    until("one to be gone", lambda: "lab/one" not in farm.client("resources"))
    try:
        done = farm.run("--board", "labgrid:one")
        assert done.returncode == 1
        assert done.stderr.splitlines()[-2:] == [
            "teemark: error: `labgrid-client -p one acquire`: Match lab/one/* has no matching "
            "remote resource",
            "hint: start its labgrid-exporter, or mend the place's matches",
        ]
        assert farm.owner("one") == "None"
        ours = farm.run("--board", "labgrid:two")
        assert "0 NetworkServices, not one; gone with their exporter: NetworkService" in ours.stderr
        assert farm.owner("two") == "here/me"
    finally:
        farm.client("-p", "two", "release")
        farm.export()


def room(boards: int) -> int:
    """Returns for how many of so many boards this machine has memory: each takes 1.2 GB, and two
    run already."""
    text = Path("/proc/meminfo").read_text()
    free = int(text.partition("MemAvailable:")[2].split()[0]) * 1024
    return min(boards, int(free / 1.5e9))


@pytest.mark.timeout(3600)
def test_many_virtual_boards_are_measured_side_by_side(
    farm: Farm, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """Three, or with THOROUGH=1 ten, as far as memory allows; it says how many."""
    number = room(often(3, 10))
    if number < 2:
        pytest.skip("this machine has no memory for two boards more")
    names = [f"many{one}" for one in range(number)]
    with contextlib.ExitStack() as stack:
        exported = []
        for name in names:
            board = stack.enter_context(VirtualBoard(config.find("qemu-v8")))
            exported.append(
                f"{name}:\n  NetworkService:\n    address: 127.0.0.1\n    username: root\n"
                f"    port: {board.endpoint.port}\n"
            )
            text = (farm.folder / "teemark/boards/one.toml").read_text()
            own = farm.folder / "teemark" / "boards" / f"{name}.toml"
            own.write_text(text.replace("labgrid:one", f"labgrid:{name}").replace("= 5", "= 120"))
        (farm.folder / "many.yaml").write_text("".join(exported))
        exporter = farm.start("labgrid-exporter", "-n", "farm", "many.yaml")
        stack.callback(exporter.wait)
        stack.callback(exporter.terminate)
        until(
            "the new exporter",
            lambda: f"farm/{names[-1]}/NetworkService" in farm.client("resources"),
        )
        for name in names:
            farm.client("-p", name, "create")
            farm.client("-p", name, "add-match", f"farm/{name}/*")
        done = farm.run("--board", "labgrid:many*", "--out", str(tmp_path))
        assert done.returncode == 0, done.stderr
        assert {farm.owner(name) for name in names} == {"None"}
        for name in names:
            farm.client("-p", name, "delete")
    assert all(reader.read(tmp_path / name).as_asked for name in names)
    for name in names:
        assert f"{name} " in done.stdout
    with capfd.disabled():
        print(f"\n{number} virtual boards were measured side by side")


def test_no_coordinator_is_one_sentence(farm: Farm) -> None:
    farm.env["LG_COORDINATOR"], kept = "127.0.0.1:1", farm.env["LG_COORDINATOR"]
    try:
        done = farm.run("--board", "labgrid:one")
        assert done.stderr.splitlines()[-2:] == [
            "teemark: error: no labgrid coordinator answers at 127.0.0.1:1",
            "hint: name it: LG_COORDINATOR=HOST:PORT; behind an ssh host also LG_PROXY=HOST",
        ]
    finally:
        farm.env["LG_COORDINATOR"] = kept
