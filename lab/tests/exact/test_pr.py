# SPDX-License-Identifier: BSD-2-Clause
"""A source tree of OP-TEE: what decides a build of it; and the comment on two commits."""

import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import msgspec
import pytest

from synthetic import Synthetic, run_with, write
from teemark.base import paths
from teemark.base.errors import BoardError, UsageMistake
from teemark.boards import VirtualBoard, config, optee, optee_tree
from teemark.boards.config import VirtualConfig
from teemark.cli import what_if
from teemark.exact import pull_request, record
from teemark.exact.record import TracedRun
from teemark.model.compare import compare
from teemark.page import markdown
from teemark.run import reader
from teemark.run.records import Firmware
from teemark.trace import store
from teemark.trace.profile import (
    SCHEMA,
    CaseTrace,
    Function,
    Held,
    Node,
    Stretch,
    Trace,
    TracedSample,
)
from teemark.version import full_version
from teemark.wording import fmt

EMPTY = "invoke/none/tee/none"


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    made = tmp_path / "optee_os"
    for name in ("mk/config.mk", "core/core.mk", "core/a.c"):
        (made / name).parent.mkdir(parents=True, exist_ok=True)
        (made / name).write_text(f"{name}\n")
    git(made, "init", "-q", "-b", "main")
    git(made, "add", ".")
    git(made, "commit", "-qm", "base")
    return made


def git(tree: Path, *words: str) -> None:
    name = ("-c", "user.name=x", "-c", "user.email=x@example.com")
    subprocess.run(["git", "-C", str(tree), *name, *words], check=True, capture_output=True)


def patch(folder: Path, before: str = "core/a.c", after: str = "faster") -> Path:
    file = folder / "fast.patch"
    file.write_text(f"--- a/core/a.c\n+++ b/core/a.c\n@@ -1 +1 @@\n-{before}\n+{after}\n")
    return file


def test_a_build_is_known_by_contents_not_by_times_or_places(tree: Path, tmp_path: Path) -> None:
    first = optee_tree.digest(tree, (), ("A=y", "B=y"))
    assert optee_tree.digest(tree, (), ("B=y", "A=y")) == first
    (tree / "core/a.c").touch()
    (tree / "out").mkdir()
    (tree / ".gitignore").write_text("out\n")
    ignoring = optee_tree.digest(tree, (), ("A=y", "B=y"))
    (tree / "out/x").write_text("built")
    assert optee_tree.digest(tree, (), ("A=y", "B=y")) == ignoring
    optee_tree.copy(tree, (), tmp_path / "elsewhere")
    assert optee_tree.digest(tmp_path / "elsewhere", (), ("A=y", "B=y")) == ignoring
    others = [
        optee_tree.digest(tree, (patch(tmp_path),), ("A=y", "B=y")),
        optee_tree.digest(tree, (), ("A=n", "B=y")),
    ]
    (tree / "core/new.c").write_text("untracked")
    others.append(optee_tree.digest(tree, (), ("A=y", "B=y")))
    (tree / "core/new.c").chmod(0o755)
    others.append(optee_tree.digest(tree, (), ("A=y", "B=y")))
    assert len({first, ignoring, *others}) == 6


def test_a_patch_is_in_the_copy_and_the_tree_stays_as_it_is(tree: Path, tmp_path: Path) -> None:
    place = tmp_path / "copy"
    optee_tree.copy(tree, (patch(tmp_path),), place)
    assert (place / "core/a.c").read_text() == "faster\n"
    assert (tree / "core/a.c").read_text() == "core/a.c\n"
    with pytest.raises(BoardError, match="doesn't fit"):
        optee_tree.copy(tree, (patch(tmp_path, before="another"),), place)
    assert not place.exists()


