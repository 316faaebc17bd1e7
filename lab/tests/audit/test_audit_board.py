# SPDX-License-Identifier: BSD-2-Clause
"""The audit reads what programs print on the virtual board, and finds nothing that isn't wrong."""

import pytest

from teemark.audit import audit, text
from teemark.boards import VirtualBoard

pytestmark = pytest.mark.board

FILE = "head -c 10000000 /dev/zero > /tmp/zeros && time"
LIVE = {
    "openssl speed -seconds 1 -bytes 1024 sha256": (3, {"time", "rate"}),
    "openssl speed -elapsed -seconds 1 -evp aes-128-cbc": (18, {"time", "rate"}),
    "openssl speed -mr -seconds 1 sha1": (18, {"count", "time", "rate"}),
    "openssl speed -seconds 1 rsa2048": (4, {"time", "frequency"}),
    "xtest --hash-perf -a SHA256 -n 200 -s 65536 -v": (6, {"time", "share", "rate"}),
    "xtest --aes-perf -n 200": (5, {"time", "rate"}),
    f"{FILE} kcapi-dgst -c sha256 -i /tmp/zeros --hex": (3, {"time"}),
    f"{FILE} kcapi-enc -e -c 'cbc(aes)' -p secret --pbkdfiter 10 -s 0011223344556677 "
    "--iv 00112233445566778899aabbccddeeff -i /tmp/zeros -o /tmp/secret": (3, {"time"}),
    "cryptsetup benchmark --cipher aes-cbc --key-size 128": (2, {"rate"}),
    "modprobe tcrypt mode=214 sec=1; dmesg | grep tcrypt": (14, {"size", "count"}),
}
"""For each command, the figures there are at least, and what they are."""


EVERY_DAY = ("sha256", "--aes-perf", "kcapi-dgst")
"""Says what the commands of every day have in them."""


@pytest.mark.parametrize(
    "command",
    [
        command
        if any(word in command.split() for word in EVERY_DAY)
        else pytest.param(command, marks=pytest.mark.exhaustive)
        for command in LIVE
    ],
)
def test_live_output_is_read_and_nothing_is_found(qemu_v8: VirtualBoard, command: str) -> None:
    said = qemu_v8.script(f"{{ {command}; }} 2>&1", check=False).text
    reading = text.read(said, command)
    least, wanted = LIVE[command]
    assert len(reading.figures) >= least, said
    assert wanted <= {one.dimension for one in reading.figures}, said
    made = audit(reading)
    assert made.findings == (), said
