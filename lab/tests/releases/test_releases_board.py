# SPDX-License-Identifier: BSD-2-Clause
"""`teemark releases` on the exact board, with a tiny tree: its makefile doesn't compile OP-TEE, it
copies Debian's build. All else is real: git, the build script, the TAs by each version's kit, two
boots, the plan, the verdicts. The second version's kit builds TAs without optimising."""

import json
import shutil
import subprocess
from pathlib import Path

import pytest

from conftest import FEW_TAS, THOROUGH
from teemark.base import paths
from teemark.cli.main import run

pytestmark = [pytest.mark.board, pytest.mark.long(60)]

EMPTY = "invoke/none/tee/none"

PLAN = """\
summary = "A call, and a digest in the TA."

[[cases]]
workload = "invoke"
algorithms = ["none"]
backends = ["tee", "empty"]
samples = 3
"""

MAKEFILE = """\
all:
	mkdir -p $(O)/core
	cp {images}/tee-*_v2.bin $(O)/core
	: >$(O)/core/tee.elf
	cp -rL {kit} $(O)/export-ta_arm64
	{more}
"""
# Options of ours that a version reads stand in a makefile.
CONFIG = "CFG_ARM64_core CFG_TEE_CORE_LOG_LEVEL CFG_USER_TA_TARGETS"


def git(tree: Path, *words: str) -> None:
    name = ("-c", "user.name=x", "-c", "user.email=x@example.com")
    subprocess.run(["git", "-C", str(tree), *name, *words], check=True, capture_output=True)


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    made = tmp_path / "optee_os"
    images = paths.vboard() / "firmware/usr/lib/optee/vexpress-qemu_armv8a"
    kit = paths.vboard() / "ta_dev_kit"
    slower = "sed -i 's/-Os/-O0/' $(O)/export-ta_arm64/mk/conf.mk"
    versions = {"4.9.0": "", "4.10.0": "echo 'core/a.c:7: error: no such thing' >&2; exit 1"}
    for tag, more in (versions | {"4.11.0": slower}).items():
        for name, text in {
            "mk/config.mk": f"# {CONFIG}\n",
            "core/core.mk": "",
            "core/arch/arm/kernel/link.mk": "# no-warn-rwx\n",
            "Makefile": MAKEFILE.format(images=images, kit=kit, more=more),
        }.items():
            (made / name).parent.mkdir(parents=True, exist_ok=True)
            (made / name).write_text(text)
        if tag == "4.9.0":
            git(tmp_path, "init", "-q", str(made))
        git(made, "add", ".")
        git(made, "commit", "-qm", f"Version {tag}")
        git(made, "tag", tag)
    return made


def test_two_versions_and_one_that_is_not_built(
    tree: Path,
    tmp_path: Path,
    capfd: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("MAKEFLAGS", FEW_TAS)
    plan = tmp_path / "tiny.toml"
    plan.write_text(PLAN)
    words = ["releases", "--optee-git", str(tree), "--from", "4.9.0", "--plan", str(plan)]
    words += ["--threshold", "0.02%", "--json", "--results"]
    # Two shards in two folders, copied into one.
    for number in (1, 2):
        shard = tmp_path / f"shard-{number}"
        run([*words, str(shard), "--shard", f"{number}/2"])
        shutil.copytree(shard, tmp_path / "all", dirs_exist_ok=True)
    capfd.readouterr()
    before = {file: file.stat().st_mtime_ns for file in tmp_path.rglob("run.ndjson")}
    assert run([*words, str(tmp_path / "all")]) == 1
    told = json.loads(capfd.readouterr().out)
    names = [one["version"]["name"] for one in told["versions"]]
    assert names == ["4.9.0", "4.10.0", "4.11.0"]
    assert "core/a.c:7: error: no such thing" in told["versions"][1]["reason"]
    assert told["versions"][0]["unread"] == ["CFG_ARM_GICV3=y"]
    first, last = (told["versions"][place]["instructions"] for place in (0, 2))
    empty = "invoke/none/empty/none"
    assert first[empty] == pytest.approx(last[empty], rel=1e-3)  # some repeat, so a fraction
    jumps = [(one["case"], one["before"], one["after"]) for one in told["jumps"]]
    assert jumps == [(EMPTY, "4.9.0", "4.11.0")]
    assert last[EMPTY] > first[EMPTY] > 50_000
    # Nothing was measured a second time, and a changed result is the same at the next boot.
    assert {file: file.stat().st_mtime_ns for file in before} == before
    if not THOROUGH:  # of boots that agree the gate tells in `make test`
        return
    assert run([*words, str(tmp_path / "again"), "--to", "4.9.0"]) == 0
    again = json.loads(capfd.readouterr().out)["versions"][0]["instructions"]
    assert again[EMPTY] == pytest.approx(first[EMPTY], rel=2e-4)
