# SPDX-License-Identifier: BSD-2-Clause
"""The programs of lab/bench as modules: they are no package."""

from __future__ import annotations

import importlib.util
import sys
from types import ModuleType

from teemark.base import paths


def load(name: str) -> ModuleType:
    file = paths.root() / "lab/bench" / f"{name}.py"
    if str(file.parent) not in sys.path:
        sys.path.append(str(file.parent))  # where they find each other
    spec = importlib.util.spec_from_file_location(f"bench_{name}", file)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # where data classes look for themselves
    spec.loader.exec_module(module)
    return module
