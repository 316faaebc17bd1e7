# SPDX-License-Identifier: BSD-2-Clause
"""The names of CPU cores. The fields of the register MIDR_EL1 are from the Arm Architecture
Reference Manual, the part numbers from each core's Technical Reference Manual."""

from collections.abc import Iterable, Mapping

X86_FEATURES = frozenset({"aes", "avx2", "avx512f", "pclmulqdq", "sha_ni", "vaes"})
"""Words of /proc/cpuinfo's `flags` that speed crypto up on a development machine."""

_ARM = 0x41

_PARTS = """\
c05 Cortex-A5|c07 Cortex-A7|c08 Cortex-A8|c09 Cortex-A9|c0d Cortex-A17|c0e Cortex-A17|c0f Cortex-A15
d01 Cortex-A32|d02 Cortex-A34|d03 Cortex-A53|d04 Cortex-A35|d05 Cortex-A55|d06 Cortex-A65
d07 Cortex-A57|d08 Cortex-A72|d09 Cortex-A73|d0a Cortex-A75|d0b Cortex-A76|d0c Neoverse-N1
d0d Cortex-A77|d0e Cortex-A76AE|d40 Neoverse-V1|d41 Cortex-A78|d42 Cortex-A78AE|d44 Cortex-X1
d46 Cortex-A510|d47 Cortex-A710|d48 Cortex-X2|d49 Neoverse-N2|d4d Cortex-A715|d4e Cortex-X3
d80 Cortex-A520|d81 Cortex-A720"""
_NAMES = {int(row[:3], 16): row[4:] for row in _PARTS.replace("\n", "|").split("|")}


def _number(text: str) -> int | None:
    try:
        return int(text, 0)
    except ValueError:
        return None


def _name(midr: int) -> str:
    implementer, part = midr >> 24 & 0xFF, midr >> 4 & 0xFFF
    version = f"r{midr >> 20 & 15}p{midr & 15}"
    if implementer == _ARM and part in _NAMES:
        return f"ARM {_NAMES[part]} {version}"
    return f"implementer {implementer:#04x} part {part:#05x} {version}"


def models(midr: Iterable[str], cpuinfo: Mapping[str, str]) -> tuple[str, ...] | None:
    """Returns the names of the different kinds of cores: more than one on a big.LITTLE chip. `midr`
    has words such as "0x410fd034" or "cpu0 0x410fd034"; it is empty for 32-bit kernels, which have
    its fields in /proc/cpuinfo instead of /sys."""
    numbers = [_number(text.split()[-1]) for text in midr if text.split()]
    names = ("CPU implementer", "CPU variant", "CPU part", "CPU revision")
    fields = [_number(cpuinfo.get(name, "")) for name in names]
    if not numbers and None not in fields:
        implementer, variant, part, revision = (field or 0 for field in fields)
        numbers = [implementer << 24 | variant << 20 | part << 4 | revision]
    found = tuple(dict.fromkeys(_name(number) for number in numbers if number is not None))
    return found or ((cpuinfo["model name"],) if "model name" in cpuinfo else None)
