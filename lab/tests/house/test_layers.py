# SPDX-License-Identifier: BSD-2-Clause
"""No include or import runs against the order of the layers, which mk/layers.toml declares."""

import ast
import re
import sys
import tomllib
from collections.abc import Iterable, Iterator
from fnmatch import fnmatchcase
from functools import cache
from importlib.metadata import packages_distributions
from pathlib import Path

import msgspec
import pytest

from teemark.base import paths

INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]+"([^"]+)"', re.M)
PACKAGE = Path("lab/src/teemark")
OF_OPTEE_BUILD = {"cryptography"}
"""Says what the scripts of OP-TEE's build import, which run in our environment."""


class Room(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    name: str
    folders: tuple[str, ...]
    layers: tuple[str, ...]
    uses: tuple[str, ...] = ()
    below: bool = False
    """True if the room may use every room that stands after it in the file."""

    def level(self, name: str) -> int | None:
        """The line of a name, from the top: of what fits, the name itself or the longest word."""
        fits = [
            (word == name, len(word), number)
            for number, line in enumerate(self.layers)
            for word in line.split()
            if fnmatchcase(name, word)
        ]
        return max(fits)[2] if fits else None


class Place(msgspec.Struct, frozen=True):
    room: Room
    name: str
    level: int


def rooms() -> list[Room]:
    text = (paths.root() / "mk" / "layers.toml").read_text(encoding="utf-8")
    declared = msgspec.toml.decode(text, type=dict[str, list[Room]])["rooms"]
    return [
        msgspec.structs.replace(room, uses=tuple(r.name for r in declared[number + 1 :]))
        if room.below
        else room
        for number, room in enumerate(declared)
    ]


def sources(root: Path, rooms: list[Room]) -> list[Path]:
    """The files in the folders of the rooms, relative to `root`."""
    found = {
        file.relative_to(root)
        for room in rooms
        for folder in room.folders
        for file in (root / folder).rglob("*.*")
    }
    return sorted(file for file in found if file.suffix in (".c", ".h", ".py"))


def name_in(folder: Path, file: Path) -> str:
    path = file.relative_to(folder).with_suffix("")
    if path.name == "__init__":
        path = path.parent
    return folder.name if path == Path() else str(path)


def places(files: Iterable[Path], rooms: list[Room]) -> Iterator[tuple[Path, Place]]:
    """Where each file stands. A file in a room's folder must stand in exactly one room."""
    for file in files:
        inside = [(r, Path(f)) for r in rooms for f in r.folders if file.is_relative_to(f)]
        names = [(room, name_in(folder, file)) for room, folder in inside]
        found = [
            Place(room, name, level)
            for room, name in names
            if (level := room.level(name)) is not None
        ]
        if inside:
            where = " and ".join(place.room.name for place in found) or "no room"
            assert len(found) == 1, f"{file} stands in {where}: see mk/layers.toml"
            yield file, found[0]


def included(file: Path, text: str, near: list[Path]) -> Iterator[Path]:
    """The files that a C file includes by quotes: beside it, or else in `near`."""
    for name in INCLUDE.findall(text):
        if name.endswith(".inc"):  # data, which uses nothing
            continue
        beside = file.parent / name
        ends = [other for other in near if f"/{other}".endswith(f"/{name}")]
        found = [beside] if beside in near else ends
        assert len(found) == 1, f"{file} includes {name}: {len(found)} of that name in reach"
        yield found[0]


def imported(text: str, known: set[Path]) -> Iterator[Path]:
    """The files of the package that a Python file imports, anywhere in it."""

    def file_of(module: str) -> Path | None:
        path = PACKAGE.joinpath(*module.split(".")[1:])
        for candidate in (path.with_suffix(".py"), path / "__init__.py"):
            if candidate in known:
                return candidate
        return None

    for node in ast.walk(ast.parse(text)):
        modules: list[tuple[str, ...]] = []
        if isinstance(node, ast.Import):
            modules = [(alias.name,) for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "relative imports aren't followed"
            modules = [(f"{node.module}.{alias.name}", str(node.module)) for alias in node.names]
        for names in modules:
            if names[-1].split(".")[0] == PACKAGE.name:
                yield next(file for name in names if (file := file_of(name)))


def against_the_order(root: Path, files: list[Path], rooms: list[Room]) -> list[str]:
    """A sentence for each use of what doesn't stand below."""
    standing = dict(places(files, rooms))
    wrong = []
    for file, here in standing.items():
        text = (root / file).read_text(encoding="utf-8")
        open_rooms = (here.room.name, *here.room.uses)
        if file.suffix == ".py":
            targets = imported(text, set(standing))
        else:
            near = [other for other, place in standing.items() if place.room.name in open_rooms]
            targets = included(file, text, near)
        for target in targets:
            there = standing[target]
            if there.room.name == here.room.name:
                below = there.level > here.level or there.name == here.name
            else:
                below = there.room.name in here.room.uses
            if not below:
                wrong.append(f"{file} uses {target}, which doesn't stand below it")
    return wrong


def test_every_file_uses_only_what_stands_below_it() -> None:
    root, declared = paths.root(), rooms()
    assert against_the_order(root, sources(root, declared), declared) == []


def test_every_name_of_the_order_is_a_file() -> None:
    standing = dict(places(sources(paths.root(), rooms()), rooms())).values()
    for room in rooms():
        names = {place.name for place in standing if place.room.name == room.name}
        for word in " ".join(room.layers).split():
            assert any(fnmatchcase(name, word) for name in names), f"{room.name}: no file {word}"
        assert set(room.uses) <= {other.name for other in rooms()}


def test_rooms_stand_above_what_they_use() -> None:
    """Rooms have no circle either."""
    left = {room.name: set(room.uses) for room in rooms()}
    while left:
        free = [name for name, uses in left.items() if not uses & left.keys()]
        assert free, f"these rooms use each other: {sorted(left)}"
        for name in free:
            del left[name]


C_ROOM = Room("c", ("inc", "src"), ("top", "left right", "leaf"), ("base",))
BASE = Room("base", ("base",), ("*",))
OTHER = Room("other", ("other",), ("*",))
PY_ROOM = Room("py", (str(PACKAGE),), ("cli", "boards boards/*", "teemark errors"))


@pytest.mark.parametrize(
    ("file", "text", "wrong"),
    [
        ("src/top.c", '#include "top.h"\n#include "leaf.h"\n#include "x/base.h"\n', None),
        ("src/top.c", "#include <leaf.h>\n#include <stdio.h>\n", None),
        ("src/left.c", '#include "right.h"', "src/left.c uses inc/right.h"),
        ("inc/leaf.h", '#  include "left.h"', "inc/leaf.h uses inc/left.h"),
        ("base/x/base.h", '#include "more.h"', "base/x/base.h uses base/x/more.h"),
        ("src/top.c", '#include "other.h"', AssertionError),
        ("src/new.c", "", AssertionError),
        ("lab/src/teemark/cli.py", "import teemark.boards.ssh\nimport json\n", None),
        ("lab/src/teemark/cli.py", "def f():\n from teemark.boards import ssh, Board", None),
        (
            "lab/src/teemark/errors.py",
            "if TYPE_CHECKING:\n    from teemark import boards\n",
            "lab/src/teemark/errors.py uses lab/src/teemark/boards/__init__.py",
        ),
        (
            "lab/src/teemark/boards/ssh.py",
            "def f():\n    from teemark.cli import main\n",
            "lab/src/teemark/boards/ssh.py uses lab/src/teemark/cli.py",
        ),
    ],
)
def test_a_use_against_the_order_is_found(
    tmp_path: Path, file: str, text: str, wrong: str | type[AssertionError] | None
) -> None:
    tree = ["inc/top.h", "inc/left.h", "inc/right.h", "inc/leaf.h", "src/top.c", "src/left.c"]
    tree += ["base/x/base.h", "base/x/more.h", "other/other.h", file]
    tree += [str(PACKAGE / name) for name in ("__init__.py", "cli.py", "errors.py")]
    tree += [str(PACKAGE / "boards" / name) for name in ("__init__.py", "ssh.py")]
    for name in tree:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text if name == file else "")
    files = [Path(name) for name in dict.fromkeys(tree)]
    declared = [C_ROOM, BASE, OTHER, PY_ROOM]
    if wrong is AssertionError:
        with pytest.raises(AssertionError, match=r"other\.h: 0 of|new\.c stands in no room"):
            against_the_order(tmp_path, files, declared)
    else:
        said = against_the_order(tmp_path, files, declared)
        assert said == ([f"{wrong}, which doesn't stand below it"] if wrong else [])


@cache
def nodes(file: Path) -> list[ast.AST]:
    return list(ast.walk(ast.parse(file.read_text(encoding="utf-8"))))


def test_what_is_installed_is_what_is_imported() -> None:
    """The packages that pyproject.toml asks for at run time: all that are needed, and no other."""
    imported_packages = set()
    for file in (paths.root() / PACKAGE).rglob("*.py"):
        for node in nodes(file):
            if isinstance(node, ast.Import):
                imported_packages |= {alias.name.split(".")[0] for alias in node.names}
            elif isinstance(node, ast.ImportFrom):
                imported_packages.add(str(node.module).split(".")[0])
    used = imported_packages - sys.stdlib_module_names - {PACKAGE.name}
    names = packages_distributions()  # pyelftools is imported as elftools
    project = tomllib.loads((paths.root() / "lab" / "pyproject.toml").read_text(encoding="utf-8"))
    wanted = project["project"]["dependencies"]
    wanted += project["project"]["optional-dependencies"]["history"]  # asked for where it is used
    asked = {re.split("[<>=]", package)[0] for package in wanted}
    assert {names[package][0].lower() for package in used} | OF_OPTEE_BUILD == asked


def test_a_class_name_means_one_thing() -> None:
    """No public class of the package has its name twice: a reader who meets it knows which."""
    places_of: dict[str, list[str]] = {}
    for file in sorted((paths.root() / PACKAGE).rglob("*.py")):
        for node in nodes(file):
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                places_of.setdefault(node.name, []).append(f"{file.name}:{node.lineno}")
    assert {name: where for name, where in places_of.items() if len(where) > 1} == {}
