# SPDX-License-Identifier: BSD-2-Clause
"""The facts of a board, and answers to questions from these facts alone."""

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass

from teemark.boards.tas import Ta
from teemark.run.records import Machine


@dataclass(frozen=True, slots=True)
class ExaminedBoard:
    name: str
    machine: Machine
    tas: tuple[Ta, ...] = ()
    openssl: tuple[str, ...] = ()
    """The output of `openssl version -a` and `openssl list -providers`, by lines."""
    icount: bool = False

    @property
    def wants_tee(self) -> bool:
        """Returns true if the programs for a TEE are installed; without them no TEE is expected."""
        tee = self.machine.tee
        return tee.libteec is not None or tee.supplicant in ("running", "stopped")

    def option(self, name: str) -> str | None:
        """Returns the value of a kernel option, such as `y`, `m` or `n`; None if it isn't known."""
        for line in self.machine.kernel.options or ():
            key, _, value = line.partition("=")
            if key == f"CONFIG_{name}":
                return value
        return None

    def loaded(self, module: str) -> bool:
        return module in (self.machine.health.modules or ())

    def there(self, module: str) -> bool | None:
        """Returns true if the kernel module is installed and could be loaded; None if unknown."""
        modules = self.machine.health.modules_there
        return module in modules if modules is not None else None

    def why_not(self, fact: str) -> str:
        """Returns teebench's reason why a fact is null."""
        return self.machine.reasons.get(fact, "the board doesn't say")

    def lacking(self, option: str, module: str) -> tuple[str, str, str]:
        """Returns the evidence, the cause and the remedy for a module that the kernel lacks. The
        remedy loads the module if it is installed, otherwise builds it, with lines for Yocto and
        Buildroot."""
        value, loadable = self.option(option), self.there(module)
        unknown = f"CONFIG_{option} isn't known ({self.why_not('kernel.options')})"
        texts = {None: unknown, "n": f"CONFIG_{option} is not set"}
        evidence = texts.get(value, f"CONFIG_{option}={value}")
        if self.loaded(module):
            evidence += f"; module {module} is loaded"
        elif loadable is None:
            evidence += "; which modules there are isn't known"
        else:
            evidence += f"; module {module} is {'there, not loaded' if loadable else 'not there'}"

        cause = f"the kernel lacks {module}: it isn't loaded, or CONFIG_{option} isn't built"
        if loadable:
            cause = f"the kernel's module {module} isn't loaded"
        elif value == "n":
            cause = f"the kernel was built without CONFIG_{option}"

        load = (
            f"modprobe {module}   # at each boot: echo {module} > /etc/modules-load.d/{module}.conf"
        )
        build = (
            f"CONFIG_{option}=m   # in a fragment of the kernel's configuration, teemark.cfg",
            'Yocto, linux-%.bbappend:  SRC_URI += "file://teemark.cfg"',
            f'Yocto, machine:  KERNEL_MODULE_AUTOLOAD += "{module}"',
            'Buildroot:  BR2_LINUX_KERNEL_CONFIG_FRAGMENT_FILES="board/teemark.cfg"',
            load,
        )
        return evidence, cause, load if loadable or value == "m" else "\n".join(build)

    def device(self, path: str) -> tuple[str, str, str] | None:
        """Returns a device's permissions, owner and group; None if there is no such device."""
        for line in self.machine.health.devices or ():
            words = line.split()
            if len(words) == 4 and words[0] == path:
                return words[1], words[2], words[3]
        return None

    def steps(self) -> Iterator[tuple[str, int, str]]:
        """Yields the steps of using AF_ALG and netlink: name, errno (0: success), error message."""
        for line in self.machine.health.afalg_steps or ():
            match = re.fullmatch(r"(.+): (?:ok|(\d+) (.*))", line)
            if match:
                yield match[1], int(match[2] or 0), match[3] or ""
        netlink = self.machine.crypto.netlink_errno
        if netlink is not None:
            yield "netlink socket", netlink, os.strerror(netlink)
