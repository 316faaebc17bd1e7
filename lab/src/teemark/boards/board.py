# SPDX-License-Identifier: BSD-2-Clause
"""A board that can be used: run commands there, copy files there and back.

with open_board("qemu-v8") as board:
    text = board.capture(["teehash", "--version"]).text
    board.push(Path("data.bin"), "/data/data.bin")
"""

import platform
import time
from functools import cached_property
from pathlib import Path

from teemark.base.errors import BoardHangs, ConfigError, ConnectError, ConnectionLost, TeeHangs
from teemark.boards.config import BoardFile, SshConfig
from teemark.boards.endpoint import Endpoint
from teemark.boards.ta_kit import Kit, default_kit
from teemark.boards.transfer import Carrier
from teemark.run.records import Firmware

# Of several folders, the first that is there; the usual one where no supplicant runs, or none that
# was told another.
_TA_FOLDER = """\
f=/lib/optee_armtz
for p in /proc/[0-9]*; do
  read -r n 2>/dev/null <"$p/comm" && [ "$n" = tee-supplicant ] || continue
  o=
  for w in $(tr '\\0' ' ' <"$p/cmdline"); do
    case $o in --ta-path | -l) f=$w ;; --ta-dir | -t) f=/lib/$w ;; esac
    case $w in
    --ta-path=*) f=${w#*=} ;;
    --ta-dir=*) f=/lib/${w#*=} ;;
    -l?*) f=${w#-l} ;;
    -t?*) f=/lib/${w#-t} ;;
    esac
    o=$w
  done
done
IFS=:
for d in $f; do [ -d "$d" ] && break; d=${f%%:*}; done
echo "folder $d"
"""


class Board(Carrier):
    """A board over ssh. Virtual boards add power (teemark.boards.virtual)."""

    emulated = False
    """Its timings are not those of silicon."""
    deterministic = False
    """Its clock counts instructions."""

    def __init__(self, file: BoardFile, endpoint: Endpoint) -> None:
        super().__init__(file.name, file.config, endpoint)
        self.file = file
        self.guests: list[Path] = []
        """Trusted Applications of the user's that are on it for now."""

    def cpu_seconds(self) -> tuple[float, float]:
        """Returns two sums of seconds: how long the board had CPUs, and how long it waited for some
        of this machine's. A board that is no process here never waits."""
        return time.monotonic(), 0.0

    def sleeping_threads(self) -> str:
        """Returns OP-TEE's threads that wait, by the secure world's log, in words; empty if
        unknown."""
        return ""

    def tee_hangs(self, why: str) -> TeeHangs:
        """Returns the error that its TEE doesn't answer, with what the secure world logs of it."""
        threads = self.sleeping_threads()
        return TeeHangs(
            f"{self.name}: the TEE doesn't answer: {why}{f'; {threads}' if threads else ''}",
            hint="only a reboot ends calls that hang; the secure world's console may say why "
            "(docs/findings.md has what is known)",
        )

    def consoles_last(self) -> str:
        """Returns the last lines of its consoles where they are read, else nothing."""
        return ""

    def explain(self, error: BaseException | None) -> None:
        """Adds its consoles' last lines to the hint of an error that says that the board hangs."""
        if isinstance(error, BoardHangs | ConnectError | ConnectionLost):
            lines = self.consoles_last()
            if lines and "\n-- " not in (error.hint or ""):
                error.hint = f"{error.hint or 'see its console'}\n{lines}"

    @cached_property
    def ta_directory(self) -> str:
        """Returns the folder on it where TAs go: the board file's, or where its tee-supplicant
        looks."""
        if self.config.ta_directory is not None:
            return self.config.ta_directory
        return self.ask("where TAs are", {"folder": r"/[\w.+/-]*"}, _TA_FOLDER).one("folder")

    @property
    def firmware(self) -> tuple[Firmware, ...]:
        """Returns what it booted, where that is known."""
        return ()

    @property
    def kit(self) -> Kit:
        """Builds Trusted Applications that this board's OP-TEE takes."""
        config = self.config
        if not isinstance(config, SshConfig) or config.ta_kit is None:
            return default_kit()
        key = Path(config.ta_key).expanduser() if config.ta_key else None
        return Kit(Path(config.ta_kit).expanduser(), key)

    @cached_property
    def tas(self) -> Path:
        """Returns the folder of our Trusted Applications that belong on this board; built if need
        be.

        Raises ConfigError if the board file names a folder that has none.
        """
        if not isinstance(self.config, SshConfig) or self.config.tas is None:
            return self.kit.ours()
        folder = Path(self.config.tas).expanduser()
        if not any(folder.glob("*.ta")):
            hint = "it is to have the files UUID.ta that the vendor signed"
            raise ConfigError(f"{self.file.path}: tas: {folder} has no TA", hint=hint)
        return folder

    def architecture(self) -> str:
        """Returns aarch64, armhf, or native where it is like this machine's."""
        answer = self.ask("its machine", {"machine": r"[\w.-]+"}, 'echo "machine $(uname -m)"')
        return architecture(answer.one("machine"))


def architecture(machine: str) -> str:
    """Returns what `uname -m` says as the name of a folder in build/host."""
    if machine.startswith(("armv7", "armv8")):
        return "armhf"
    same = machine == platform.machine() and machine != "aarch64"
    return "native" if same else machine
