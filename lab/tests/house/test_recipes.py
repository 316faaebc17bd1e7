# SPDX-License-Identifier: BSD-2-Clause
"""The recipes of docs/recipes.md hold: a digest and a workload are added to a copy of the sources,
in as many files as the recipes say, and are measured, modelled and reported there."""

import ast
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from teemark.base import paths
from teemark.base.work import WORKLOADS, Work

NUMBERS = {"Two": 2, "Three": 3, "Four": 4}

DIGEST = {
    "common/src/algorithms.c": (
        "\t{ 20, ALG_MAC,",
        '\t{ 11, ALG_DIGEST, "sha512-256", "SHA-512/256", "SHA512/256", 0, "SHA512-256", '
        '"sha512-256", 128, 17, 1, 32, 0, 0 },\n',
    ),
    # FIPS 180-4, SHA512_256.pdf of NIST's examples.
    "host/src/teebench/vectors.inc": (
        '\t{ "sha224", "", "", MESSAGE_ABC,',
        '\t{ "sha512-256", "", "", MESSAGE_ABC,\n'
        '\t  "53048e2681941ef99b2e29b76b4c7dabe4c2d0c634fc6d46e0e2f13107e7af23" },\n',
    ),
}
WORKLOAD = {
    "host/src/teebench/workloads.c": (" X(copy_limit)", " X(copy_again)"),
    "lab/src/teemark/base/work.py": (
        "WORKLOADS: Mapping",
        'COPY_AGAIN = Workload("copy-again", "memcpy", "BYTES", "memcpy once more", backends=())\n',
    ),
    "docs/workloads.md": (
        "### copy-limit",
        "### copy-again: `copy-again/memcpy/c/BYTES`\nAgain.\n",
    ),
}
SIZES = (16, 64, 111, 112, 1024, 4096, 16384)


