# SPDX-License-Identifier: BSD-2-Clause
"""Windows, symbols, and where a block of instructions belongs."""

import random
import re
import subprocess
import tracemalloc
from pathlib import Path
from shutil import which

import numpy as np
import pytest

from teemark.base.errors import DataError
from teemark.exact import analyse
from teemark.trace import window as windows
from teemark.trace.places import (
    OPAQUE_CORE,
    BranchKind,
    Domain,
    Flag,
    SymbolSources,
    kind_of,
    locate,
)
from teemark.trace.symbols import Elf, Symbol, SymbolTable, kallsyms, read_elf
from trace_windows import BL, ERET, NOP, RET, SMC, SVC, Recorder, elf

ANCHOR = 0x7F1200000000 - 0x0E000000
"""Where QEMU would have the secure RAM."""

TFA_CODE = (NOP, 0xAA0003E0, 0xAA0103E1, ERET)
CORE_CODE = (0xD10043FF, 0xF90003FE, NOP, RET, 0x52800000, RET, SVC, ERET)
TA_CODE = (0xA9BE7BFD, 0x910003FD, 0xB9001FE0, BL, 0xA8C27BFD, RET)
PROGRAM_CODE = (0xD10083FF, 0xB9000FE0, 0xB9400FE0, SVC, 0x910083FF, RET)


def sources(**changes: object) -> SymbolSources:
    words = {
        "kernel": kallsyms(
            "ffff800080010800 T vectors\nffff800080011000 T cpu_switch_to\n"
            "ffff800080012000 t tee_ioctl\t[tee]\nffff800080013000 T other\n"
        ),
        "tfa": elf("bl31.elf", 0x0E0A0000, TFA_CODE, ((0x0E0A0000, 16, "smc_handler"),)),
        "core": elf(
            "tee.elf",
            0x0E100000,
            CORE_CODE,
            ((0x0E100000, 16, "entry"), (0x0E100010, 8, "leaf")),
        ),
        "core_code": range(0x0E100000, 0x0E180000),
        "programs": (elf("prog", 0x1000, PROGRAM_CODE, ((0x1000, 16, "main"),)),),
        "tas": (elf("TA x", 0x0, TA_CODE, ((0x0, 24, "TA_InvokeCommandEntryPoint"),)),),
    }
    return SymbolSources(**(words | changes))  # type: ignore[arg-type]


def recorded() -> Recorder:
    """A block of each level."""
    recorder = Recorder()
    recorder.step(0xAAAA00001000, PROGRAM_CODE[:4], haddr=0x7F3400001000)
    recorder.step(0xFFFF800080012000, (NOP, SMC), haddr=0x7F3400900000)
    recorder.step(0x0E0A0000, TFA_CODE, haddr=ANCHOR + 0x0E0A0000)
    # OP-TEE's core runs at another virtual address than its physical one.
    recorder.step(0x12100000, CORE_CODE[:4], haddr=ANCHOR + 0x0E100000)
    recorder.step(0x40005000, TA_CODE, haddr=ANCHOR + 0x0E400000)
    return recorder


def test_every_level_is_told_by_where_the_code_lies(tmp_path: Path) -> None:
    places = locate(recorded().window(tmp_path), sources())
    found = [places.functions[number] for number in places.blocks["function"]]
    assert [(f.domain, f.module, f.name) for f in found] == [
        (Domain.PROGRAM, "prog", "main"),
        (Domain.KERNEL, "tee", "tee_ioctl"),
        (Domain.TFA, "TF-A", "smc_handler"),
        (Domain.CORE, "core", "entry"),
        (Domain.TA, "TA x", "TA_InvokeCommandEntryPoint"),
    ]
    assert [BranchKind(kind) for kind in places.blocks["kind"]] == [
        BranchKind.SVC,
        BranchKind.SMC,
        BranchKind.ERET,
        BranchKind.RETURN,
        BranchKind.RETURN,
    ]
    assert places.blocks["address"][3] == 0x0E100000
    assert places.blocks["address"][4] & 0xFFFFFFFF == 0  # in its file
    assert all(flags & Flag.ENTRY for flags in places.blocks["flags"])


