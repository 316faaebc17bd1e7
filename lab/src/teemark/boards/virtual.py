# SPDX-License-Identifier: BSD-2-Clause
"""The virtual board: QEMU with the images of build/vboard, then a board over ssh like any other.

It never outlives the command that booted it, not even if the command is killed, unless `teemark up`
keeps it up on purpose. Every boot starts with a fresh copy of the data disk.
"""

import contextlib
import os
import shutil
import socket
import subprocess
import time
from functools import cached_property
from pathlib import Path
from typing import IO, Any, Self

from teemark.base import paths
from teemark.base.errors import BootError, ConnectError
from teemark.base.files import hold
from teemark.boards import instances
from teemark.boards.board import Board
from teemark.boards.config import RPI3, BoardFile, VirtualConfig
from teemark.boards.console import last_lines
from teemark.boards.endpoint import Endpoint
from teemark.boards.instances import LocalProcess, State
from teemark.boards.optee import Optee, resolve, system
from teemark.boards.qemu import Images, Instance, command, require, write_tree
from teemark.boards.ssh import end, guarded
from teemark.boards.ta_kit import Kit
from teemark.run.records import Firmware

READY = b"teemark: ready after"
"""The line that the board writes to its console when its ssh server listens."""

HOST_ALIAS = "teemark-vboard"
"""The board's name in the known_hosts file; its port changes at every boot."""

_LOG_MAX = 1 << 20
"""Bytes that are read at the end of a console's log."""

_PORT_TAKEN = b"host forwarding rule"
_PORT_TRIES = 8


def _endpoint(recipe: VirtualConfig, images: Images, port: int) -> Endpoint:
    return Endpoint(
        address="127.0.0.1",
        user="root",
        port=port,
        identity=images.identity,
        known_hosts=images.known_hosts,
        host_alias=HOST_ALIAS,
        connect_timeout=20,
        # On a board that counts instructions a packet would be measured too.
        keepalive=not recipe.icount,
    )


