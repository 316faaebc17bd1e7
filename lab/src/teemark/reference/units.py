# SPDX-License-Identifier: BSD-2-Clause
"""Units that documents print, and those that a correction may have."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

TEXT = "text"

# Every unit that a document uses or a correction may have: dimension and size in base units.
# "ms^2" is what one document prints over standard deviations, which are times.
UNITS: Mapping[str, tuple[str, float]] = MappingProxyType(
    {
        "ns": ("time", 1e-9),
        "µs": ("time", 1e-6),
        "μ s": ("time", 1e-6),
        "us": ("time", 1e-6),
        "ms": ("time", 1e-3),
        "ms^2": ("time", 1e-3),
        "s": ("time", 1.0),
        "B": ("size", 1.0),
        "bytes": ("size", 1.0),
        "kB": ("size", 1e3),
        "KB": ("size", 1e3),
        "KiB": ("size", 1024.0),
        "MB": ("size", 1e6),
        "MiB": ("size", 1048576.0),
        "GB": ("size", 1e9),
        "GiB": ("size", 1024.0**3),
        "B/s": ("rate", 1.0),
        "kB/s": ("rate", 1e3),
        "KB/s": ("rate", 1e3),
        "MB/s": ("rate", 1e6),
        "KiB/s": ("rate", 1024.0),
        "MiB/s": ("rate", 1048576.0),
        "GB/s": ("rate", 1e9),
        "GiB/s": ("rate", 1024.0**3),
        "µs/B": ("time per byte", 1e-6),
        "μ s/Byte": ("time per byte", 1e-6),
        "/s": ("frequency", 1.0),
        "MHz": ("frequency", 1e6),
        "GHz": ("frequency", 1e9),
        "%": ("share", 0.01),
        "x": ("factor", 1.0),
        "ratio": ("factor", 1.0),
        "count": ("count", 1.0),
        "errno": ("error", 1.0),
    }
)

# Other spellings of the same unit: using the plain one needs no explanation.
SPELLINGS = MappingProxyType({"us": "µs", "μ s": "µs", "μ s/Byte": "µs/B"})

NOT_FOR_CORRECTED = frozenset({"us", "μ s", "μ s/Byte", "KB", "KB/s", "ms^2"})

EXACT = frozenset({"count", "bytes", "B", "errno"})
"""What is counted is printed whole."""