def test_without_tee_elf_the_core_is_one_block(tmp_path: Path) -> None:
    places = locate(recorded().window(tmp_path), sources(core=None))
    core = places.functions[places.blocks["function"][3]]
    assert (core.name, core.named) == (OPAQUE_CORE, False)
    assert places.blocks["flags"][3] == Flag.OPAQUE
    assert places.functions[places.blocks["function"][4]].domain is Domain.TA


def test_a_tee_elf_of_another_build_is_refused(tmp_path: Path) -> None:
    other = elf("tee.elf", 0x0E100000, tuple(reversed(CORE_CODE)))
    with pytest.raises(DataError, match=r"tee\.elf: not the OP-TEE that the board ran"):
        locate(recorded().window(tmp_path), sources(core=other))


def test_a_tf_a_of_another_build_is_refused(tmp_path: Path) -> None:
    other = elf("bl31.elf", 0x0E0A0000, tuple(reversed(TFA_CODE)))
    with pytest.raises(DataError, match=r"bl31\.elf: not the TF-A that the board ran"):
        locate(recorded().window(tmp_path), sources(tfa=other))


def test_code_of_no_known_file_is_shown_as_such(tmp_path: Path) -> None:
    places = locate(recorded().window(tmp_path), sources(programs=(), tas=()))
    names = [places.functions[places.blocks["function"][block]] for block in (0, 4)]
    assert [f.named for f in names] == [False, False]


def test_a_window_that_never_left_the_normal_world(tmp_path: Path) -> None:
    """Without a block of TF-A nothing can be of the secure world."""
    recorder = Recorder()
    recorder.step(0xAAAA00001000, PROGRAM_CODE[:4], haddr=0x7F3400001000)
    places = locate(recorder.window(tmp_path), sources())
    assert places.functions[0].name == "main"


def test_one_file_at_two_addresses_is_one_place(tmp_path: Path) -> None:
    """Instances of a TA share the pages of their code, and QEMU its blocks."""
    recorder = recorded()
    again = recorder.step(0x50009000, TA_CODE, haddr=ANCHOR + 0x0E400000)
    places = locate(recorder.window(tmp_path), sources())
    assert places.blocks["address"][4] == places.blocks["address"][again]
    assert places.blocks["function"][4] == places.blocks["function"][again]
    assert places.blocks["address"][0] != places.blocks["address"][4]


def test_the_kernels_vectors_and_its_change_of_threads_are_known(tmp_path: Path) -> None:
    recorder = recorded()
    inside = recorder.step(0xFFFF800080010A80, (NOP, NOP), haddr=0x7F3400700000)
    between = recorder.step(0xFFFF800080010A90, (NOP, RET), haddr=0x7F3400700010)
    switch = recorder.step(0xFFFF800080011000, (NOP, RET), haddr=0x7F3400700020)
    flags = locate(recorder.window(tmp_path), sources()).blocks["flags"]
    assert flags[inside] & (Flag.VECTOR | Flag.TABLE) == Flag.VECTOR | Flag.TABLE
    assert flags[between] & (Flag.VECTOR | Flag.TABLE) == Flag.TABLE
    assert flags[switch] & Flag.SWITCH


@pytest.mark.parametrize(
    ("word", "kind"),
    [
        (0x97FFFFFF, BranchKind.CALL),  # bl
        (0xD63F0100, BranchKind.CALL),  # blr x8
        (0xD73F0901, BranchKind.CALL),  # blraa x8, x1
        (0xD65F03C0, BranchKind.RETURN),  # ret
        (0xD65F0BFF, BranchKind.RETURN),  # retaa
        (0xD69F03E0, BranchKind.ERET),
        (0xD4000001, BranchKind.SVC),
        (0xD4000003, BranchKind.SMC),
        (0xD61F0100, BranchKind.OTHER),  # br x8
        (0x14000010, BranchKind.OTHER),  # b
        (0xD503207F, BranchKind.OTHER),  # wfi
    ],
)
def test_what_ends_a_block(word: int, kind: BranchKind) -> None:
    assert kind_of(word) is kind