class VirtualBoard(Board):
    """A virtual board. Entering boots a board, or finds the kept one; leaving ends the booted one.
    With `keep`, the booted board stays up. `plugin` is the value of QEMU's option -plugin; with it
    a new board is always booted."""

    emulated = True

    def __init__(self, file: BoardFile, *, keep: bool = False, plugin: str | None = None) -> None:
        assert isinstance(file.config, VirtualConfig)
        self.recipe = file.config
        self.deterministic = self.recipe.icount
        if self.recipe.system == RPI3:  # QEMU's CPU has crypto instructions, a Pi's has none
            self.environment = ("OPENSSL_armcap=1",)
        self.images = Images(paths.vboard())
        self.keep = keep
        self.plugin = plugin
        self.instance: Instance | None = None
        self.boot_seconds: float | None = None
        """Seconds from power-on to the first answered command; None if the board was up already."""
        self._qemu: subprocess.Popen[bytes] | None = None
        self._process: LocalProcess | None = None
        self._spent: dict[Path, tuple[int, int]] = {}
        """Nanoseconds that each thread of QEMU, ended ones too, ran and waited for a CPU."""
        self._attached = False
        self._lock: IO[bytes] | None = None  # QEMU has it, too
        super().__init__(file, _endpoint(self.recipe, self.images, 1))

    @cached_property
    def optee(self) -> Optee:
        """Returns the OP-TEE that the board boots, after building it if necessary."""
        return resolve(self.recipe)

    @property
    def firmware(self) -> tuple[Firmware, ...]:
        return self.optee.firmware()

    @property
    def kit(self) -> Kit:
        return self.optee.kit

    def __enter__(self) -> Self:
        self.images.check()
        folder = system(self.recipe.system)
        self.images = Images(self.images.directory, self.optee.flash, folder)
        instances.sweep()
        kept = None if self.plugin else instances.running_kept(self.name)
        if kept is None:
            self._boot()
        else:
            self.instance = instances.kept_instance(self.name)
            self._attached, self._process = True, kept.qemu
            self._listens_at(kept.port)
            self.ssh.connect()
        return self

    def _listens_at(self, port: int) -> None:
        self.ssh.endpoint = self.endpoint = _endpoint(self.recipe, self.images, port)
        self.ssh.lost = False
        self.ssh.lost_hint = " and ".join(map(str, self.consoles()))

    def _boot(self) -> None:
        self.instance = instances.new_instance(self.name, kept=self.keep)
        self._lock = hold(self.instance.lock)
        subprocess.run(
            ["cp", "--sparse=always", str(self.images.data), str(self.instance.data)], check=True
        )
        try:
            self._power_on()
        except BaseException as error:
            self._power_off()
            self._clear(error)
            raise

    def _power_on(self) -> None:
        began = time.monotonic()
        limit = began + self.recipe.boot_timeout
        for _ in range(_PORT_TRIES):
            port = free_port()
            self._launch(port)
            if self._wait_for_console(limit):
                break
        else:
            raise self._boot_error("finds no free port on 127.0.0.1")
        self._listens_at(port)
        self._wait_for_ssh(limit)
        self.boot_seconds = time.monotonic() - began
        self._note(port, ready=True)

    def _launch(self, port: int) -> None:
        assert self.instance is not None
        require()
        write_tree(self.recipe, self.images, self.instance)
        argv = command(self.recipe, self.images, self.instance, port, self.plugin)
        self.instance.console.unlink(missing_ok=True)
        with self.instance.qemu_log.open("wb") as log:
            self._qemu = subprocess.Popen(
                argv if self.keep else guarded(argv),
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
                pass_fds=(self._lock.fileno(),) if self._lock is not None else (),
            )
        self._process = LocalProcess.of(self._qemu.pid)
        self._note(port, ready=False)

    def _note(self, port: int, *, ready: bool) -> None:
        me = LocalProcess.of(os.getpid())
        assert self.instance is not None
        assert me is not None
        if self._process is not None:
            new = State(self.keep or self._attached, ready, port, self._process, me)
            instances.write(self.instance, new)

    def _wait_for_console(self, limit: float) -> bool:
        """Waits until the console's log says that the ssh server listens; false if the port was
        taken. Reading the log doesn't disturb the guest, as a connection to its port would."""
        assert self.instance is not None
        assert self._qemu is not None
        while READY not in _bytes(self.instance.console):
            if self._qemu.poll() is not None:
                if _PORT_TAKEN in _bytes(self.instance.qemu_log):
                    return False
                raise self._boot_error("ended while it booted")
            if time.monotonic() > limit:
                raise self._boot_error(f"wasn't up after {self.recipe.boot_timeout} s")
            time.sleep(0.05)
        return True

    def _wait_for_ssh(self, limit: float) -> None:
        while not self.ssh.connected:
            try:
                self.ssh.connect()
            except ConnectError as error:
                if time.monotonic() > limit or not self.running:
                    raise self._boot_error(f"doesn't answer ssh ({error})") from None
                time.sleep(0.1)
        self.capture(["true"], timeout=max(5.0, limit - time.monotonic()))

    def _boot_error(self, what: str) -> BootError:
        return BootError(
            f"{self.name} {what}\n{self.consoles_last()}".rstrip(),
            hint="if the images are from an interrupted build, run `make build` again; on a very "
            "slow machine raise `boot_timeout` in the board file",
        )

    @property
    def running(self) -> bool:
        if self._qemu is not None:
            return self._qemu.poll() is None
        return self._process is not None and self._process.alive

    def _power_off(self) -> None:
        self.ssh.close()
        if self._qemu is not None:
            end(self._qemu, 3)
            self._qemu = None
        elif self._process is not None:
            self._process.end()

    def __exit__(self, *ending: Any) -> None:
        self.explain(ending[1])
        self.ssh.close()
        if not (self._attached or self.keep):
            self._power_off()
            self._clear(ending[1])

    def _clear(self, error: object) -> None:
        """Removes the instance's files. After a crash its logs stay for a day."""
        if self._lock is not None:
            self._lock.close()
        if self.instance is None:
            return
        self.instance.data.unlink(missing_ok=True)
        if isinstance(error, BootError | ConnectError) or self.ssh.lost:
            self._note(0, ready=False)
        else:
            shutil.rmtree(self.instance.directory, ignore_errors=True)

    def cpu_seconds(self) -> tuple[float, float]:
        if self._process is None:
            return super().cpu_seconds()
        for file in Path(f"/proc/{self._process.pid}/task").glob("*/schedstat"):
            with contextlib.suppress(OSError):
                ran, waited, _ = map(int, file.read_text(encoding="ascii").split())
                self._spent[file] = ran, waited
        spent = self._spent.values()
        return sum(ran for ran, _ in spent) / 1e9, sum(waited for _, waited in spent) / 1e9

    def secure_log(self, after: int) -> tuple[int, bytes]:
        with contextlib.suppress(OSError), self.consoles()[1].open("rb") as log:
            size = log.seek(0, os.SEEK_END)
            log.seek(max(after, size - _LOG_MAX))
            return size, log.read(_LOG_MAX)
        return 0, b""

    def consoles_last(self) -> str:
        if self.instance is None:
            return ""
        files = self.instance.qemu_log, *self.consoles()
        logs = zip(("QEMU", "console", "secure console"), files, strict=True)
        tails = (last_lines(f"{title}, last lines of {log}", _bytes(log)) for title, log in logs)
        return "\n".join(filter(None, tails))

    def consoles(self) -> tuple[Path, Path]:
        """Returns the log files of the normal world's console and the secure world's console."""
        assert self.instance is not None
        return self.instance.console, self.instance.secure_console


def take_down(name: str) -> bool:
    """Ends the board that `teemark up` keeps up; returns false if it wasn't up."""
    with instances.lock(name):
        instance = instances.kept_instance(name)
        state = instances.read(instance)
        was_up = state is not None and state.qemu.alive
        if state is not None:
            state.qemu.end()
        shutil.rmtree(instance.directory, ignore_errors=True)
        return was_up


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _bytes(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError:
        return b""
