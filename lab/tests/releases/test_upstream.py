# SPDX-License-Identifier: BSD-2-Clause
"""Findings in OP-TEE as data: whether they hold in a tree, and the patches that mend them there."""

import json
from pathlib import Path

import pytest

from teemark.base import paths
from teemark.boards import optee_tree
from teemark.cli.main import run
from teemark.releases import upstream
from teemark.releases.upstream import Mend, State, Upstream, look

VM = "core/mm/vm.c"
C = """\
static int other(int a)
{
>mem[m].size = mem[n].offs + mem[n].size - mem[m].offs;
}

TEE_Result vm_map_param(struct ctx *uctx,
>>>void *param[4])
{
>if (a)
>>mem[m].size = mem[n].offs +
>>>      mem[n].size - mem[m].offs;
>return a;
}
""".replace(">", "\t")
MENDED = "mem[m].size = MAX(mem[m].offs + mem[m].size, mem[n].offs + mem[n].size) - mem[m].offs;"


def tree_of(folder: Path, files: dict[str, str]) -> Path:
    for name, text in {"mk/config.mk": "", "core/core.mk": "", **files}.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    return folder


def finding(name: str) -> Upstream:
    return next(one for one in upstream.load() if one.name == name)


def test_a_finding_holds_in_its_function_alone_and_its_patch_mends_it(tmp_path: Path) -> None:
    nested = finding("nested-references")
    tree = tree_of(tmp_path / "tree", {VM: C})
    looked = look(tree, nested)
    assert looked.state == "holds"
    patch = tmp_path / "mend.patch"
    patch.write_text(looked.patch)
    optee_tree.copy(tree, [patch], tmp_path / "copy")
    mended = (tmp_path / "copy" / VM).read_text()
    assert f"\t\t{MENDED}\n\treturn a;" in mended
    assert mended.startswith(C[:100])  # another function with the same line stays
    assert look(tmp_path / "copy", nested).state == "mended"
    assert (tree / VM).read_text() == C


@pytest.mark.parametrize(
    ("source", "state"),
    [
        (C.replace("mem[n].size -", "mem[n].len -"), "rewritten"),
        (C.replace("vm_map_param", "vm_map"), "gone"),
        (C.replace("void *param[4])\n{", "void *param[4]);\nint x(void)\n{"), "gone"),
        (None, "gone"),
    ],
)
def test_what_became_of_a_finding_is_told(tmp_path: Path, source: str | None, state: State) -> None:
    tree = tree_of(tmp_path, {VM: source} if source is not None else {})
    looked = look(tree, finding("nested-references"))
    assert looked.state == state
    assert looked.patch == ""


def test_a_line_that_goes_goes_whole_and_half_a_mend_is_to_be_looked_at(tmp_path: Path) -> None:
    walk = finding("walk-of-free-list")
    line = "\tuint64_t f2s __maybe_unused = get_free2_sum(poolset);\n"
    body = "static void update_free2_sum(struct s *poolset)\n{\n\tint a;\n%s\n\tassert(%s);\n}\n"
    wrong = body % (line, "f2s == poolset->free2_sum - r2 + a2")
    tree = tree_of(tmp_path, {"lib/libutils/isoc/bget.c": wrong})
    looked = look(tree, walk)
    assert [text for text in looked.patch.splitlines() if text[0] in "+-"][2:] == [
        "-" + line.rstrip(),
        "-\tassert(f2s == poolset->free2_sum - r2 + a2);",
        "+\tassert(get_free2_sum(poolset) == poolset->free2_sum - r2 + a2);",
    ]
    better = "get_free2_sum(poolset) == poolset->free2_sum - r2 + a2"
    for text, state in ((body % ("", better), "mended"), (body % (line, better), "rewritten")):
        tree_of(tmp_path, {"lib/libutils/isoc/bget.c": text})
        assert look(tree, walk).state == state


def test_the_command_says_what_holds_and_writes_the_mends(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    tree = tree_of(tmp_path / "tree", {VM: C})
    patches = tmp_path / "patches"
    assert run(["upstream", str(tree), "--patches", str(patches), "--json"]) == 1
    told = {row["finding"]["name"]: row["state"] for row in json.loads(capsys.readouterr().out)}
    assert told == {one.name: "gone" for one in upstream.load()} | {"nested-references": "holds"}
    assert [file.name for file in patches.iterdir()] == ["nested-references.patch"]
    (tree / VM).write_text(C.replace("vm_map_param", "vm_map"))
    assert run(["upstream", str(tree)]) == 0
    assert "0 of 4 findings still hold." in capsys.readouterr().out
    assert run(["upstream", str(tree), "nested-reference"]) == 2
    assert "did you mean nested-references?" in capsys.readouterr().err
    assert run(["upstream", str(tmp_path / "patches")]) == 2


def test_every_finding_is_told_in_the_page_and_has_a_mend_of_single_lines() -> None:
    page = (paths.root() / "docs" / "upstream-bugs.md").read_text(encoding="utf-8")
    for one in upstream.load():
        assert f"teemark upstream TREE {one.name}" in page, one.name
        for mend in one.mend:
            assert "\n" not in mend.before + mend.after
            assert isinstance(mend, Mend)