def test_a_symbol_without_a_size_reaches_to_the_next() -> None:
    table = SymbolTable(
        [Symbol(0x100, 0x10, "sized"), Symbol(0x200, 0, "open"), Symbol(0x300, 4, "z")]
    )

    def name(address: int) -> str | None:
        found = table.find(address)
        return found.name if found else None

    assert [name(a) for a in (0xFF, 0x100, 0x10F, 0x110, 0x2FF, 0x303, 0x304)] == [
        None,
        "sized",
        "sized",
        None,
        "open",
        "z",
        None,
    ]


def test_kallsyms_names_modules_and_leaves_out_marks() -> None:
    table = kallsyms(
        "ffff800080000000 T _text\nffff800080000010 t $x\nffff800080000020 t .Lhere\n"
        "ffff800080000040 d data\nffff800079000000 t probe\t[optee]\n"
    )
    assert [one.name for one in table.named("_text", "$x", ".Lhere", "data")] == ["_text"]
    found = table.find(0xFFFF800079000004)
    assert found is not None
    assert found.name == "probe [optee]"


def test_kallsyms_read_as_a_user_is_an_error() -> None:
    with pytest.raises(DataError, match="must be read as root"):
        kallsyms("0000000000000000 T _text\n")


@pytest.fixture(scope="module")
def compiled(tmp_path_factory: pytest.TempPathFactory) -> Elf:
    """A small library of this machine's own, with labels inside two functions and one outside."""
    folder = tmp_path_factory.mktemp("elf")
    (folder / "a.s").write_text(
        ".text\n.globl outer\n.type outer, %function\nouter: nop\nnop\nwithin: nop\n"
        ".size outer, . - outer\nlabel: nop\nnop\n"
        ".globl unsized\n.type unsized, %function\nunsized: nop\nloop: nop\n"
    )
    subprocess.run(
        ["gcc", "-shared", "-nostdlib", "-o", str(folder / "a.so"), str(folder / "a.s")], check=True
    )
    return read_elf(folder / "a.so", "TA a")


def test_functions_of_an_elf_file(compiled: Elf) -> None:
    (outer,) = compiled.table.named("outer")
    assert compiled.name == "TA a"
    assert compiled.table.named("within", "loop") == []
    assert [symbol.name for symbol in compiled.table.named("label")] == ["label"]
    code = next(code for code in compiled.codes if code.address <= outer.address < code.end)
    first = (outer.address - code.address) // 4
    assert compiled.holds(code.address + 4 * first, code.words[first : first + 1])
    assert not compiled.holds(code.address + 4 * first, code.words[first : first + 1] + 1)


def test_what_is_no_elf_file_is_said(tmp_path: Path) -> None:
    (tmp_path / "x").write_text("text")
    with pytest.raises(DataError, match="no ELF file"):
        read_elf(tmp_path / "x")
    with pytest.raises(DataError, match="can't be read"):
        read_elf(tmp_path / "y")


def test_a_window_comes_back_as_it_was_written(tmp_path: Path) -> None:
    recorder = Recorder()
    recorder.step(0x1000, (NOP, NOP, RET))
    recorder.step(0x2000, (NOP, BL))
    recorder.step(0x1000, (NOP, NOP, RET), begun=2)
    window = recorder.window(tmp_path)
    assert window.instructions == 7
    assert window.used().tolist() == [0, 1]
    assert window.executed().tolist() == [5, 2]
    assert np.array_equal(window.code(1), [NOP, BL])


