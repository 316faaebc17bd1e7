# SPDX-License-Identifier: BSD-2-Clause
"""An ssh destination: as arguments for our own ssh, and as a command line that people type."""

import shlex
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Endpoint:
    """An ssh destination. A field that is None is left to the user's ssh configuration."""

    address: str
    user: str | None = None
    port: int | None = None
    identity: Path | None = None
    known_hosts: Path | None = None
    """The only known_hosts file that ssh trusts; the board's name in it is `host_alias`."""
    host_alias: str | None = None
    connect_timeout: int = 10
    keepalive: bool = True
    """True has ssh check that the board is still there; false where packets would disturb."""
    options: tuple[str, ...] = ()

    def __str__(self) -> str:
        name = f"{self.user}@{self.address}" if self.user else self.address
        return f"{name}:{self.port}" if self.port else name

    def arguments(self) -> list[str]:
        options = [*self.options]  # ssh takes an option's first value: the board file's
        options += ["BatchMode=yes", f"ConnectTimeout={self.connect_timeout}"]
        # Whatever a user's configuration says for interactive use is turned off.
        options += ["TCPKeepAlive=no", "ForwardX11=no", "ForwardAgent=no", "PermitLocalCommand=no"]
        options += ["ControlPersist=no", "RemoteCommand=none", "ClearAllForwardings=yes"]
        options += ["LogLevel=INFO"]
        options += [f"ServerAliveInterval={15 if self.keepalive else 0}", "ServerAliveCountMax=4"]
        if self.identity:
            options += [f"IdentityFile={_quoted(self.identity)}", "IdentitiesOnly=yes"]
        if self.known_hosts:
            options += [
                f"UserKnownHostsFile={_quoted(self.known_hosts)}",
                "GlobalKnownHostsFile=/dev/null",
                "StrictHostKeyChecking=yes",
                f"HostKeyAlias={self.host_alias or self.address}",
                "UpdateHostKeys=no",
            ]
        words = ["-F", "none"] if self.known_hosts else []
        words += [word for option in options for word in ("-o", option)]
        if self.user:
            words += ["-l", self.user]
        if self.port:
            words += ["-p", str(self.port)]
        return words

    def by_hand(self, *options: str) -> str:
        """Returns the command line that a person types to connect as teemark does."""
        words = ["ssh", *options]
        for option in self.options:
            words += ["-o", option]
        if self.known_hosts:
            words += ["-o", f"UserKnownHostsFile={_quoted(self.known_hosts)}"]
            words += ["-o", f"HostKeyAlias={self.host_alias or self.address}"]
        if self.identity:
            words += ["-i", str(self.identity)]
        if self.port:
            words += ["-p", str(self.port)]
        return shlex.join([*words, f"{self.user}@{self.address}" if self.user else self.address])


def _quoted(path: Path) -> str:
    """Returns a path for ssh's configuration, where % is special and spaces need quotes."""
    return '"' + str(path).replace("%", "%%") + '"'
