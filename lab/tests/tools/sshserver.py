# SPDX-License-Identifier: BSD-2-Clause
"""A real ssh server for tests: dropbear on 127.0.0.1, as the user who runs the tests.

nss_wrapper gives it a passwd file in which the home directory is a temporary one, so that it
reads its authorized_keys there; nothing of the machine's own is touched.
"""

import contextlib
import os
import pwd
import shutil
import signal
import socket
import subprocess
from dataclasses import dataclass
from pathlib import Path

from waiting import until

WRAPPER = "libnss_wrapper.so"


def missing() -> str | None:
    """Returns what this machine lacks for it."""
    for program in ("dropbear", "dropbearkey", "ssh", "ssh-keygen"):
        if shutil.which(program) is None:
            return f"no {program}"
    probe = subprocess.run(
        ["true"], env={**os.environ, "LD_PRELOAD": WRAPPER}, capture_output=True, check=False
    )
    return f"no {WRAPPER} (libnss-wrapper)" if b"cannot be preloaded" in probe.stderr else None


@dataclass(slots=True)
class SshServer:
    directory: Path
    user: str
    port: int
    process: subprocess.Popen[bytes]

    @property
    def home(self) -> Path:
        return self.directory / "home"

    @property
    def identity(self) -> Path:
        return self.directory / "id"

    @property
    def known_hosts(self) -> Path:
        return self.directory / "known_hosts"

    def stop(self) -> None:
        """End the server and the connections it serves."""
        for pid in (*children(self.process.pid), self.process.pid):
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        self.process.wait()


def children(pid: int) -> list[int]:
    """The children of a process; dropbear forks one a connection, in a session of its own."""
    found = []
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            parent = (
                stat.read_text(encoding="utf-8", errors="replace").rpartition(")")[2].split()[1]
            )
            if int(parent) == pid:
                found.append(int(stat.parent.name))
    return found


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def start(directory: Path, alias: str) -> SshServer:
    """Start a server with fresh keys; its host key is known under `alias`."""
    me = pwd.getpwuid(os.getuid())
    home = directory / "home"
    (home / ".ssh").mkdir(parents=True)
    (home / ".ssh").chmod(0o700)
    home.chmod(0o755)
    make = ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(directory / "id")]
    subprocess.run(make, check=True)
    shutil.copy(directory / "id.pub", home / ".ssh" / "authorized_keys")
    (home / ".ssh" / "authorized_keys").chmod(0o600)
    made = subprocess.run(
        ["dropbearkey", "-t", "ed25519", "-f", str(directory / "host")],
        check=True,
        capture_output=True,
        text=True,
    )
    public = next(line for line in made.stdout.splitlines() if line.startswith("ssh-ed25519"))
    (directory / "known_hosts").write_text(f"{alias} {public}\n", encoding="ascii")
    passwd = f"{me.pw_name}:x:{me.pw_uid}:{me.pw_gid}:test:{home}:/bin/sh\n"
    (directory / "passwd").write_text(passwd, encoding="utf-8")
    (directory / "group").write_text(f"test:x:{me.pw_gid}:\n", encoding="utf-8")
    port = free_port()
    argv = ["dropbear", "-F", "-E", "-s", "-r", str(directory / "host")]
    argv += ["-P", str(directory / "pid"), "-p", f"127.0.0.1:{port}"]
    with (directory / "server.log").open("wb") as log:
        process = subprocess.Popen(
            argv,
            env={
                "PATH": os.environ["PATH"],
                "LD_PRELOAD": WRAPPER,
                "NSS_WRAPPER_PASSWD": str(directory / "passwd"),
                "NSS_WRAPPER_GROUP": str(directory / "group"),
            },
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            start_new_session=True,
        )

    def listens() -> bool:
        with socket.socket() as probe:
            return probe.connect_ex(("127.0.0.1", port)) == 0

    until("dropbear", lambda: listens() or process.poll() is not None)
    if process.poll() is None:
        return SshServer(directory, me.pw_name, port, process)
    text = (directory / "server.log").read_text(encoding="utf-8", errors="replace")
    raise RuntimeError(f"dropbear didn't start: {text}")
