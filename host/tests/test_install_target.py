# SPDX-License-Identifier: BSD-2-Clause
"""`make install` as a distribution's package calls it."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

HOST = Path(__file__).resolve().parents[1]


def make(build: Path, *words: str | Path, env: dict[str, str]) -> subprocess.CompletedProcess[str]:
    """With nothing of this checkout's build in reach."""
    command = ["make", "-C", HOST, f"BUILD={build}", f"SYSROOT={build}/none", *words]
    clean = {k: v for k, v in os.environ.items() if not k.startswith(("MAKE", "MFLAGS"))}
    return subprocess.run(
        command, capture_output=True, text=True, check=False, env=clean | env, timeout=300
    )


def program(path: Path, script: str) -> Path:
    path.write_text("#!/bin/sh\n" + script)
    path.chmod(0o755)
    return path


def test_install_with_the_environment_of_a_package(tmp_path: Path) -> None:
    """CC of two words and CFLAGS from the environment; below DESTDIR and PREFIX."""
    log = tmp_path / "log"
    compiler = program(tmp_path / "compiler", f'echo "$@" >>"{log}"\nshift\nexec gcc "$@"\n')
    done = make(
        tmp_path / "build",
        *("-j2", "install", f"DESTDIR={tmp_path}/root", "PREFIX=/usr"),
        env={"CC": f"{compiler} --word", "CFLAGS": "-O0 -DASKED"},
    )
    assert done.returncode == 0, done.stderr
    installed = {path.name: path for path in (tmp_path / "root/usr/bin").iterdir()}
    assert set(installed) == {"teebench", "teehash"}
    assert all(path.stat().st_mode & 0o777 == 0o755 for path in installed.values())
    compiled = [line for line in log.read_text().splitlines() if " -c " in line]
    assert compiled
    assert all(line.startswith("--word") and "-O0 -DASKED" in line for line in compiled)
    said = subprocess.run([installed["teebench"], "--version"], capture_output=True, check=True)
    assert said.stdout.startswith(b"teebench ")
    completions = tmp_path / "root/usr/share/bash-completion/completions"
    assert {path.name for path in completions.iterdir()} == set(installed)
    pages = tmp_path / "root/usr/share/man/man1"
    if shutil.which("help2man") is None:
        assert "help2man is not installed" in done.stderr
        assert not pages.exists()
        return
    for name, word in (("teebench", "min\\-us"), ("teehash", "report")):
        page = (pages / f"{name}.1").read_text()
        assert page.splitlines()[1].startswith(f".TH {name.upper()} ")
        assert f"{name} \\- " in page
        assert f"\\fB\\-\\-{word}" in page


@pytest.mark.parametrize("program_name", ["teehash", "teebench"])
def test_install_of_one_program(program_name: str, tmp_path: Path) -> None:
    """SET names whose program is built and installed; nothing of the other is there. The compiler
    writes a script whatever it is asked for: the real one builds both programs above."""
    script = r'#!/bin/sh\necho "Usage: it [OPTION]"\n'
    take = 'while [ "$1" != -o ]; do shift; done\n'
    compiler = program(tmp_path / "cc", f"{take}printf '{script}' >\"$2\" && chmod +x \"$2\"\n")
    words = ("-j2", "install", f"DESTDIR={tmp_path}/root", f"SET={program_name}")
    done = make(tmp_path / "build", *words, env={"CC": str(compiler)})
    assert done.returncode == 0, done.stderr
    names = {path.name for path in (tmp_path / "root").rglob("*") if path.is_file()}
    assert {name.removesuffix(".1") for name in names} == {program_name}
    other = {"teehash": "teebench", "teebench": "teehash"}[program_name]
    assert not list((tmp_path / "build").rglob(other))


def test_no_man_page_of_a_program_for_another_machine(tmp_path: Path) -> None:
    """Nor without help2man; what is installed stays installed."""
    other = program(tmp_path / "teebench", "exit 126\n")
    make_page = [HOST.parent / "mk" / "manual", tmp_path / "man", other, "what it does"]
    for path, said in (
        (os.environ["PATH"], "is built for another machine"),
        (str(tmp_path), "help2man is not installed"),
    ):
        if "another" in said and shutil.which("help2man") is None:
            continue
        done = subprocess.run(
            ["/bin/sh", *make_page],
            capture_output=True, text=True, check=False, env={"PATH": path},
        )  # fmt: skip
        assert (done.returncode, said in done.stderr) == (0, True), done.stderr
        assert not list(tmp_path.glob("man/*"))
