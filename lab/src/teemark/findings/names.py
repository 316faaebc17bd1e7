# SPDX-License-Identifier: BSD-2-Clause
"""The causes in words. Reports and `explain` say these; JSON has the keys."""

import tomllib
from importlib.resources import files

CAUSES: dict[str, str] = tomllib.loads(
    files("teemark.findings").joinpath("causes.toml").read_text(encoding="utf-8")
)
"""What each cause is, by its key; a test holds the glossary against this."""