@pytest.fixture(scope="module")
def sources(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of what git has, as far as the recipes need it."""
    copy = tmp_path_factory.mktemp("sources")
    rooms = ("common", "host", "mk", "lab/src", "docs", "boards", "reference", "plans")
    for room in rooms:
        shutil.copytree(
            paths.root() / room, copy / room, ignore=shutil.ignore_patterns("__pycache__", "tests")
        )
    return copy


def change(copy: Path, edits: dict[str, tuple[str, str]]) -> None:
    """Puts each text before the place that it belongs to."""
    for name, (place, text) in edits.items():
        file = copy / name
        before = file.read_text(encoding="utf-8")
        assert place in before
        file.write_text(before.replace(place, text + place, 1), encoding="utf-8")


def touched(copy: Path) -> list[str]:
    """The files that are other than git's, or that git lacks."""
    files = [file.relative_to(copy) for file in copy.rglob("*") if file.is_file()]
    return [
        str(file)
        for file in files
        if file.parts[0] != "build" and "__pycache__" not in file.parts
        and not (
            (paths.root() / file).exists()
            and (paths.root() / file).read_bytes() == (copy / file).read_bytes()
        )
    ]  # fmt: skip


def said(recipe: str) -> int:
    text = (paths.root() / "docs" / "recipes.md").read_text(encoding="utf-8")
    match = re.search(rf"\*\*{recipe}\.\*\* (\w+) files:", text)
    assert match is not None
    return NUMBERS[match[1]]


@pytest.mark.long(20)
def test_a_digest_and_a_workload_touch_what_the_recipes_say(sources: Path) -> None:
    assert touched(sources) == []
    change(sources, DIGEST)
    assert len(touched(sources)) == said("An algorithm")
    change(sources, WORKLOAD)
    table = sources / "lab/src/teemark/base/work.py"
    rows = table.read_text(encoding="utf-8").replace(
        "TIME, COPY_LIMIT)", "TIME, COPY_LIMIT, COPY_AGAIN)"
    )
    table.write_text(rows, encoding="utf-8")
    teebench = sources / "host/src/teebench"
    like = (teebench / "workload_copy_limit.c").read_text(encoding="utf-8")
    made = like.replace("copy-limit", "copy-again").replace("copy_limit", "copy_again")
    (teebench / "workload_copy_again.c").write_text(made, encoding="utf-8")
    assert len(touched(sources)) == said("An algorithm") + said("A workload")

    make = ["make", "-s", "-j2", "-C", str(sources / "host"), "teebench", "CFLAGS=-O0"]
    subprocess.run([*make, "VERSION=0"], check=True, capture_output=True)
    keys = [f"oneshot/sha512-256/openssl/{size}" for size in SIZES]
    keys += [f"copy-again/memcpy/c/{size}" for size in SIZES]
    run = subprocess.run(
        [str(sources / "build/host/native/teebench"), "--samples", "6", "--min-us", "20", *keys],
        check=True,
        capture_output=True,
    )
    (sources / "run.ndjson").write_bytes(run.stdout)
    asked = (
        "import sys; from pathlib import Path; from teemark.run import reader\n"
        "from teemark.model.models import build\n"
        "run = reader.read(Path(sys.argv[1])); made = build(run)\n"
        "named = ((c.workload, c.algorithm, c.form.block, c.form.padding) for c in made.costs)\n"
        "print(*(' '.join(map(str, one)) for one in named), sep='\\n')\n"
        "print(*{c.work.row.title for c in run.sound}, sep='\\n')\n"
    )
    told = subprocess.run(
        [sys.executable, "-c", asked, str(sources / "run.ndjson")],
        env=os.environ | {"PYTHONPATH": str(sources / "lab/src"), "PYTHONDONTWRITEBYTECODE": "1"},
        check=True,
        capture_output=True,
        text=True,
    ).stdout
    assert "oneshot sha512-256 128 17" in told
    assert "copy-again memcpy 0 0" in told
    assert "memcpy once more" in told


def test_the_table_has_teebenchs_workloads() -> None:
    """Names and parameters are those of the C files: a mistake in either parses no key."""
    found: dict[str, str] = {}
    for file in (paths.root() / "host/src/teebench").glob("workload_*.c"):
        text = file.read_text(encoding="utf-8")
        rows = (
            r"const struct workload workload_\w+ = \{\s*"
            r'\.name = "([^"]+)".*?\.parameters = "([^"]+)"'
        )
        found |= dict(re.findall(rows, text, re.S))
        found |= dict(re.findall(r'^USE_OF_KEY\((\w+),\s*"[^"]+",\s*"([^"]+)"\)', text, re.M))
    assert found == {row.name: row.parameters for row in WORKLOADS.values()}


@pytest.mark.parametrize(
    ("key", "numbers", "words"),
    [
        ("oneshot/sha256/tee/4096", (4096, None, None), ()),
        ("stream/sha256/ta-ce/1048576/4096", (1048576, 4096, None), ()),
        (
            "cipher-steps/aes-128-cbc/openssl/dec/64/set-iv/inv",
            (64, None, None),
            ("dec", "set-iv", "inv"),
        ),
        ("shm/temporary/tee/inout/0", (0, None, None), ("inout",)),
        ("ta-size/8192/tee/none", (None, None, 8192), ("none",)),
        ("parallel/shared/tee/4", (None, None, 4), ()),
        ("log/lines/tee/4", (None, None, 4), ()),
        ("call/increment/tee/none", (None, None, None), ("none",)),
        ("call/hash/tee/64", (64, None, None), ()),
        ("oneshot/sha256/afalg:sha256-ce/64", (64, None, None), ()),
        ("stream/sha256/tee/64", (None, None, None), ("64",)),
        ("new/sha256/tee/64", (64, None, None), ()),
    ],
)
def test_a_key_becomes_a_work(
    key: str, numbers: tuple[int | None, ...], words: tuple[str, ...]
) -> None:
    work = Work.of(key)
    assert ((work.size, work.chunk, work.count), work.words, work.key) == (numbers, words, key)


def test_what_a_call_carries() -> None:
    def calls(key: str) -> tuple[int, tuple[tuple[str, str, int], ...]] | None:
        made = Work.of(key).calls()
        return None if made is None else (made.count, made.references)

    digest = ("allocated", "out", 64)
    assert calls("invoke/none/tee/none") == (1, ())
    assert calls("invoke/memref-out/tee/none") == (1, (("allocated", "out", 64),))
    assert calls("invoke/refused/tee/none") is None
    assert calls("invoke/none/empty/none") is None
    assert calls("shm/temporary/tee/out/4096") == (1, (("temporary", "out", 4096),))
    assert calls("oneshot/sha256/ta-c/64") == (1, (("allocated", "in", 64), digest))
    assert calls("oneshot/sha256/openssl/64") is None
    pieces = tuple(("allocated", "in", size) for size in (4, 4, 2))
    assert calls("stream/sha256/tee/10/4") == (4, (*pieces, digest))
    assert calls("storage/read/tee-ree-fs/64") == (1, (("allocated", "in", 64),))
    assert calls("storage/rename/tee-ree-fs/64") == (1, ())
    assert calls("storage/read/file/64") is None


def _outside_of_the_table() -> list[Path]:
    room = paths.root() / "lab/src/teemark"
    return [file for file in sorted(room.rglob("*.py")) if file != room / "base/work.py"]


def test_nobody_else_takes_a_key_apart_or_names_a_workload() -> None:
    """A key has four parts, and a workload is compared by its row."""
    found = []
    for file in _outside_of_the_table():
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            match node:
                case ast.Call(
                    func=ast.Attribute(attr="split" | "rsplit"),
                    args=[ast.Constant("/"), ast.Constant(3)],
                ):
                    found.append(f"{file}:{node.lineno}: {ast.unparse(node)}")
                case ast.Compare() if any(
                    isinstance(part, ast.Attribute) and part.attr == "workload"
                    for part in ast.walk(node)
                ) and any(
                    isinstance(part, ast.Constant) and part.value in WORKLOADS
                    for part in ast.walk(node)
                ):
                    found.append(f"{file}:{node.lineno}: {ast.unparse(node)}")
                case _:
                    pass
    assert found == []
