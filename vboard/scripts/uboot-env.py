#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Writes a flash image with U-Boot's environment: a CRC-32, then name=value strings."""

import sys
import zlib
from pathlib import Path

ENVIRONMENT = 0x40000  # bytes: CONFIG_ENV_SIZE of U-Boot's qemu_arm64
BANK = 64 << 20  # bytes of a flash bank of QEMU's virt machine

source, image = map(Path, sys.argv[1:])
lines = [x for x in source.read_text().splitlines() if x and not x.startswith("#")]
data = b"".join(line.encode() + b"\0" for line in lines) + b"\0"
data = data.ljust(ENVIRONMENT - 4, b"\0")
with image.open("wb") as file:
    file.write(zlib.crc32(data).to_bytes(4, "little") + data)
    file.truncate(BANK)
