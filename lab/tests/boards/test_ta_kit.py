# SPDX-License-Identifier: BSD-2-Clause
"""Each board gets the TAs of its own kit and key: with real Makefiles, and kits that only write
down what they were called with."""

import os
import shutil
import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from teemark.base import errors, paths
from teemark.boards import BoardFile, config, install, make_board, tas
from teemark.boards.ta_kit import Kit, default_kit

KIT = """\
out := $(if $(O),$(O),.)
TA_SIGN_KEY ?= $(dir $(lastword $(MAKEFILE_LIST)))../keys/default_ta.pem
.PHONY: all
all: $(out)/$(BINARY).ta
$(out)/$(BINARY).ta: Makefile
	@mkdir -p $(out)
	@cat $(dir $(lastword $(MAKEFILE_LIST)))name $(TA_SIGN_KEY) >$@
	@echo $(CROSS_COMPILE) >>$@
"""


def make_kit(folder: Path, name: str, architecture: str = "arm64") -> Path:
    for part in ("mk", "keys", "lib"):
        (folder / part).mkdir(parents=True)
    rule = KIT.replace("$(dir $(lastword $(MAKEFILE_LIST)))", f"{folder}/mk/")
    (folder / "mk" / "ta_dev_kit.mk").write_text(rule)
    (folder / "mk" / "conf.mk").write_text(f"sm := ta_{architecture}\n")
    (folder / "mk" / "name").write_text(f"kit {name}\n")
    (folder / "keys" / "default_ta.pem").write_text(f"key of {name}\n")
    return folder


@pytest.fixture
def checkout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A checkout with our TAs' Makefiles, and a kit of the virtual board that is quick."""
    root = tmp_path / "checkout"
    for folder in ("ta", "common"):
        shutil.copytree(paths.root() / folder, root / folder)
    make_kit(root / "build" / "vboard" / "ta_dev_kit", "virtual")
    monkeypatch.setattr(paths, "root", lambda: root)
    return root


def make(checkout: Path, *words: str, **environment: str) -> None:
    """The top Makefile and people call it so."""
    argv = ["make", "-s", "-C", str(checkout / "ta"), "all", *words]
    subprocess.run(argv, check=True, capture_output=True, env={**os.environ, **environment})


def held(folder: Path) -> set[str]:
    """Returns what the TAs in a folder are made of."""
    found = {path.read_text() for path in folder.glob("*.ta")}
    assert len(list(folder.glob("*.ta"))) == len(install.TAS)
    return found


def test_no_board_gets_the_tas_of_another(checkout: Path, tmp_path: Path) -> None:
    one, two = make_kit(tmp_path / "one", "one"), make_kit(tmp_path / "two", "two", "arm32")
    (tmp_path / "mine.pem").write_text("my key\n")
    kits = {
        "kit one\nkey of one\naarch64-linux-gnu-\n": Kit(one),
        "kit two\nkey of two\narm-linux-gnueabihf-\n": Kit(two),
        "kit one\nmy key\naarch64-linux-gnu-\n": Kit(one, tmp_path / "mine.pem"),
    }
    make(checkout)
    virtual = held(paths.built_tas())
    assert virtual == {"kit virtual\nkey of virtual\naarch64-linux-gnu-\n"}
    for made_of, kit in kits.items():
        assert held(kit.ours()) == {made_of}
    make(checkout, TA_DEV_KIT_DIR=str(one), CROSS_COMPILE="aarch64-linux-gnu-")
    make(checkout)
    for made_of, kit in kits.items():
        assert held(kit.ours()) == {made_of}
        assert held(paths.built_tas()) == virtual
    assert len(list((checkout / "build" / "kits").iterdir())) == 3
    assert held(default_kit().ours()) == virtual


