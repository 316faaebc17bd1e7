# SPDX-License-Identifier: BSD-2-Clause
"""Versions of a git repository, results that are kept by content, and the halving of commits."""

import json
import os
import shutil
import subprocess
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import msgspec
import pytest

from synthetic import Synthetic, run_with, write
from teemark.base import paths
from teemark.base.errors import BoardError, DataError, UsageMistake
from teemark.boards import config
from teemark.boards.own_ta import OwnTa
from teemark.cli.main import run
from teemark.exact import record
from teemark.exact.record import TaCalls
from teemark.model.compare import readings
from teemark.plan.file import load_plan, select_cases
from teemark.releases import jumps, points, versions
from teemark.releases.jumps import Bisected
from teemark.releases.points import Kept, Line
from teemark.releases.versions import Repository, Version
from teemark.trace.profile import SCHEMA, CaseTrace, Function, Node, Trace, TracedSample
from teemark.wording import fmt

EMPTY = "invoke/none/tee/none"


def git(tree: Path, *words: str, minute: int = 0) -> str:
    """Runs git; what is committed is of that minute, so that its hash is the same each time."""
    name = ("-c", "user.name=x", "-c", "user.email=x@example.com")
    argv = ["git", "-C", str(tree), *name, *words]
    date = f"2026-01-01T12:{minute:02}:00+0000"
    env = os.environ | {"GIT_AUTHOR_DATE": date, "GIT_COMMITTER_DATE": date}
    return subprocess.run(argv, check=True, capture_output=True, text=True, env=env).stdout.strip()


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """A tree with three releases, a candidate, two commits a release, and one more at the end."""
    made = tmp_path / "optee_os"
    for name in ("mk/config.mk", "core/core.mk"):
        (made / name).parent.mkdir(parents=True, exist_ok=True)
        (made / name).write_text("CFG_BUILD_IN_TREE_TA ?= y\n")
    git(made, "init", "-q", "-b", "main")
    for number, tag in enumerate((None, "4.9.0", "4.10.0-rc1", "4.10.0", None, "4.11.0", None)):
        (made / "core/a.c").write_text(f"int a = {number};\n")
        git(made, "add", ".")
        git(made, "commit", "-qm", f"change {number}", minute=number)
        if tag:
            git(made, "tag", tag)
    return made


def names(found: list[Version]) -> list[str]:
    return [version.name for version in found]


def test_releases_are_in_the_order_of_their_numbers_without_candidates(tree: Path) -> None:
    repository = Repository(tree)
    assert names(repository.releases("4.9.0", "4.11.0")) == ["4.9.0", "4.10.0", "4.11.0"]
    head = repository.version("HEAD")
    assert names(repository.releases("4.10.0", "HEAD")) == ["4.10.0", "4.11.0", head.name]
    assert head.title == "change 6"
    assert head.name == head.commit[:9]
    candidate = repository.version("4.10.0-rc1")
    assert names(repository.releases("4.10.0-rc1", "4.10.0")) == [candidate.name, "4.10.0"]


def test_every_nth_commit_has_both_ends(tree: Path) -> None:
    found = Repository(tree).every("4.9.0", "HEAD", 2)
    assert [version.title for version in found] == ["change 1", "change 3", "change 5", "change 6"]


def test_a_bare_clone_is_read_and_never_written(tree: Path, tmp_path: Path) -> None:
    bare = tmp_path / "bare.git"
    git(tmp_path, "clone", "-q", "--bare", str(tree), str(bare))
    before = sorted((file, file.stat().st_mtime_ns) for file in bare.rglob("*"))
    repository = Repository(bare)
    version = repository.version("4.10.0")
    with repository.checked_out(version) as place:
        assert (place / "core/a.c").read_text() == "int a = 3;\n"
    assert not place.exists()
    assert repository.has(version, "CFG_BUILD_IN_TREE_TA")
    assert not repository.has(version, "CFG_BUILD")
    assert sorted((file, file.stat().st_mtime_ns) for file in bare.rglob("*")) == before