def test_a_tree_is_built_once_and_a_finished_build_takes_no_patch(
    tree: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    built: list[str] = []

    def script(name: str, *words: str) -> None:
        if name == "optee":
            source, _, out, *options = words
            built.append((Path(source) / "core/a.c").read_text() + " ".join(options))
            Path(out).mkdir(parents=True, exist_ok=True)

    monkeypatch.setattr(optee, "_script", script)
    monkeypatch.setattr(optee, "_check", lambda _: None)
    monkeypatch.setattr(optee, "_pack", lambda *_: tmp_path)
    monkeypatch.setattr(paths, "optee_builds", lambda: tmp_path / "builds")

    def made(*patches: Path) -> optee.Optee:
        return optee._build(tree, ("A=y",), patches)

    assert made().source == tree
    assert made().what.endswith(f" of {tree} with A=y")
    assert made(patch(tmp_path)).what.endswith(f" of {tree} with fast.patch with A=y")
    assert built == ["core/a.c\nA=y", "faster\nA=y"]
    assert not (tmp_path / "builds/making").exists()
    recipe = config.find("qemu-v8-icount").config
    assert isinstance(recipe, VirtualConfig)
    monkeypatch.setattr(optee, "tfa", lambda _: tmp_path)
    own = msgspec.structs.replace(recipe, optee=str(tmp_path), patches=("/x.patch",))
    with pytest.raises(BoardError, match="a finished build: it takes no options and no patches"):
        optee.resolve(own)


def test_a_patch_alone_means_a_build_from_source(tmp_path: Path) -> None:
    file = record.with_optee(config.find("qemu-v8-icount"), None, (), [patch(tmp_path)])
    assert isinstance(file.config, VirtualConfig)
    assert file.config.optee == "source"
    assert file.config.patches == (str(tmp_path / "fast.patch"),)


def test_what_is_no_git_tree_of_op_tee_is_said(tree: Path, tmp_path: Path) -> None:
    file = config.find("qemu-v8-icount")
    with pytest.raises(UsageMistake, match="is no git tree of OP-TEE's source"):
        pull_request.check(tmp_path, (EMPTY,))
    with pytest.raises(BoardError, match="has no commit nonesuch"):
        pull_request.measure(file, tree, ("nonesuch", "b"), (EMPTY,), tmp_path / "out")
    (tree / "core/a.c").write_text("changed since\n")
    with optee_tree.checked_out(tree, "main", tmp_path / "builds") as place:
        assert (place / "core/a.c").read_text() == "core/a.c\n"
        assert 7 <= len(place.name) < 40
    assert not place.exists()


TOGETHER = """
import sys
from pathlib import Path
from teemark.boards.optee_tree import checked_out
with checked_out(Path(sys.argv[1]), sys.argv[2], Path(sys.argv[3])) as place:
    print(place, flush=True)
    sys.stdin.readline()
    print((place / "core/a.c").read_text(), flush=True)
"""


def test_two_at_once_have_a_folder_for_each_commit(tree: Path, tmp_path: Path) -> None:
    """They shared one: the first build had the files of the other's commit."""
    (tree / "core/a.c").write_text("changed\n")
    git(tree, "commit", "-qam", "change")

    def begin(commit: str) -> subprocess.Popen[str]:
        argv = [sys.executable, "-c", TOGETHER, str(tree), commit, str(tmp_path / "builds")]
        pipe = subprocess.PIPE
        return subprocess.Popen(argv, stdin=pipe, stdout=pipe, text=True)

    def read(process: subprocess.Popen[str]) -> str:
        assert process.stdout is not None
        return process.stdout.readline().strip()

    first, second = begin("main~1"), begin("main")
    places = {read(first), read(second)}
    assert len(places) == 2
    third = begin("main~1")  # waits for the first
    said = [process.communicate("\n")[0] for process in (first, second)]
    assert said == ["core/a.c\n\n", "changed\n\n"]
    assert read(third) in places
    assert third.communicate("\n")[0] == "core/a.c\n\n"
    assert not list((tmp_path / "builds/commits").glob("*/"))


def traced(memset: int, setting: str = "y", key: str = EMPTY, held: int | None = None) -> TracedRun:
    functions = (Function("EL0", "x", "main"), Function("S-EL1", "core: memset", "memset"))
    case = CaseTrace(
        key, 1000 + memset, (TracedSample(1000 + memset, None),), functions,
        (Node(-1, 0, 1000, 1), Node(0, 1, memset, 3)),
        held=Held(1, held, (), (Stretch(held, 1, 1, 1),)) if held else None,
    )  # fmt: skip
    run = reader.parse(Synthetic(algorithms=("sha256",)).lines(), file="x")
    assert run.header is not None
    core = Firmware(name="OP-TEE", sha256="0", configuration={"CFG_X": setting})
    header = msgspec.structs.replace(run.header, firmware=(core,))
    return TracedRun(replace(run, header=header), Trace(SCHEMA, "an OP-TEE", (case,)))


def test_a_trace_is_kept_if_it_is_of_the_same_code_and_else_moved_aside(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file, folder, made = config.find("qemu-v8-icount"), tmp_path / "one", traced(1000)
    assert made.run.header is not None
    firmware = list(made.run.header.firmware)
    monkeypatch.setattr(VirtualBoard, "firmware", property(lambda _: tuple(firmware)))
    lines = Synthetic(algorithms=("sha256",)).records()
    lines[0] |= {"teemark": full_version(), "firmware": msgspec.to_builtins(firmware)}
    for there in (1, 2):
        write(lines, folder)
        store.write(made.trace, folder)
        kept = record.kept(file, [EMPTY], folder)
        assert kept is not None
        assert kept.trace == made.trace
        if there == 1:  # Another OP-TEE, and then another teemark
            firmware[0] = msgspec.structs.replace(firmware[0], sha256="1")
        else:
            monkeypatch.setattr(record, "full_version", lambda: "9.9")
        assert record.kept(file, [EMPTY], folder) is None
        assert not folder.exists()
        assert (tmp_path / f"one-{there}{record.ASIDE}" / store.FILE).is_file()
        lines[0]["firmware"] = msgspec.to_builtins(firmware)


def test_a_folder_with_traces_is_gone_on_with_unless_they_are_of_a_ta(tmp_path: Path) -> None:
    (tmp_path / "as-it-is").mkdir()
    assert what_if._folder(tmp_path, "b", own_ta=False) == tmp_path
    with pytest.raises(UsageMistake, match="isn't empty"):
        what_if._folder(tmp_path, "b", own_ta=True)
    assert what_if._folder(tmp_path / "new", "b", own_ta=True) == tmp_path / "new"


def comment(base: TracedRun, head: TracedRun, limit: float = 0.001) -> tuple[str, tuple[str, ...]]:
    found = pull_request.compared(("aaaaaaa", "bbbbbbb"), (base, head))
    made = pull_request.blocks(found, limit, "teemark pr …")
    text = "\n\n".join(markdown.block(block, 2) for block in made)
    return text.replace(fmt.THIN, " ").replace("\\", ""), found.dearer(limit)


def test_the_comment_says_first_what_changed_and_by_which_functions() -> None:
    text, dearer = comment(traced(1000), traced(220))
    first, *_ = text.splitlines()
    assert "1 of 1 calls take fewer instructions, 0 more; most of all" in first
    assert f"{fmt.MINUS}39 %" in first
    assert f"memset (S-EL1) {fmt.MINUS}780" in text
    assert "`teemark pr …`" in text
    assert "configurations differ" not in text
    assert dearer == ()


def test_what_is_dearer_than_the_limit_fails_and_what_boots_differ_by_does_not() -> None:
    text, dearer = comment(traced(1000), traced(1003, setting="n"))
    assert dearer == (EMPTY,)
    assert "Above the limit" in text
    assert "CFG_X: y → n" in text.replace("CFG_X", "CFG_X")
    text, dearer = comment(traced(1000), traced(1001))
    assert dearer == ()
    assert "bbbbbbb changes none of 1 call against aaaaaaa" in text


@pytest.mark.parametrize(("after", "longer"), [(900, ()), (908, ()), (930, (EMPTY,)), (None, ())])
def test_interrupts_that_are_held_off_longer_are_said(
    after: int | None, longer: tuple[str, ...]
) -> None:
    """The instructions of the call are the same: an unlock may have moved behind a loop."""
    found = pull_request.compared(("a", "b"), (traced(1000, held=900), traced(1000, held=after)))
    assert found.held_longer(0.001) == longer
    assert found.held_longer(0.05) == ()
    text = "\n\n".join(markdown.block(b, 2) for b in pull_request.blocks(found, 0.001, "x"))
    assert ("held off longer: invoke/none/tee/none" in text.replace("\\", "")) == bool(longer)
    assert ("900 → " in text) == (after not in (900, None))


def counted(instructions: int) -> TracedRun:
    """A build whose run counts an empty call's instructions, the same in each sample."""
    made = traced(instructions - 1000)
    return replace(made, run=run_with({EMPTY: instructions}, count=3))


def test_pr_calls_the_same_what_compare_calls_the_same() -> None:
    for added in (-54, -13, -5, 0, 5, 13, 54):
        builds = counted(56_792), counted(56_792 + added)
        found = pull_request.compared(("a", "b"), builds)
        judged = compare(*(build.run for build in builds)).verdicts()
        assert found.verdicts == judged, added
        assert (found.verdicts[EMPTY] == "same") == (abs(added) <= 12), added
    text, _ = comment(counted(56_792), counted(56_846))
    assert text.startswith("**bbbbbbb against aaaaaaa: 0 of 1 calls take fewer")
    assert "| 56 792 | 56 846 | +0.095 % | worse |" in text


def test_the_last_release_is_found_without_candidates(tree: Path) -> None:
    with pytest.raises(UsageMistake, match="has no release before main"):
        pull_request.last_release(tree, "main")
    for tag in ("4.9.0", "4.10.0-rc1"):
        (tree / "core/a.c").write_text(tag)
        git(tree, "commit", "-qam", tag)
        git(tree, "tag", tag)
    assert pull_request.last_release(tree, "main") == "4.9.0"


def test_a_case_that_only_one_has_is_said() -> None:
    other = traced(1000, key="session/open/tee/none")
    found = pull_request.compared(("a", "b"), (traced(1000), other))
    assert found.gone == (EMPTY, "session/open/tee/none")
