# SPDX-License-Identifier: BSD-2-Clause
"""Files are written whole, and only a file is ever replaced: root may say `-o /dev/null`."""

import os
import stat
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from teemark.base.errors import DataError
from teemark.base.files import write_whole


def test_a_file_is_replaced_whole(tmp_path: Path) -> None:
    file = tmp_path / "new folder" / "file"
    write_whole(file, "one")
    with file.open() as before:
        write_whole(file, "two")
        assert before.read() == "one"
    assert file.read_text() == "two"
    assert [one.name for one in file.parent.iterdir()] == ["file"]


def test_a_pipe_stays_a_pipe(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with ThreadPoolExecutor(1) as reader:
        read = reader.submit(pipe.read_text)
        write_whole(pipe, "text")
        assert read.result() == "text"
    assert stat.S_ISFIFO(pipe.stat().st_mode)


def test_a_link_stays_a_link(tmp_path: Path) -> None:
    """/dev/stdout is one, to a file perhaps that a shell has open."""
    link, file = tmp_path / "link", tmp_path / "file"
    file.write_text("what was there before")
    inode = file.stat().st_ino
    link.symlink_to(file)
    write_whole(link, "text")
    assert link.is_symlink()
    assert (file.read_text(), file.stat().st_ino) == ("text", inode)


def test_a_folder_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="can't be written: Is a directory"):
        write_whole(tmp_path, "text")
    assert tmp_path.is_dir()
