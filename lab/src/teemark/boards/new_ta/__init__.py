# SPDX-License-Identifier: BSD-2-Clause
"""Makes a new Trusted Application from the templates beside this file (*.in)."""

import re
import tempfile
import uuid
from importlib.resources import as_file, files
from pathlib import Path

from teemark.base.errors import DataError, UsageMistake

_NAME = re.compile(r"[a-z][a-z0-9_]{0,39}")
_HIDDEN = {"gitignore": ".gitignore"}
"""Templates that git would obey under their real names."""


def make(place: Path) -> uuid.UUID:
    """Makes the folder `place` with a new TA, whole or not at all, and returns the TA's UUID. The
    folder's name is the TA's name."""
    name = place.name
    if not _NAME.fullmatch(name):
        raise UsageMistake(
            f"{name!r} is no name for a Trusted Application",
            hint="small letters, digits and _, a letter first, at most 40: it is in file names, C "
            "names and Makefiles",
        )
    if place.exists() or place.is_symlink():
        raise UsageMistake(
            f"{place} is there already", hint="nothing is overwritten: take another name"
        )
    fresh = uuid.uuid4()
    words = {
        "@NAME@": name,
        "@MACRO@": name.upper(),
        "@UUID@": str(fresh),
        "@UUID_C@": _initializer(fresh),
    }
    folder = place.absolute().parent
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix=f".{name}.", dir=folder) as beside:
            whole = Path(beside) / name
            with as_file(files(__name__)) as templates:
                for template in templates.rglob("*.in"):
                    path = str(template.relative_to(templates)).removesuffix(".in")
                    text = template.read_text(encoding="utf-8")
                    for word, value in words.items():
                        path, text = path.replace(word, value), text.replace(word, value)
                    file = whole / _HIDDEN.get(path, path)
                    file.parent.mkdir(parents=True, exist_ok=True)
                    file.write_text(text, encoding="utf-8")
            whole.rename(place)
    except OSError as error:
        raise DataError(
            f"{place}: can't be made: {error.strerror}",
            hint="is there space, and may you write there?",
        ) from None
    return fresh


def _initializer(fresh: uuid.UUID) -> str:
    node = [f"0x{byte:02x}" for byte in fresh.bytes[8:]]
    low, mid, high = fresh.fields[:3]
    return (
        f"0x{low:08x}, 0x{mid:04x}, 0x{high:04x}, \\\n"
        f"\t\t{{ {', '.join(node[:4])}, {', '.join(node[4:])} }}"
    )
