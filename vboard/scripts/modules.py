#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Copies kernel modules with what they depend on, and writes the files that modprobe reads.

depmod is not used: it would have to be installed, and the modules are another machine's.
What it would find out is in each module's .modinfo.
"""

import argparse
import lzma
import sys
from dataclasses import dataclass, field
from pathlib import Path


def normal(name: str) -> str:
    """Returns a module's name as the kernel compares it: - and _ are the same."""
    return name.replace("-", "_")


@dataclass
class Module:
    path: str  # below lib/modules/VERSION, ends in .ko
    data: bytes
    depends: list[str] = field(default_factory=list)
    softdeps: list[str] = field(default_factory=list)
    aliases: list[str] = field(default_factory=list)

    @property
    def name(self) -> str:
        return normal(Path(self.path).stem)


class Tree:
    """The modules of one kernel package."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.files = {normal(p.name.split(".")[0]): p for p in root.rglob("*.ko*")}
        self.builtin = {
            normal(Path(line).stem)
            for line in (root / "modules.builtin").read_text().splitlines()
        }
        self.loaded: dict[str, Module] = {}

    def get(self, name: str) -> Module:
        name = normal(name)
        if name not in self.loaded:
            self.loaded[name] = self.read(self.files[name])
        return self.loaded[name]

    def read(self, file: Path) -> Module:
        data = file.read_bytes()
        path = str(file.relative_to(self.root))
        if file.suffix == ".xz":
            data = lzma.decompress(data)
            path = path.removesuffix(".xz")
        elif file.suffix != ".ko":
            sys.exit(f"error: {file}: unknown compression of a kernel module")
        module = Module(path, unsigned(data))
        for key, value in modinfo(data):
            if key == "depends":
                module.depends = [normal(n) for n in value.split(",") if n]
            elif key == "softdep" and value.startswith("pre:"):
                module.softdeps += [
                    normal(n) for n in value.removeprefix("pre:").split()
                ]
            elif key == "alias":
                module.aliases.append(value)
        return module

    def closure(self, names: list[str]) -> list[Module]:
        """Returns the modules and all they need, in the order in which they can be loaded."""
        order: dict[str, Module] = {}

        def visit(name: str) -> None:
            if name in order or name not in self.files:
                return  # what is not a file is built in: checked by the caller for named ones
            module = self.get(name)
            for needed in module.softdeps + module.depends:
                visit(needed)
            order[name] = module

        for name in names:
            visit(normal(name))
        return list(order.values())


def unsigned(data: bytes) -> bytes:
    """Returns the module without its signature, which follows the ELF file.

    Checking it (RSA, emulated) takes longer than all else at boot. The package it came in was
    checked when it was downloaded; the kernel accepts it and sets its taint flag E."""
    magic = b"~Module signature appended~\n"
    if not data.endswith(magic):
        return data
    information = data[: -len(magic)][
        -12:
    ]  # the last four bytes: the signature's length
    return data[
        : -len(magic) - len(information) - int.from_bytes(information[-4:], "big")
    ]


def modinfo(data: bytes) -> list[tuple[str, str]]:
    """Returns the key=value strings of the .modinfo section of a 64-bit little-endian ELF file."""
    word = lambda at, size: int.from_bytes(data[at : at + size], "little")  # noqa: E731
    if data[:6] != b"\x7fELF\x02\x01":
        sys.exit("error: a kernel module is not a 64-bit little-endian ELF file")
    table, size, count, names = word(40, 8), word(58, 2), word(60, 2), word(62, 2)
    section = lambda i: (word(table + i * size + 24, 8), word(table + i * size + 32, 8))  # noqa: E731
    strings, _ = section(names)
    for i in range(count):
        at = strings + word(table + i * size, 4)
        if data[at : at + 9] == b".modinfo\0":
            start, length = section(i)
            entries = data[start : start + length].split(b"\0")
            pairs = (
                e.decode(errors="replace").partition("=") for e in entries if b"=" in e
            )
            return [(key, value) for key, _, value in pairs]
    return []


def wanted(file: Path, tree: Tree) -> dict[str, list[str]]:
    groups: dict[str, list[str]] = {"initrd": [], "boot": [], "demand": []}
    for number, line in enumerate(file.read_text().splitlines(), 1):
        words = line.split("#")[0].split()
        if not words:
            continue
        if len(words) != 2 or words[1] not in groups:
            sys.exit(
                f"error: {file}:{number}: expected a module and one of {', '.join(groups)}"
            )
        name, group = words
        if normal(name) in tree.files:
            groups[group].append(name)
        elif normal(name) not in tree.builtin:
            sys.exit(f"error: {file}:{number}: the kernel has no module {name}")
    return groups


def install(modules: list[Module], target: Path) -> None:
    for module in modules:
        file = target / module.path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(module.data)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("kernel", type=Path, help="unpacked kernel package")
    parser.add_argument("list", type=Path, help="modules.txt")
    parser.add_argument("initrd", type=Path, help="where the modules for the initrd go")
    parser.add_argument("root", type=Path, help="the root file system")
    args = parser.parse_args()

    (base,) = (args.kernel / "usr/lib/modules").iterdir()
    tree = Tree(base)
    groups = wanted(args.list, tree)

    first = tree.closure(groups["initrd"])
    args.initrd.mkdir(parents=True, exist_ok=True)
    for module in first:
        (args.initrd / f"{module.name}.ko").write_bytes(module.data)
    (args.initrd / "order").write_text("".join(f"{m.name}.ko\n" for m in first))

    modules = tree.closure(groups["initrd"] + groups["boot"] + groups["demand"])
    target = args.root / "usr/lib/modules" / base.name
    install(modules, target)
    (target / "modules.builtin").write_text((base / "modules.builtin").read_text())
    (target / "modules.order").write_text("".join(f"{m.path}\n" for m in modules))
    (target / "modules.dep").write_text(
        "".join(
            f"{m.path}:"
            + "".join(f" {d.path}" for d in reversed(tree.closure(m.depends)))
            + "\n"
            for m in modules
        )
    )
    (target / "modules.alias").write_text(
        "".join(f"alias {alias} {m.name}\n" for m in modules for alias in m.aliases)
    )
    boot = tree.closure(groups["boot"])
    early = {m.name for m in first}
    (args.root / "etc").mkdir(exist_ok=True)
    (args.root / "etc/modules").write_text(
        "# loaded at boot, in this order\n"
        + "".join(f"{m.name}\n" for m in boot if m.name not in early)
    )


if __name__ == "__main__":
    main()
