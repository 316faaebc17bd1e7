# SPDX-License-Identifier: BSD-2-Clause
"""Makes QEMU's command line from a virtual board's recipe."""

import shutil
from pathlib import Path

from teemark.base.errors import MissingOutput
from teemark.boards import build
from teemark.boards.config import ARMV7, RPI3, VirtualConfig

PROGRAM = "qemu-system-aarch64"

KERNEL_ARGS = ("console=ttyAMA0", "quiet", "panic=-1")
"""Kernel arguments of every board. With `panic=-1` and -no-reboot a kernel panic ends QEMU."""

_INITRD = 0x68000000
"""Address of the initrd on ARMv7, above the kernel, which TF-A puts at 0x60000000."""

_PI_ADDRESSES = (0, 0x02000000, 0x01F00000, 0x05000000)
"""Addresses of TF-A with OP-TEE, kernel, device tree and initrd in the memory of a Raspberry Pi 3
when its cores start. vboard/scripts/rpi3 tells TF-A those of the kernel and the tree."""

_PI_CORES = 4
"""Cores of QEMU's Raspberry Pi 3."""

_PI_MAC = "b8:27:eb:00:00:01"
"""A MAC address of the Raspberry Pi Foundation: with QEMU's own, Linux would call the interface
usb0, as a link between two machines."""


class Images:
    """The files that `make build` leaves in build/vboard. `firmware` replaces the flash image; the
    files in the folder `system` replace the kernel, the initrd and the root file system."""

    def __init__(
        self, directory: Path, firmware: Path | None = None, system: Path | None = None
    ) -> None:
        def file(name: str) -> Path:
            place = (system or directory) / name
            return place if place.is_file() else directory / name

        self.directory, self.system = directory, system or directory
        self.flash = firmware or directory / "flash.bin"
        self.environment = directory / "uboot-env.img"  # tells U-Boot where to load the kernel
        self.kernel, self.initrd, self.root = file("Image"), file("initrd.img"), file("root.img")
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
        self.tree = directory / "tree.dtb"
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
    cores = _PI_CORES if recipe.system == RPI3 else recipe.cores
    words += ["-smp", str(cores), "-m", str(recipe.memory)]
    if recipe.icount:
        # sleep=on: an idle guest waits in real time. Otherwise its clock would leap from timer to
        # timer, past the ssh server's limits. -seed fixes the random seed in the device tree;
        # without any seed the kernel takes seconds to gather its own.
        words += ["-icount", "shift=0,sleep=on", "-seed", "42"]
        words += ["-rtc", "base=2026-01-01,clock=vm"]
    words += ["-serial", f"file:{_comma(instance.console)}"]
    words += ["-serial", f"file:{_comma(instance.secure_console)}"]
    # restrict: the guest reaches nothing but the one connection that we make to it.
    words += ["-netdev", f"user,id=net,restrict=on,hostfwd=tcp:127.0.0.1:{port}-:22"]
    words += ["-drive", f"file={_comma(instance.data)},format=raw,if=none,id=data"]
    root = f"file={_comma(images.root)},format=raw,snapshot=on"
    if recipe.system == RPI3:
        words += _pi(recipe, images, instance, root)
    else:
        words += _virt(recipe, images, root)
    if plugin is not None:
        words += ["-plugin", plugin]
    return words


def _virt(recipe: VirtualConfig, images: Images, root: str) -> list[str]:
    secure = "on" if recipe.tee else "off"
    narrow = recipe.system == ARMV7
    gic = 2 if narrow else 3
    words = ["-machine", f"virt,secure={secure},gic-version={gic}", "-cpu", recipe.cpu]
    if recipe.tee:
        environment = f"file={_comma(images.environment)},format=raw,if=pflash,unit=1,readonly=on"
        words += ["-drive", environment, "-bios", str(images.flash)]
    words += ["-kernel", str(images.kernel), "-initrd", str(images.initrd)]
    if narrow:  # no boot loader tells the kernel where its initrd is
        words += _loaded(images.initrd, _INITRD)
    words += ["-append", kernel_arguments(recipe, images)]
    words += ["-drive", f"{root},if=none,id=root", "-device", "virtio-blk-pci,drive=root,romfile="]
    words += ["-device", "virtio-blk-pci,drive=data,romfile="]
    words += ["-device", "virtio-net-pci,netdev=net,romfile="]
    if "rng" in recipe.devices:
        words += ["-object", "rng-random,id=rng,filename=/dev/urandom"]
        words += ["-device", "virtio-rng-pci,rng=rng,romfile="]
    if "crypto" in recipe.devices:
        words += ["-object", "cryptodev-backend-builtin,id=crypto"]
        words += ["-device", "virtio-crypto-pci,cryptodev=crypto"]
    return words


def _pi(recipe: VirtualConfig, images: Images, instance: Instance, root: str) -> list[str]:
    """Returns QEMU's words for a Raspberry Pi 3 that has only the recipe's cores powered. Without
    -kernel all cores start at address 0 in EL3, as on a Pi with an armstub8.bin. The data disk and
    the network are on its USB."""
    words = ["-machine", "raspi3b", "-drive", f"{root},if=sd"]
    words += ["-global", f"bcm2837.enabled-cpus={recipe.cores}"]
    # As on a Pi, and as TF-A tells the kernel; with QEMU's 62.5 MHz all clocks would be too fast.
    words += ["-global", "cortex-a53-arm-cpu.cntfrq=19200000"]
    for file, address in zip(
        (images.flash, images.kernel, instance.tree, images.initrd), _PI_ADDRESSES, strict=True
    ):
        words += _loaded(file, address)
    words += ["-device", "usb-storage,drive=data"]
    words += ["-device", f"usb-net,netdev=net,mac={_PI_MAC}"]
    return words


def _loaded(file: Path, address: int) -> list[str]:
    return ["-device", f"loader,file={_comma(file)},addr={address:#x},force-raw=on"]


def kernel_arguments(recipe: VirtualConfig, images: Images) -> str:
    """Returns the kernel's command line. It says where the initrd is if no boot loader does."""
    words = [*KERNEL_ARGS, *recipe.kernel_args]
    address = {ARMV7: _INITRD, RPI3: _PI_ADDRESSES[-1]}.get(recipe.system)
    if address is not None:
        words.append(f"initrd={address:#x},{images.initrd.stat().st_size}")
    return " ".join(words)


def write_tree(recipe: VirtualConfig, images: Images, instance: Instance) -> None:
    """Writes a Raspberry Pi's device tree with the kernel's arguments, which on a Pi nobody else
    tells the kernel. Other boards get theirs from QEMU. Raises BoardError if fdtput fails."""
    if recipe.system == RPI3:
        shutil.copyfile(images.system / "tree.dtb", instance.tree)
        argv = ["fdtput", "-t", "s", str(instance.tree), "/chosen", "bootargs"]
        build.step([*argv, kernel_arguments(recipe, images)], "no device tree", ("fdtput",))


def require() -> None:
    if shutil.which(PROGRAM) is None:
        raise MissingOutput(
            f"there is no {PROGRAM} on this machine",
            hint="run `make deps` (Debian: apt install qemu-system-arm)",
        )
