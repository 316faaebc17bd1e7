# SPDX-License-Identifier: BSD-2-Clause
"""The names of TEE_Result, by numbers."""

import tomllib
from pathlib import Path

_TEXT = Path(__file__).with_name("results.toml").read_text(encoding="ascii")

RESULTS: dict[int, str] = {int(code, 16): name for code, name in tomllib.loads(_TEXT).items()}
SHORT_BUFFER, TARGET_DEAD = 0xFFFF0010, 0xFFFF3024