def test_a_ta_that_is_built_at_the_same_time_is_always_there(tmp_path: Path) -> None:
    """`gate` measures and traces at once: both build the TA, and give it to a board later."""
    kit = Kit(make_kit(tmp_path / "kit", "one"))
    source = tmp_path / "mine"
    source.mkdir()
    (source / "Makefile").write_text("BINARY = 1\ninclude $(TA_DEV_KIT_DIR)/mk/ta_dev_kit.mk\n")

    def build(_: int) -> list[str]:
        return [file.read_text() for file in kit.build(source)]

    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(build, range(40)))
    assert found == [found[0]] * 40
    assert len(found[0]) == 1


def test_another_key_in_the_same_place_signs_anew(checkout: Path, tmp_path: Path) -> None:
    kit = Kit(make_kit(tmp_path / "one", "one"), tmp_path / "mine.pem")
    for text in ("first\n", "other\n"):
        (tmp_path / "mine.pem").write_text(text)
        os.utime(tmp_path / "mine.pem", (1, 1))  # as of an archive
        assert held(kit.ours()) == {f"kit one\n{text}aarch64-linux-gnu-\n"}


def test_what_is_built_is_not_built_again(checkout: Path, tmp_path: Path) -> None:
    kit = Kit(make_kit(tmp_path / "one", "one"))
    times = [{path: path.stat().st_mtime_ns for path in kit.ours().glob("*.ta")} for _ in (1, 2)]
    assert times[0] == times[1]


@pytest.mark.parametrize(
    ("words", "tas"),
    [
        (["SET=teehash"], ["digest", "probe"]),
        ([], ["bench", "digest", "probe", "size"]),
        (["SET=broker"], ["broker"]),
        (["SET=all"], ["bench", "broker", "digest", "probe", "size"]),
    ],
)
def test_what_a_distributions_package_installs(
    words: list[str], tas: list[str], checkout: Path, tmp_path: Path
) -> None:
    """Only the TAs of the set are built and installed; without one, those of teebench."""
    kit = make_kit(tmp_path / "sdk", "sdk")
    root, out = tmp_path / "root", tmp_path / "out"
    argv = ["make", "-s", "-C", str(checkout / "ta"), "install", f"DESTDIR={root}", f"OUT={out}"]
    environment = {**os.environ, "TA_DEV_KIT_DIR": str(kit), "TADIR": "/usr/lib/optee_armtz"}
    subprocess.run([*argv, *words], check=True, capture_output=True, env=environment)
    installed = root / "usr/lib/optee_armtz"
    assert {path.read_text() for path in installed.iterdir()} == {
        "kit sdk\nkey of sdk\naarch64-linux-gnu-\n"
    }
    assert {path.stat().st_mode & 0o777 for path in installed.iterdir()} == {0o444}
    assert not (checkout / "build" / "ta").exists()
    assert sorted(path.parent.name for path in out.glob("*/built")) == tas
    made = {path.name for ta in tas for path in (out / ta).glob("*.ta")}
    assert {path.name for path in installed.iterdir()} == made


def test_a_set_that_is_none_is_refused(checkout: Path) -> None:
    argv = ["make", "-s", "-C", str(checkout / "ta"), "install", "SET=all-of-it"]
    done = subprocess.run(argv, check=False, capture_output=True, text=True)
    assert done.returncode == 2
    assert "it must be teehash, teebench, broker or all" in done.stderr


def test_a_key_of_the_environment_is_not_the_boards(
    checkout: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "mine.pem").write_text("my key\n")
    monkeypatch.setenv("TA_SIGN_KEY", str(tmp_path / "mine.pem"))
    kit = Kit(make_kit(tmp_path / "one", "one"))
    assert held(kit.ours()) == {"kit one\nkey of one\naarch64-linux-gnu-\n"}


