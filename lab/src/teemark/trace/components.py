# SPDX-License-Identifier: BSD-2-Clause
"""Assigns functions to the parts of the system."""

import re
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

from teemark.trace.places import Domain, PlacedFunction

_LOCKS = re.compile(
    r"_*(get_core_local|thread_(get|set)_exceptions|thread_(un)?mask_(all_)?exceptions|"
    r"get_core_pos|get_core_pos_mpidr|thread_get_core_local|thread_get_id|have_spinlock|"
    r"spinlock_count|cpu_spin_|mutex_|spinlock|assert_have|thread_get_tsd|wq_|condvar)"
)

# Parts of OP-TEE by the beginning of the source file's path; the first match counts.
_CORE = (
    ("core/lib/libtomcrypt", "core: crypto"),
    ("core/crypto", "core: crypto"),
    ("core/arch/arm/crypto", "core: crypto"),
    ("lib/libmbedtls", "core: crypto"),
    ("core/mm", "core: memory management"),
    ("core/arch/arm/mm", "core: memory management"),
    ("core/include/mm", "core: memory management"),
    ("core/include/kernel/spinlock", "core: locks, masks, per-core data"),
    ("core/arch/arm/kernel/thread", "core: threads, SMC and SVC entry"),
    ("core/kernel/thread", "core: threads, SMC and SVC entry"),
    ("core/kernel/ldelf", "core: TA loading"),
    ("core/arch/arm/kernel/vfp", "core: vector registers"),
    ("core/kernel/ree_fs_ta", "core: TA loading"),
    ("core/kernel", "core: sessions, user mode"),
    ("core/arch/arm/kernel", "core: sessions, user mode"),
    ("core/tee/tee_ree_fs", "core: storage"),
    ("core/tee/fs_htree", "core: storage"),
    ("core/tee", "core: system calls"),
    ("core/arch/arm/tee", "core: system calls"),
    ("lib/libutils", "core: libutils"),
    ("core/pta", "core: pseudo TAs"),
    ("core/drivers", "core: drivers"),
)


def component(function: PlacedFunction, source: str | None) -> str:
    """Returns the part of the system that a function belongs to. `source` is the file of an OP-TEE
    core function, if it is known."""
    module, name = function.module, function.name
    if function.domain is Domain.KERNEL:
        return module if module == "kernel" else f"kernel: {module} driver"
    if function.domain is Domain.TA and name.startswith(("_utee_", "utee_")):
        return f"{module}: system call stubs"
    if function.domain is not Domain.CORE or not function.named:
        return module if function.domain is not Domain.CORE else "OP-TEE core"
    if _LOCKS.match(name):
        return "core: locks, masks, per-core data"
    if name in ("memset", "memcpy", "memmove", "memcmp"):
        return f"core: {name}"
    return next((what for begin, what in _CORE if (source or "").startswith(begin)), "core: other")


def source_lines(elf: Path, addresses: Sequence[int]) -> Mapping[int, str]:
    """Returns FILE:LINE in OP-TEE's source for each address in the core. Nothing without binutils;
    FILE:? or ??:0 for code without DWARF."""
    program = shutil.which("aarch64-linux-gnu-addr2line")
    if program is None or not addresses:
        return {}
    done = subprocess.run(
        [program, "-e", str(elf)],
        input="\n".join(map(hex, addresses)),
        capture_output=True,
        text=True,
        check=False,
    )
    lines = [_in_tree(line.partition(" (")[0]) for line in done.stdout.splitlines()]
    return dict(zip(addresses, lines, strict=True)) if len(lines) == len(addresses) else {}


def _in_tree(path: str) -> str:
    """Returns the path within OP-TEE's source tree, beginning with `core/` or `lib/`."""
    match = re.search(r"(?:^|/)((?:core|lib)/.*)$", path)
    return match[1] if match else path