def test_what_is_no_repository_and_no_commit_is_said(tree: Path, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    with pytest.raises(UsageMistake, match="no git repository of OP-TEE's source"):
        Repository(tmp_path / "empty")
    with pytest.raises(UsageMistake, match="has no commit 9\\.9\\.9"):
        Repository(tree).version("9.9.9")


def test_debians_package_stands_behind_the_release_that_it_was_made_of(
    line: Line, built: list[str]
) -> None:
    package = line.repository.packaged("4.10.0-2")
    for version in (package, *line.repository.releases("4.9.0", "4.11.0")):
        line.measure(version)
    found = [kept.name for kept in points.releases(line.place)]
    assert found == ["4.9.0", "4.10.0", "Debian 4.10.0-2", "4.11.0"]
    with pytest.raises(UsageMistake, match="has no commit 3"):
        line.repository.packaged("3.9-1")


def test_shards_are_disjoint_and_together_all(tree: Path) -> None:
    everything = Repository(tree).every("4.9.0", "HEAD", 1)
    shards = [versions.part(everything, f"{number}/3") for number in (1, 2, 3)]
    assert sorted(name for shard in shards for name in names(shard)) == sorted(names(everything))
    assert max(map(len, shards)) - min(map(len, shards)) <= 1
    for wrong in ("0/2", "3/2", "2", "a/b"):
        with pytest.raises(UsageMistake, match="no shard"):
            versions.part(everything, wrong)


# -- results are kept by content -----------------------------------------------------------------


@pytest.fixture
def line(tree: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Line:
    """Measures without a board: the same run for each version, and 4.11.0 can't be built."""
    monkeypatch.setattr(paths, "optee_builds", lambda: tmp_path / "builds")
    monkeypatch.setattr(Line, "_run", lambda *_: None)
    file = config.find("qemu-v8-icount")
    return Line(file, Repository(tree), load_plan("releases"), tmp_path / "out")


@pytest.fixture
def built(line: Line, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The versions that were built, in order."""
    names: list[str] = []
    build = SimpleNamespace(images=tmp_path / "build/core")
    (tmp_path / "build").mkdir()
    (tmp_path / "build/unread").write_text("CFG_TEE_BENCHMARK=n\n")

    def built(self: Line, version: Version) -> SimpleNamespace:
        names.append(version.name)
        if version.name == "4.11.0":
            raise BoardError("our TAs can't be built:\nmake: …\ncore/a.c:1: error: int\nmake: ***")
        write(Synthetic(identical=True, samples=2).records(), self.folder(version))
        return SimpleNamespace(optee=build)

    monkeypatch.setattr(Line, "build", built)
    return names


def test_what_was_measured_once_is_not_measured_again(
    line: Line, built: list[str], tmp_path: Path
) -> None:
    chosen = line.repository.releases("4.9.0", "4.11.0")
    first = [line.measure(version) for version in chosen]
    assert built == ["4.9.0", "4.10.0", "4.11.0"]
    assert first[0].point.unread == ("CFG_TEE_BENCHMARK=n",)
    assert [line.measure(version).folder for version in chosen] == [kept.folder for kept in first]
    assert built == ["4.9.0", "4.10.0", "4.11.0"]
    # An interrupted command leaves a folder without a result: that version is measured anew.
    (first[1].folder / points.FILE).unlink()
    line.measure(chosen[1])
    assert built[3:] == ["4.10.0"]
    # Other options, another plan, the user's TA and its next state: other results.
    source = tmp_path / "my_ta" / "ta.c"
    source.parent.mkdir()
    source.write_text("int a;")
    mine = replace(line, calls=TaCalls(OwnTa("my_ta", source.parent)))
    folders = {mine.folder(chosen[0])}
    source.write_text("int b;")
    folders.add(mine.folder(chosen[0]))
    others = [
        replace(line, options=("CFG_CC_OPT_LEVEL=2",)),
        replace(line, plan=select_cases(line.plan, ["invoke/*"])),
    ]
    folders |= {one.folder(chosen[0]) for one in (line, *others)}
    assert len(folders) == 5


def test_what_cannot_be_built_is_a_result_with_its_reason(line: Line, built: list[str]) -> None:
    version = line.repository.version("4.11.0")
    kept = line.measure(version)
    assert kept.point.reason == "our TAs can't be built: core/a.c:1: error: int"
    assert kept.readings == {}
    assert line.measure(version).point.reason == kept.point.reason
    line.measure(version, retry=True)
    assert built == ["4.11.0", "4.11.0"]
    assert [one.name for one in points.releases(line.place)] == ["4.11.0"]


def test_two_shards_in_two_folders_are_one_line_once_they_are_copied(
    line: Line, built: list[str], tmp_path: Path
) -> None:
    chosen = line.repository.releases("4.9.0", "HEAD")
    places = [tmp_path / "one", tmp_path / "two"]
    for number, place in enumerate(places, 1):
        for version in versions.part(chosen, f"{number}/2"):
            replace(line, place=place).measure(version)
        shutil.copytree(place, tmp_path / "all", dirs_exist_ok=True)
    assert [kept.name for kept in points.releases(tmp_path / "all")] == names(chosen)
    for version in chosen:
        replace(line, place=tmp_path / "all").measure(version)
    assert len(built) == len(chosen)


def test_commits_of_one_day_are_in_the_order_of_their_times(line: Line, built: list[str]) -> None:
    commits = line.repository.every("4.9.0", "HEAD", 1)
    assert len({commit.date for commit in commits}) == 1
    for commit in reversed(commits):
        line.measure(commit)
    assert [kept.name for kept in points.releases(line.place)] == names(commits)


def test_a_bisected_commit_is_no_point_of_the_line_until_it_is_asked_for(
    line: Line, built: list[str]
) -> None:
    version = line.repository.version("4.10.0")
    line.measure(version, release=False)
    assert points.releases(line.place) == []
    line.measure(version)
    assert [kept.name for kept in points.releases(line.place)] == ["4.10.0"]
    assert built == ["4.10.0"]


def test_pruning_keeps_the_builds_used_last(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(paths, "optee_builds", lambda: tmp_path)
    for age, name in enumerate(("tree-new", "tree-old", "tree-oldest")):
        (tmp_path / name).mkdir()
        (tmp_path / name / "ready").touch()
        os.utime(tmp_path / name / "ready", (1e9 - age, 1e9 - age))
    assert points.prune(1) == 2
    assert [place.name for place in tmp_path.iterdir()] == ["tree-new"]


# -- halving -------------------------------------------------------------------------------------


def commits(count: int) -> list[Version]:
    return [Version(f"c{n}", f"{n:040x}", f"{n:040x}", "2025-01-01", f"t{n}") for n in range(count)]


def costs(known: Mapping[str, float | None], asked: list[str]) -> Callable[[Version], float | None]:
    def cost(version: Version) -> float | None:
        asked.append(version.name)
        return known[version.name]

    return cost


@pytest.mark.parametrize("at", [1, 2, 50, 98, 99])
@pytest.mark.parametrize("factor", [100.0, 0.01])
def test_the_commit_of_a_jump_is_found_by_halving(at: int, factor: float) -> None:
    line, asked = commits(100), list[str]()
    known = {v.name: 5e6 * (factor if n >= at else 1) + n for n, v in enumerate(line)}
    made = jumps.bisect("x", (line[0], line[-1]), line[1:], costs(known, asked))
    assert names([made.previous, *made.found]) == [f"c{at - 1}", f"c{at}"]
    assert (made.parent, made.at) == (known[f"c{at - 1}"], known[f"c{at}"])
    assert made.share == pytest.approx(1, abs=1e-3)
    assert len(asked) <= 2 + 7
    assert len(asked) == len(set(asked))


def test_commits_that_cannot_be_measured_are_passed_over() -> None:
    line = commits(20)
    known = dict[str, float | None](
        {v.name: 100.0 if n < 12 else 200.0 for n, v in enumerate(line)}
    )
    for broken in (9, 10, 14):
        known[f"c{broken}"] = None
    found = jumps.bisect("x", (line[0], line[-1]), line[1:], costs(known, []))
    assert names(list(found.found)) == ["c12"]
    for broken in (11, 12):
        known[f"c{broken}"] = None
    unsure = jumps.bisect("x", (line[0], line[-1]), line[1:], costs(known, []))
    assert names(list(unsure.found)) == ["c9", "c10", "c11", "c12", "c13"]
    assert unsure.skipped == 4


def test_a_jump_in_two_steps_says_how_much_of_it_the_commit_makes() -> None:
    line = commits(10)
    known = {v.name: 100.0 if n < 3 else 300.0 if n < 7 else 400.0 for n, v in enumerate(line)}
    made = jumps.bisect("x", (line[0], line[-1]), line[1:], costs(known, []))
    assert names(list(made.found)) == ["c3"]
    assert made.share == pytest.approx(2 / 3)


def test_ends_that_cost_the_same_are_not_bisected() -> None:
    line = commits(3)
    equal: Mapping[str, float | None] = {v.name: 100.0 for v in line}
    for known in (equal, {"c0": 100.0, "c1": 1.0, "c2": None}):
        with pytest.raises(DataError, match="costs 100"):
            jumps.bisect("x", (line[0], line[-1]), line[1:], costs(known, []))


def test_a_change_of_the_first_boot_alone_is_no_jump_and_a_peak_is_two() -> None:
    def kept(number: int, cost: float) -> Kept:
        point = points.Point(
            version=commits(9)[number], release=True, plan="p", board="b", compiler="c"
        )
        return Kept(Path(), point, readings(run_with({EMPTY: cost}, count=3)))

    made = [kept(n, cost) for n, cost in enumerate((50_000, 50_001, 100_000, 50_000))]
    found = jumps.jumps(made)
    assert [(j.before.name, j.after.name, j.pair.verdict) for j in found] == [
        ("c1", "c2", "worse"),
        ("c2", "c3", "better"),
    ]
    # A version without a run is passed over: its neighbours are compared.
    hole = replace(made[1], readings={}, point=msgspec.structs.replace(made[1].point, reason="no"))
    assert [j.before.name for j in jumps.jumps([made[0], hole, made[2]])] == ["c0"]


def test_the_command_bisects_names_the_functions_and_keeps_the_outcome(
    tree: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    asked: list[str] = []

    def measure(self: Line, version: Version, *, release: bool = True, retry: bool = False) -> Kept:
        asked.append(version.title)
        cost = 50_000 if int(version.title.split()[-1]) < 4 else 150_000
        point = points.Point(
            version=version, release=release, plan="releases", board="b", compiler="gcc"
        )
        kept = Kept(self.folder(version), point, readings(run_with({EMPTY: cost}, count=3)))
        if release:
            shown.append(kept)
        return kept

    def recorded(*_: object, **__: object) -> SimpleNamespace:
        functions = (Function("S-EL1", "core: memset", "memset"),)
        count = 1000 if "change 3" in traced else 101_000
        case = CaseTrace(
            EMPTY, count, (TracedSample(count, None),), functions, (Node(-1, 0, count, 1),)
        )
        return SimpleNamespace(trace=Trace(SCHEMA, "an OP-TEE", (case,)))

    def built(self: Line, version: Version) -> SimpleNamespace:
        traced[:] = [version.title]
        return SimpleNamespace(optee=SimpleNamespace(images=Path("/nowhere/core")))

    shown: list[Kept] = []
    traced: list[str] = []
    monkeypatch.setattr(Line, "measure", measure)
    monkeypatch.setattr(Line, "build", built)
    monkeypatch.setattr(record, "record", recorded)
    monkeypatch.setattr(points, "releases", lambda _: shown[:3])
    words = ["releases", "--optee-git", str(tree), "--results", str(tmp_path / "out")]
    words += ["--from", "4.9.0", "--to", "4.11.0", "--json"]
    assert run([*words, "--bisect", EMPTY]) == 0
    told = json.loads(capsys.readouterr().out)
    (one,) = told["bisections"]
    assert [found["title"] for found in one["found"]] == ["change 4"]
    assert (one["parent"], one["at"], one["steps"]) == (50_000, 150_000, 1)
    assert one["functions"] == f"memset (S-EL1) +100{fmt.THIN}000"
    assert told["jumps"][0]["commit"] == one["found"][0]["commit"]
    assert asked == ["change 1", "change 3", "change 5", "change 3", "change 5", "change 4"]
    assert run([*words, "--bisect", "oneshot/sha256/tee/65"]) == 2
    assert "releases has no case oneshot/sha256/tee/65" in capsys.readouterr().err
    assert run([*words[:1], *words[3:], "--bisect", EMPTY]) == 2
    assert "name a clone by --optee-git" in capsys.readouterr().err
    assert run([*words, "--bisect", EMPTY, "--threshold", "500%"]) == 1
    assert "has no jump from 4.9.0 to 4.11.0" in capsys.readouterr().err


# -- the results that come with teemark -----------------------------------------------------------


def test_what_json_wrote_is_shown_as_the_folder_is(
    line: Line, built: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for version in line.repository.releases("4.9.0", "4.11.0"):
        line.measure(version)
    bisected = Bisected(
        case=EMPTY, first=commits(1)[0], last=commits(1)[0], before=1, after=2,
        previous=commits(1)[0], found=tuple(commits(1)), parent=1, at=2, functions="f",
    )  # fmt: skip
    jumps.keep(line.place, bisected)
    file, words = tmp_path / "kept.json", ["releases", "--results"]
    assert run([*words, str(line.place), "--json", "-o", str(file)]) == 1  # 4.11.0 isn't built
    assert run([*words, str(file), "--json"]) == 1
    assert capsys.readouterr().out == file.read_text()
    folder, again = points.releases(line.place), points.releases(file)
    assert [(one.readings, one.point.reason) for one in again] == [
        (one.readings, one.point.reason) for one in folder
    ]
    assert folder[0].readings
    assert jumps.bisections(file) == [bisected]
    assert run([*words, str(file), "--optee-git", str(line.repository.folder)]) == 2
    assert "is only shown" in capsys.readouterr().err
    file.write_text("{}")
    assert run([*words, str(file)]) == 1
    assert "no output of `releases --json`" in capsys.readouterr().err