def test_a_ta_of_ones_own(checkout: Path, tmp_path: Path) -> None:
    source = tmp_path / "mine"
    source.mkdir()
    kit = Kit(make_kit(tmp_path / "one", "one"))
    (source / "Makefile").write_text(
        "BINARY := 00000000-aaaa-bbbb-cccc-000000000000\n"
        "include $(TA_DEV_KIT_DIR)/mk/ta_dev_kit.mk\n"
    )
    (made,) = kit.build(source)
    assert made.name == "00000000-aaaa-bbbb-cccc-000000000000.ta"
    assert made.read_text() == "kit one\nkey of one\naarch64-linux-gnu-\n"
    assert [path.name for path in source.iterdir()] == ["Makefile"]
    (source / "Makefile").write_text("all:\n\t@true\n")
    made.unlink()
    with pytest.raises(errors.BoardError, match="made no TA"):
        kit.build(source)
    (source / "Makefile").write_text("all:\n\t@echo 'entry.c: no such luck' >&2; false\n")
    with pytest.raises(errors.BoardError, match="no such luck"):
        kit.build(source)


def test_a_board_file_names_kit_and_key(checkout: Path, tmp_path: Path) -> None:
    kit = make_kit(tmp_path / "one", "one")
    text = f'kind = "ssh"\naddress = "192.0.2.1"\nta_kit = "{kit}"\nta_key = "{tmp_path}/k"\n'
    board = make_board(BoardFile("b", tmp_path, config.parse(text, "b.toml")))
    with pytest.raises(errors.ConfigError, match=f"no key {tmp_path}/k"):
        _ = board.tas
    (tmp_path / "k").write_text("my key\n")
    assert held(board.tas) == {"kit one\nmy key\naarch64-linux-gnu-\n"}


def test_tas_that_are_refused_name_their_kit() -> None:
    board = make_board(
        BoardFile("b", Path("b.toml"), config.parse('kind = "ssh"\naddress = "x"', "b.toml"))
    )
    refused = tas.refused(
        board,
        (
            tas.Ta("u1", "probe", opened=True),
            tas.Ta("u2", "bench", opened=False, code="ta-rejected", reason="no"),
        ),
    )
    assert refused is not None
    assert refused.message == "b: 1 of 2 TAs can't be used: no"
    assert str(default_kit().folder) in (refused.hint or "")
    assert "ta_kit" in (refused.hint or "")


@pytest.mark.parametrize(
    ("folder", "said"),
    [
        ("none", "is no TA development kit: it has no mk/ta_dev_kit.mk"),
        ("with space", "has a space in it"),
    ],
)
def test_what_is_no_kit(checkout: Path, tmp_path: Path, folder: str, said: str) -> None:
    make_kit(tmp_path / "with space", "x")
    with pytest.raises(errors.ConfigError, match=said):
        Kit(tmp_path / folder).ours()
    assert not (checkout / "build" / "kits").exists()


def test_a_compiler_that_is_not_there(
    checkout: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kit = Kit(make_kit(tmp_path / "two", "two", "arm32"))
    there = shutil.which
    monkeypatch.setattr(shutil, "which", lambda name: None if "arm" in name else there(name))
    with pytest.raises(errors.MissingOutput, match="no arm-linux-gnueabihf-gcc") as caught:
        kit.ours()
    assert "gcc-arm-linux-gnueabihf libc6-dev-armhf-cross" in (caught.value.hint or "")


def test_tas_that_a_vendor_signed_are_installed_as_they_are(tmp_path: Path) -> None:
    """Nothing is built for such a board, and a folder without any is a mistake."""
    (tmp_path / "signed").mkdir()
    recipe = config.parse(f'kind = "ssh"\naddress = "x"\ntas = "{tmp_path}/signed"', "desk.toml")
    board = make_board(BoardFile("desk", tmp_path / "desk.toml", recipe))
    with pytest.raises(errors.ConfigError, match=r"desk\.toml: tas: .*/signed has no TA"):
        assert board.tas
    (tmp_path / "signed/5e5b2f0c-6d0a-4b57-9c1e-3a7f41d28860.ta").write_text("of the vendor")
    assert board.tas == tmp_path / "signed"
    assert tas.built(board) == {"5e5b2f0c-6d0a-4b57-9c1e-3a7f41d28860": "TA"}
    with pytest.raises(errors.ConfigError, match="not absolute"):
        config.parse('kind = "ssh"\naddress = "x"\ntas = "signed"', "desk.toml")
