# SPDX-License-Identifier: BSD-2-Clause
"""A user without root on the virtual board: ann, of a group to whom the TEE's device belongs."""

from pathlib import Path

from teemark.boards import Board

# su is a program of its own there, which may make others root; no password is root's.
MAKE = """\
set -e
mkdir -p /data/before && cd /etc && cp -p passwd group shadow /data/before
cp -P /usr/bin/su /data/before/su
echo 'ann:x:1001:1001::/data/home/ann:/bin/sh' >>passwd
echo 'ann:*:20000:0:99999:7:::' >>shadow
printf 'ann:x:1001:\\nlab:x:201:ann\\n' >>group
mkdir -p -m 700 /data/home/ann/.ssh && cp /root/.ssh/authorized_keys /data/home/ann/.ssh
chown -R ann:ann /data/home/ann
chgrp lab /dev/tee0
cp /usr/bin/busybox /usr/bin/su.new && chmod 4755 /usr/bin/su.new && mv /usr/bin/su.new /usr/bin/su
"""
UNMAKE = """\
cd /data/before && cp -p passwd group shadow /etc && chgrp tee /dev/tee0
rm -f /usr/bin/su && cp -P su /usr/bin/su
rm -rf /data/home/ann /data/before
"""
NO_PASSWORD = "sed -i 's/^root:[^:]*:/root::/' /etc/shadow"
"""su makes her root from then on."""


def board_file(board: Board, folder: Path, *, su: bool, tas: Path | None = None) -> str:
    """Writes a board file of ann's on that board; returns its path. `tas` is a folder of TAs."""
    to = board.endpoint
    path = folder / "ann.toml"
    path.write_text(
        f'kind = "ssh"\naddress = "{to.address}"\nport = {to.port}\nuser = "ann"\n'
        f'identity = "{to.identity}"\nsu = {str(su).lower()}\n'
        f'options = ["UserKnownHostsFile={to.known_hosts}", "HostKeyAlias={to.host_alias}"]\n'
        + (f'tas = "{tas}"\n' if tas is not None else "")
    )
    return str(path)
