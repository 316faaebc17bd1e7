# SPDX-License-Identifier: BSD-2-Clause
"""A virtual board boots the files that are there now, and what a run says of them."""

import os
import shutil
import subprocess
from pathlib import Path

import msgspec
import pytest

from teemark.base import paths
from teemark.boards import firmware, optee
from teemark.run.records import Firmware

IMAGES = ("tee-header_v2.bin", "tee-pager_v2.bin", "tee-pageable_v2.bin")
SAID = b"\x01\x00 4.10.0-dev (gcc version 12.2.0 (Debian 12.2.0-14)) #1 Sun Nov 22 2026 aarch64\0"


def build(folder: Path, pager: bytes = SAID) -> Path:
    """A folder as OP-TEE's build leaves it, as far as the images go."""
    (folder / "core").mkdir(parents=True, exist_ok=True)
    for name in IMAGES:
        (folder / "core" / name).write_bytes(pager if "pager" in name else name.encode())
    (folder / "conf.mk").write_text("CFG_CC_OPT_LEVEL=s\n# CFG_NOT=1\nCFG_TEE_CORE_DEBUG=y\n")
    return folder


def tfa(folder: Path) -> Path:
    folder.mkdir()
    (folder / "bl1.bin").write_bytes(b"\0v2.12.1(release):teemark\0")
    (folder / "fip.bin").write_bytes(b"fip")
    (folder / "bl31.elf").write_bytes(b"no ELF file")
    return folder


@pytest.fixture
def packed(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The pagers that were packed, by the script's own order of arguments."""
    made: list[str] = []

    def script(name: str, _tfa: str, images: str, flash: str) -> None:
        assert name == "flash"
        made.append((Path(images) / IMAGES[1]).read_text())
        Path(flash).parent.mkdir(parents=True, exist_ok=True)
        Path(flash).write_text(made[-1])

    monkeypatch.setattr(optee, "_script", script)
    return made


def test_an_image_that_is_older_than_the_flash_is_packed_if_its_contents_are_others(
    tmp_path: Path, packed: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """`cp -a`, tar and the caches of CI leave it."""
    core, tf = build(tmp_path / "out", b"old").joinpath("core"), tfa(tmp_path / "tfa")
    monkeypatch.setattr(optee, "tfa", lambda _: tf)
    first = optee._pack(core, tmp_path / "place")
    assert optee._pack(core, tmp_path / "place") == first
    assert packed == ["old"]
    (core / IMAGES[1]).write_bytes(b"new")
    os.utime(core / IMAGES[1], (1, 1))
    second = optee._pack(core, tmp_path / "place")
    assert packed == ["old", "new"]
    assert second.read_text() == "new"
    assert first.read_text() == "old"  # a board may boot it just now
    os.utime(first, (1, 1))
    assert optee._pack(core, tmp_path / "place") == second
    assert not first.exists()
    (tf / "fip.bin").write_bytes(b"another")
    assert optee._pack(core, tmp_path / "place") != second


def test_a_run_says_what_was_booted_by_the_files_themselves(tmp_path: Path) -> None:
    out = build(tmp_path / "tree/out")
    (tmp_path / "tree/core/arch/arm/kernel").mkdir(parents=True)
    (tmp_path / "tree/core/arch/arm/kernel/thread.c").write_text("a")
    images = [out / "core" / name for name in IMAGES]

    def git(*words: str) -> str:
        name = ("-c", "user.name=x", "-c", "user.email=x@example.com")
        argv = ["git", "-C", str(tmp_path / "tree"), *name, *words]
        return subprocess.run(argv, check=True, capture_output=True, text=True).stdout.strip()

    assert firmware.core(images, None, out / "conf.mk").commit is None
    git("init", "-q", "-b", "fast")
    git("add", "core")
    git("commit", "-qm", "x")
    found = firmware.core(images, None, out / "conf.mk")
    assert found.version == "4.10.0-dev #1 Sun Nov 22 2026 aarch64"
    assert found.compiler == "gcc version 12.2.0 (Debian 12.2.0-14)"
    assert found.configuration == {"CFG_CC_OPT_LEVEL": "s", "CFG_TEE_CORE_DEBUG": "y"}
    assert found.sha256 == firmware.digest(images)
    assert found.commit is not None
    assert (found.commit.hash, found.commit.dirty) == (git("rev-parse", "HEAD"), False)
    (tmp_path / "tree/core/arch/arm/kernel/thread.c").write_text("b")
    changed = firmware.core(images, None, out / "conf.mk").commit
    assert changed is not None
    assert changed.dirty
    images[1].write_bytes(b"without words")
    other = firmware.core(images, None, out / "none")
    assert (other.version, other.compiler, other.configuration) == (None, None, {})
    assert other.sha256 != found.sha256
    assert msgspec.json.decode(msgspec.json.encode(found), type=Firmware) == found


def test_a_tree_around_a_build_that_is_not_its_source_is_no_commit_of_it(tmp_path: Path) -> None:
    subprocess.run(["git", "-C", str(paths.root()), "rev-parse"], check=True, capture_output=True)
    assert firmware.commit(paths.root() / "lab", "core/arch/arm/kernel") is None


def test_of_tf_a_version_and_compiler(tmp_path: Path) -> None:
    folder = tfa(tmp_path / "tfa")
    found = firmware.tfa([folder / "bl1.bin", folder / "fip.bin"], folder / "bl31.elf")
    assert found.version == "v2.12.1(release):teemark"
    assert (found.compiler, found.flags) == (None, None)
    (folder / "bl31.elf").write_bytes(b"\0Debian clang version 14.0.6\0clang version\0")
    found = firmware.tfa([folder / "bl1.bin"], folder / "bl31.elf")
    assert found.compiler == "Debian clang version 14.0.6"
    if shutil.which("gcc") is None:
        pytest.skip("no gcc")
    (tmp_path / "a.c").write_text("int f(void) { return 1; }\n")
    argv = ["gcc", "-g", "-O2", "-shared", "-fPIC", "-o", str(folder / "bl31.elf"), "a.c"]
    subprocess.run(argv, check=True, cwd=tmp_path)
    found = firmware.tfa([folder / "bl1.bin"], folder / "bl31.elf")
    assert found.compiler is not None
    assert found.compiler.startswith("GCC:")
    assert found.flags is not None
    assert "-O2" in found.flags
