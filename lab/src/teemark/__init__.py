# SPDX-License-Identifier: BSD-2-Clause
"""teemark: what trusted execution and hardware crypto really cost on a board."""

from teemark.version import __version__ as __version__

TYPE_CHECKING = False  # typing takes a while, and a Ctrl-C meanwhile would print a traceback
if TYPE_CHECKING:
    from os import PathLike
    from typing import Any


def load(path: "str | PathLike[str]") -> "list[dict[str, Any]]":
    """Returns the raw samples of a run, one dictionary each, with the keys of `teemark export
    --format csv`; None where a value is unknown. `path` is the run's folder or its run.ndjson.
    Raises teemark.base.errors.TeemarkError if there is no run.

    pandas.DataFrame(teemark.load("runs/latest"))
    """
    from pathlib import Path

    from teemark.export.tidy_csv import rows
    from teemark.run import reader

    return list(rows(reader.read(Path(path))))