def test_a_long_window_is_counted_in_pieces(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All steps at once, with numpy's copies, took 2.9 GB for 700 million instructions."""
    recorder = Recorder()
    recorder.step(0x1000, (NOP, NOP, RET))
    recorder.step(0x2000, (NOP, BL))
    recorder.steps *= 300_000
    window = recorder.window(tmp_path)
    monkeypatch.setattr(windows, "PIECE", 1000)
    tracemalloc.start()
    try:
        assert window.used().tolist() == [0, 1]
        assert window.executed().tolist() == [900_000, 600_000]
        assert tracemalloc.get_traced_memory()[1] < 500_000
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("cut", [0, 20, 60, -1])
def test_half_a_window_is_no_window(tmp_path: Path, cut: int) -> None:
    file = recorded().write(tmp_path / "window")
    file.write_bytes(file.read_bytes()[:cut])
    with pytest.raises(DataError, match="not a whole window"):
        windows.read(file)


def test_a_window_that_was_too_long_is_said(tmp_path: Path) -> None:
    file = recorded().write(tmp_path / "window", flags=windows.CUT)
    with pytest.raises(DataError, match="the rest wasn't recorded"):
        windows.read(file)
    beginning = windows.read(file, beginning=True)
    assert beginning.instructions == beginning.whole == int(beginning.executed().sum()) == 20
    # The head says how many instructions the call had.
    whole = bytearray(file.read_bytes())
    whole[32:40] = (1000).to_bytes(8, "little")
    file.write_bytes(whole)
    beginning = windows.read(file, beginning=True)
    assert (beginning.instructions, beginning.whole) == (20, 1000)


@pytest.mark.skipif(which("aarch64-linux-gnu-gcc") is None, reason="no compiler for arm64")
def test_instructions_are_booked_on_the_lines_of_the_source(tmp_path: Path) -> None:
    """The DWARF of OP-TEE's core tells them; without it there are none."""
    source = tmp_path / "core" / "kernel" / "sum.c"
    source.parent.mkdir(parents=True)
    source.write_text("int sum(int n)\n{\n\tint a = n * 3;\n\n\treturn a - 7;\n}\n")
    for debug in ("-g", "-g0"):
        file = tmp_path / f"tee{debug}.elf"
        argv = ["aarch64-linux-gnu-gcc", debug, "-O0", "-nostdlib", "-static", "-Wl,-e,sum"]
        argv += ["-Wl,--build-id=none", "-Wl,-Ttext=0x0E100000", str(source), "-o", str(file)]
        subprocess.run(argv, check=True)
        core = read_elf(file)
        (symbol,) = core.table.named("sum")
        first = (symbol.address - core.codes[0].address) // 4
        code = core.codes[0].words[first : first + symbol.size // 4]
        words = tuple(int(word) for word in code)
        recorder = recorded()
        for begun in (0, 0, 2):  # twice, and once cut short by an exception
            recorder.step(0x12100000, words, haddr=ANCHOR + symbol.address, begun=begun)
        recorder.steps.pop(3)  # of the other core
        window = recorder.window(tmp_path)
        places = locate(window, sources(core=core))
        lines = analyse._lines(window, places, core)
        if debug == "-g0":
            assert lines == ()
            continue
        found = {line.place: line.instructions for line in lines}
        assert {places.functions[line.function].name for line in lines} == {"sum"}
        assert sum(found.values()) == 2 * len(words) + 2
        assert [line.instructions for line in lines] == sorted(found.values(), reverse=True)
        said = subprocess.run(
            ["aarch64-linux-gnu-objdump", "-dl", str(file)],
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        parts = re.split(r"^\S*/(core/kernel/sum\.c:\d+)\n", said, flags=re.M)
        counts = {
            where: len(re.findall(r"^ +e[0-9a-f]+:\t", text, re.M))
            for where, text in zip(parts[1::2], parts[2::2], strict=True)
        }
        cut = min(counts, key=lambda where: int(where.rpartition(":")[2]))
        want = {where: 2 * n + (2 if where == cut else 0) for where, n in counts.items()}
        assert found == want


def test_a_damaged_elf_is_answered_in_a_sentence(tmp_path: Path) -> None:
    """Some ended in ValueError, OverflowError or MemoryError."""
    whole = bytearray(Path("/bin/true").resolve().read_bytes())
    dice = random.Random(41)
    refused = 0
    for number in range(300):
        damaged = bytearray(whole)
        for _ in range(dice.choice([1, 4, 40])):  # in the headers, for the most part
            place = dice.choice(
                [dice.randrange(64), dice.randrange(64, 900), -dice.randrange(1, 2000)]
            )
            damaged[place] = dice.choice([0, 1, 0x7F, 0xFF, dice.randrange(256)])
        file = tmp_path / f"{number}.elf"
        file.write_bytes(damaged[: dice.choice([len(damaged), dice.randrange(len(damaged))])])
        try:
            read_elf(file)
        except DataError as error:
            refused += str(error).startswith(f"{file}: ")
        file.unlink()
    assert refused > 30
