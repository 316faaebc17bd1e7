# SPDX-License-Identifier: BSD-2-Clause
"""Makes QEMU's command line from a virtual board's recipe."""

import shutil
from pathlib import Path

from teemark.base.errors import MissingOutput
from teemark.boards.config import ARMV7, VirtualConfig

PROGRAM = "qemu-system-aarch64"

KERNEL_ARGS = ("console=ttyAMA0", "quiet", "panic=-1")
"""Kernel arguments of every board. With `panic=-1` and -no-reboot a kernel panic ends QEMU."""

_INITRD = 0x68000000
"""Address of the initrd on ARMv7, above the kernel, which TF-A puts at 0x60000000."""


class Images:
    """The files that `make build` leaves in build/vboard. `firmware` replaces the flash image; the
    files in the folder `system` replace the kernel, the initrd and the root file system."""

    def __init__(
        self, directory: Path, firmware: Path | None = None, system: Path | None = None
    ) -> None:
        def own(name: str) -> Path:
            place = (system or directory) / name
            return place if place.is_file() else directory / name

        self.directory = directory
        self.flash = firmware or directory / "flash.bin"
        self.environment = directory / "uboot-env.img"  # tells U-Boot where to load the kernel
        self.kernel, self.initrd, self.root = own("Image"), own("initrd.img"), own("root.img")
        self.data = directory / "data.img"
        self.identity = directory / "ssh" / "id_ed25519"
        self.known_hosts = directory / "ssh" / "known_hosts"

    def check(self) -> None:
        """Raises MissingOutput if a file is missing, or if this user may not read it."""
        for path in vars(self).values():
            try:
                path.open("rb").close() if path.is_file() else path.stat()
            except PermissionError:
                hint = "build it in a checkout of your own, or run `teemark vboard install`"
                what = f"the virtual board belongs to another user, who alone may read {path}"
                raise MissingOutput(what, hint=hint) from None
            except OSError:
                raise MissingOutput(f"the virtual board isn't built: there is no {path}") from None


class Instance:
    """The paths of one running virtual board's files."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.data = directory / "data.img"
        self.console = directory / "console.log"
        self.secure_console = directory / "secure.log"
        self.qemu_log = directory / "qemu.log"
        self.state = directory / "state.json"
        self.lock = directory / "lock"


def _comma(path: Path) -> str:
    """Returns a path with its commas doubled, as an option of QEMU wants them."""
    return str(path).replace(",", ",,")


def command(
    recipe: VirtualConfig, images: Images, instance: Instance, port: int, plugin: str | None = None
) -> list[str]:
    """Returns the command line of QEMU that boots `recipe`, with the board's ssh server at
    127.0.0.1:`port`. `plugin` is the value of QEMU's option -plugin."""
    words = [PROGRAM, "-nodefaults", "-no-user-config", "-no-reboot"]
    words += ["-display", "none", "-monitor", "none"]
    secure = "on" if recipe.tee else "off"
    narrow = recipe.system == ARMV7
    gic = 2 if narrow else 3
    words += ["-machine", f"virt,secure={secure},gic-version={gic}", "-cpu", recipe.cpu]
    words += ["-smp", str(recipe.cores), "-m", str(recipe.memory)]
    if recipe.icount:
        # sleep=on: an idle guest waits in real time. Otherwise its clock would leap from timer to
        # timer, past the ssh server's limits. -seed fixes the random seed in the device tree;
        # without any seed the kernel takes seconds to gather its own.
        words += ["-icount", "shift=0,sleep=on", "-seed", "42"]
        words += ["-rtc", "base=2026-01-01,clock=vm"]
    if recipe.tee:
        environment = f"file={_comma(images.environment)},format=raw,if=pflash,unit=1,readonly=on"
        words += ["-drive", environment, "-bios", str(images.flash)]
    words += ["-kernel", str(images.kernel), "-initrd", str(images.initrd)]
    kernel_args = [*KERNEL_ARGS, *recipe.kernel_args]
    if narrow:  # no boot loader tells the kernel where its initrd is
        where = f"addr={_INITRD:#x},force-raw=on"
        words += ["-device", f"loader,file={_comma(images.initrd)},{where}"]
        kernel_args.append(f"initrd={_INITRD:#x},{images.initrd.stat().st_size}")
    words += ["-append", " ".join(kernel_args)]
    words += ["-serial", f"file:{_comma(instance.console)}"]
    words += ["-serial", f"file:{_comma(instance.secure_console)}"]
    words += ["-drive", f"file={_comma(images.root)},format=raw,if=none,id=root,snapshot=on"]
    words += ["-device", "virtio-blk-pci,drive=root,romfile="]
    words += ["-drive", f"file={_comma(instance.data)},format=raw,if=none,id=data"]
    words += ["-device", "virtio-blk-pci,drive=data,romfile="]
    # restrict: the guest reaches nothing but the one connection that we make to it.
    words += ["-netdev", f"user,id=net,restrict=on,hostfwd=tcp:127.0.0.1:{port}-:22"]
    words += ["-device", "virtio-net-pci,netdev=net,romfile="]
    if "rng" in recipe.devices:
        words += ["-object", "rng-random,id=rng,filename=/dev/urandom"]
        words += ["-device", "virtio-rng-pci,rng=rng,romfile="]
    if "crypto" in recipe.devices:
        words += ["-object", "cryptodev-backend-builtin,id=crypto"]
        words += ["-device", "virtio-crypto-pci,cryptodev=crypto"]
    if plugin is not None:
        words += ["-plugin", plugin]
    return words


def require() -> None:
    if shutil.which(PROGRAM) is None:
        raise MissingOutput(
            f"there is no {PROGRAM} on this machine",
            hint="run `make deps` (Debian: apt install qemu-system-arm)",
        )
