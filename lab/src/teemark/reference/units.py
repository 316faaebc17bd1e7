# SPDX-License-Identifier: BSD-2-Clause
"""Units that documents print, and units that a correction may have."""

from collections.abc import Mapping
from types import MappingProxyType

TEXT = "text"

_PREFIXES = {"": 1.0, "k": 1e3, "K": 1e3, "M": 1e6, "G": 1e9}
_BINARY = {"Ki": 2.0**10, "Mi": 2.0**20, "Gi": 2.0**30}
_SIZES = {f"{prefix}B": factor for prefix, factor in (_PREFIXES | _BINARY).items()}

UNITS: Mapping[str, tuple[str, float]] = MappingProxyType(
    {
        **{unit: ("time", factor) for unit, factor in (
            ("ns", 1e-9), ("µs", 1e-6), ("μ s", 1e-6), ("us", 1e-6), ("ms", 1e-3), ("ms^2", 1e-3),
            ("s", 1.0),
        )},
        "bytes": ("size", 1.0),
        **{unit: ("size", factor) for unit, factor in _SIZES.items()},
        **{f"{unit}/s": ("rate", factor) for unit, factor in _SIZES.items()},
        **{f"{p}bit/s": ("rate", factor / 8) for p, factor in _PREFIXES.items()},
        **{unit: ("time per byte", factor) for unit, factor in (
            ("ns/B", 1e-9), ("µs/B", 1e-6), ("μ s/Byte", 1e-6),
        )},
        "/s": ("frequency", 1.0),
        **{f"{prefix}Hz": ("frequency", factor) for prefix, factor in _PREFIXES.items() if prefix},
        "cycles": ("cycles", 1.0),
        "cycles/byte": ("cycles per byte", 1.0),
        "W": ("power", 1.0),
        "mW": ("power", 1e-3),
        "%": ("share", 0.01),
        "x": ("factor", 1.0),
        "ratio": ("factor", 1.0),
        "count": ("count", 1.0),
        "errno": ("error", 1.0),
    }
)  # fmt: skip
"""Units with their dimension and their size in base units (seconds, bytes, bytes per second, hertz,
watts). One document prints "ms^2" above standard deviations, which are times."""

SPELLINGS = MappingProxyType({"us": "µs", "μ s": "µs", "μ s/Byte": "µs/B"})
"""Other spellings of a unit; replacing them needs no note."""

NOT_FOR_CORRECTED = frozenset({"us", "μ s", "μ s/Byte", "KB", "KB/s", "ms^2"})

EXACT = frozenset({"count", "bytes", "B", "errno"})
"""Units of counts, which are printed without rounding."""
