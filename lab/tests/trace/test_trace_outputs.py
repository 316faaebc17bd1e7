# SPDX-License-Identifier: BSD-2-Clause
"""A trace gives sums, formats for other tools, flame graphs, comparisons."""

import re
import struct
import subprocess
from pathlib import Path
from xml.etree import ElementTree

import msgspec
import pytest
from click.testing import CliRunner
from msgspec.structs import replace

from synthetic import Synthetic
from teemark.base import paths
from teemark.base.errors import BoardError, ConfigError, DataError, UsageMistake
from teemark.base.work import EMPTY_CALL
from teemark.boards import config, new_ta, ta_kit
from teemark.boards.optee import Optee
from teemark.cli import main as cli
from teemark.exact import record, whatif
from teemark.page import flame, trace_table
from teemark.report import run_page
from teemark.run import reader
from teemark.trace import store
from teemark.trace.components import component
from teemark.trace.difference import changes
from teemark.trace.places import Domain
from teemark.trace.places import PlacedFunction as Place
from teemark.trace.profile import (
    SCHEMA,
    CaseTrace,
    Function,
    Link,
    Node,
    SourceLine,
    Trace,
    TracedSample,
    Unnamed,
)
from teemark.trace.symbols import kallsyms
from teemark.wording import fmt

MAIN = Function("EL0", "teebench", "main")
IRQ = Function("EL1", "kernel", "el1h_64_irq")
LIB = Function("EL0", "libc.so.6", "[libc.so.6]", named=False)
ENTRY = Function("S-EL1", "core: system calls", "entry <std>")
MEMSET = Function("S-EL1", "core: memset", "memset")
OTHER = Function("", "another process", "[tee-supplicant]")
LOOP = Function("EL0", "tee-supplicant", "loop")


def case(memset: int = 60, key: str = "invoke/none/tee/none") -> CaseTrace:
    """main → entry → memset, entry → entry; an interrupt in main; another process."""
    nodes = (
        Node(-1, 0, 10, 1),
        Node(0, 1, 20, 1),
        Node(1, 2, memset, 3),
        Node(1, 1, 5, 1),
        Node(0, 3, 4, 2),
        Node(0, 6, 6, 1),
        Node(-1, 4, 0, 1),
        Node(6, 5, 15, 1),
    )
    total = sum(node.self for node in nodes)
    return CaseTrace(
        case=key,
        instructions=total,
        samples=(TracedSample(total, total + 5), TracedSample(total, total - 11)),
        functions=(MAIN, ENTRY, MEMSET, IRQ, OTHER, LOOP, LIB),
        nodes=nodes,
        unnamed=(Unnamed("EL0", "libc.so.6", "0xffff1000", 6),),
        lost=(Link("a", "b", "return", 1),),
    )


def trace(*cases: CaseTrace) -> Trace:
    return Trace(SCHEMA, "an OP-TEE", cases or (case(),))


def test_every_sum_is_the_window() -> None:
    one = case()
    assert one.instructions == 120
    assert sum(one.levels().values()) == 120
    assert sum(count for _, _, count in one.components()) == 120
    assert sum(node.self for node in one.nodes) == 120
    assert [stack[-1] for stack in one.stacks] == [one.functions[n.function] for n in one.nodes]
    assert sum(t for n, t in zip(one.nodes, one.totals, strict=True) if n.parent < 0) == 120


def test_a_recursion_counts_once_in_its_total() -> None:
    costs = case().costs
    assert (costs[ENTRY].self, costs[ENTRY].total, costs[ENTRY].calls) == (25, 85, 2)
    assert costs[MAIN].total == 105


def test_what_a_reader_must_know_is_said() -> None:
    said = " ".join(trace_table.remarks(case())).replace(fmt.THIN, " ")
    assert "2 interrupts inside" in said
    assert "[tee-supplicant], 15 instructions (12.5 %)" in said
    assert "Without a name: 6 instructions (5.00 %): libc.so.6 0xffff1000 (6)" in said
    assert "1 return to a place that nothing called from: a → b" in said
    assert "clock" not in said


def test_figures_in_doubt_are_marked_and_others_are_not(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A return was lost inside entry: what it takes with its calls isn't known, the rest is."""
    nodes = [
        msgspec.structs.replace(node, unsure=number == 1)
        for number, node in enumerate(case().nodes)
    ]
    one = msgspec.structs.replace(case(), nodes=tuple(nodes))
    rows = {
        ranking: {row[0]: row[1] for row in trace_table.functions(one, ranking, 9).rows}
        for ranking in trace_table.RANKINGS
    }
    assert rows["by itself"]["entry <std>"] == "25"
    assert rows["with all it calls"]["entry <std>"] == "85 ?"
    assert rows["with all it calls"]["memset"] == "60"
    assert rows["with all it calls"]["main"] == "105"
    store.write(trace(one), tmp_path)
    assert cli.run(["trace", "--read", str(tmp_path), "--function", "entry <std>"]) == 0
    assert "takes 85 ? instructions" in capsys.readouterr().out


def test_a_trace_without_a_case_is_shown(tmp_path: Path) -> None:
    store.write(msgspec.structs.replace(trace(), cases=()), tmp_path)
    assert cli.run(["trace", "--read", str(tmp_path)]) == 0


def test_a_functions_callers_and_callees_are_shown(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    store.write(trace(), tmp_path)
    assert cli.run(["trace", "--read", str(tmp_path), "--function", "entry <std>"]) == 0
    shown = capsys.readouterr().out.replace(fmt.THIN, " ")
    assert "entry <std> takes 85 instructions (70.8 %) with all it calls, 25 by itself" in shown
    calls = shown.rpartition("it calls")[2]
    assert re.search(r"main +EL0 +teebench +85 +100 % +1", shown)
    assert re.search(r"memset +S-EL1 +core: memset +60 +70.6 % +3", calls)
    assert "main" not in calls
    assert cli.run(["trace", "--read", str(tmp_path), "--function", "mem"]) == 2
    said = capsys.readouterr().err
    assert "no function mem was executed" in said
    assert "there are: memset" in said


def test_a_functions_source_lines_are_shown_where_the_build_has_them(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    lines = (SourceLine(2, "lib/libutils/isoc/memset.c:12", 45), SourceLine(1, "core/entry.c:7", 9))
    store.write(trace(msgspec.structs.replace(case(), lines=lines)), tmp_path)
    for function, there in (("memset", True), ("main", False)):
        assert cli.run(["trace", "--read", str(tmp_path), "--function", function]) == 0
        shown = capsys.readouterr().out
        assert bool(re.search(rf"memset.c:12 +45 +75.0{fmt.THIN}%", shown)) == there
        assert "entry.c" not in shown


def test_a_clock_that_says_otherwise_is_said() -> None:
    one = msgspec.structs.replace(case(), samples=(TracedSample(120, 153),))
    assert "The guest's clock doesn't say the same" in " ".join(trace_table.remarks(one))


def test_folded_stacks_are_sorted_and_hold_all() -> None:
    text = store.folded(trace())
    assert text == "".join(sorted(text.splitlines(keepends=True)))
    assert "main_[EL0];entry_<std>_[S-EL1];memset_[S-EL1] 60\n" in text
    assert "[tee-supplicant];loop_[EL0] 15\n" in text
    assert sum(int(line.rsplit(" ", 1)[1]) for line in text.splitlines()) == 120


def test_folded_stacks_of_two_cases_begin_with_the_case() -> None:
    two = store.folded(trace(case(), case(key="a/b/c/d")))
    assert all(line.startswith(("a/b/c/d;", "invoke/none/tee/none;")) for line in two.splitlines())


def boxes(svg: str) -> dict[str, float]:
    """Widths by the first word of the title."""
    root = ElementTree.fromstring(svg)
    space = {"s": "http://www.w3.org/2000/svg"}
    found = {}
    for group in root.findall("s:g/s:g", space):
        title, rect = group.find("s:title", space), group.find("s:rect", space)
        assert title is not None
        assert title.text is not None
        assert rect is not None
        found[title.text.split(" (")[0]] = float(rect.attrib["width"])
    return found


def test_each_level_of_a_flame_graph_is_named_on_a_phone_too() -> None:
    wide, narrow = (flame.render(case(), width) for width in (1200, 180))
    named = re.compile(r"<text[^>]*var\(--ink[^>]*>([^<]*)</text>")
    assert named.findall(narrow) == named.findall(wide) != []
    heights = [float(re.findall(r'viewBox="0 0 \S+ (\S+)"', svg)[0]) for svg in (wide, narrow)]
    assert heights[1] > heights[0]


def test_the_first_sentence_of_a_trace_names_the_dearest_function() -> None:
    found = max(case().costs.values(), key=lambda cost: cost.self)
    said = trace_table.dearest(case()).replace(fmt.THIN, " ")
    assert said.startswith(f"{found.function.name} ({found.function.level}, ")
    assert f"takes most by itself: {found.self} of {case().instructions} instructions" in said


def test_a_flame_graph_is_as_wide_as_its_instructions() -> None:
    svg = flame.render(case(), 1200).replace(fmt.THIN, " ")
    widths = boxes(svg)
    assert widths["memset"] == pytest.approx(1200 * 60 / 120, abs=1)
    assert widths["main"] == pytest.approx(1200 * 105 / 120, abs=1)
    assert "memset (S-EL1, core: memset): 60 instructions (50.0 %), 3 calls" in svg
    assert "entry &lt;std&gt;" in svg
    assert "#f2998a" in svg  # of S-EL1
    assert svg == flame.render(case(), 1200).replace(fmt.THIN, " ")


def test_a_flame_graph_shows_what_part_of_a_frame_holds_interrupts_off() -> None:
    assert "interrupts held off" not in flame.render(case(), 1200)
    whole = case()
    nodes = [replace(n, held=n.self // 2) if n.function == 2 else n for n in whole.nodes]
    svg = flame.render(replace(whole, nodes=tuple(nodes)), 1200).replace(fmt.THIN, " ")
    widths = {float(w) for w in re.findall(r'width="([0-9.]+)" height="3" fill="#8c1d18"', svg)}
    assert widths == {1200 * 30 / 120}  # of memset, and of each function above it
    assert "memset (S-EL1, core: memset): 60 instructions (50.0 %), 30 with interrupts held" in svg
    assert "the part with interrupts held off" in svg


def test_a_differential_flame_graph_says_what_was_before() -> None:
    svg = flame.render(case(90), 1200, case(60)).replace(fmt.THIN, " ")
    assert "memset (S-EL1, core: memset): 90 instructions (60.0 %), 3 calls; before: 60" in svg
    assert "more than before" in svg


def test_differences_add_up() -> None:
    found = changes(case(60), case(20))
    assert [(c.function.name, c.growth) for c in found] == [("memset", -40)]
    assert sum(c.growth for c in found) == case(20).instructions - case(60).instructions


def test_a_trace_comes_back_as_it_was_stored(tmp_path: Path) -> None:
    store.write(trace(), tmp_path)
    assert store.read(tmp_path) == trace()
    assert store.find(tmp_path / "nothing") is None
    with pytest.raises(UsageMistake, match="no trace in"):
        store.read(tmp_path / "nothing")
    (tmp_path / "trace.json").write_text("{")
    with pytest.raises(DataError, match="can't be read"):
        store.read(tmp_path)


def test_the_command_shows_a_stored_trace(tmp_path: Path) -> None:
    store.write(trace(), tmp_path)
    for output, beginning in (("folded", "["), ("json", "{")):
        done = CliRunner().invoke(
            cli.cli, ["trace", "--read", str(tmp_path), "--format", output], standalone_mode=False
        )
        assert done.exception is None
        assert done.stdout.startswith(beginning)
    key = trace().cases[0].case
    done = CliRunner().invoke(cli.cli, ["trace", "--read", str(tmp_path), key])
    assert f"{key}: 120 instructions" in done.stdout
    assert cli.run(["trace", "--read", str(tmp_path), "a/b/c/d"]) == 2
    done = CliRunner().invoke(
        cli.cli, ["trace", "--read", str(tmp_path), "--against", str(tmp_path)]
    )
    assert "120 before, 120 now: 0 instructions" in done.stdout


def test_what_if_takes_a_ta_of_ones_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Each OP-TEE gets it, with what its bench.toml says; tried for real with -O2 by hand."""
    key = "call/increment/tee/none"
    folder = tmp_path / "my_ta"
    uuid = str(new_ta.make(folder))
    asked = []

    def recorded(
        file: config.BoardFile, cases: tuple[str, ...], place: Path, calls: record.TaCalls
    ) -> record.TracedRun:
        assert isinstance(file.config, config.VirtualConfig)
        assert calls.ta is not None
        asked.append((file.config.options, cases, calls.ta.name, calls.plan.ta))
        run = reader.parse(Synthetic(algorithms=("sha256",)).lines(), file="x")
        return record.TracedRun(run, trace(case(60 - 30 * len(asked), key)))

    monkeypatch.setattr(record, "record", recorded)
    words = ["what-if", key, "--ta", str(folder), "--option", "CFG_X=y"]
    cli.run([*words, "-o", str(tmp_path / "runs")])
    assert asked == [((), (key,), "my_ta", uuid), (("CFG_X=y",), (key,), "my_ta", uuid)]
    said = capsys.readouterr().out
    assert f"CFG_X=y, call/increment/tee/none: memset (S-EL1) {fmt.MINUS}30" in said
    assert cli.run([*words[:1], "call/nothing/tee/none", *words[2:]]) == 2
    assert "there are: call/increment/tee/none, call/copy/tee/0" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["trace"], "no case to trace"),
        (["trace", "nonsense"], "'nonsense' is no case"),
        (["trace", "teehash/sha256/tee/stream"], "is no step of teehash"),
        (["trace", "teehash/sha256/tee/stream/hot/4096/4096/inline"], "'hot' isn't known"),
        (["trace", "invoke/none/tee/none", "--board", "qemu-v8"], "qemu-v8 doesn't count"),
        (["trace", "a/b/c/d", "--optee-option", "CFG=; rm"], "is no option of OP-TEE's build"),
        (["trace", "invoke/none/tee/none", "--optee", "/"], "which has no core/tee-header_v2.bin"),
        (["trace", "invoke/none/tee/none", "--optee", "/x"], "names /x, which is no folder"),
        (["trace", "a/b/c/d", "--optee", "debian", "--optee-option", "A=y"], "need a build"),
        (["what-if", "x", "--option", "CFG_X=y"], "'x' is no case"),
    ],
)
def test_mistakes_are_said_before_anything_is_booted(
    words: list[str], said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    status = cli.run([*words, "--out", str(tmp_path / "run")])
    assert status in (1, 2)
    assert said in capsys.readouterr().err
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        ('optee = "build/mine"', "neither debian nor source nor a folder"),
        ('options = ["CFG_X=y"]', "OP-TEE's options need a build of it"),
        ('optee = "source"\noptions = ["cfg x"]', "is no option of OP-TEE's build"),
        ('optee = "source"\noptions = "CFG_X=y"', "options: must be a list, not 'CFG_X=y'"),
    ],
)
def test_a_recipes_op_tee_is_checked(lines: str, said: str) -> None:
    with pytest.raises(ConfigError, match=re.escape(said)):
        config.parse(f'kind = "virtual"\n{lines}\n', "x.toml")


def test_a_build_without_a_header_is_said(tmp_path: Path) -> None:
    (tmp_path / "tee-header_v2.bin").write_bytes(bytes(28))
    (tmp_path / "tee-pager_v2.bin").write_bytes(bytes(100))
    kit = ta_kit.default_kit()
    broken = Optee("x", tmp_path, tmp_path, kit)
    with pytest.raises(BoardError, match="no header of OP-TEE's images"):
        broken.core_code()
    header = struct.pack("<4sBBHIIIII", b"OPTE", 2, 1, 0, 1, 0, 0x0E100000, 0, 100)
    (tmp_path / "tee-header_v2.bin").write_bytes(header)
    assert broken.core_code() == range(0x0E100000, 0x0E100064)


def test_without_the_plugin_it_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("teemark.base.paths.trace_tools", lambda: tmp_path)
    assert cli.run(["trace", "invoke/none/tee/none", "--out", str(tmp_path / "run")]) == 1
    said = capsys.readouterr().err
    assert "QEMU's plugin isn't built" in said
    assert "C compiler" in said


def test_without_a_compiler_the_plugin_is_not_built_and_that_is_said(tmp_path: Path) -> None:
    made = subprocess.run(
        ["make", "-C", "trace", "CC=no-such-compiler", f"BUILD={tmp_path}"],
        cwd=paths.root(),
        capture_output=True,
        text=True,
        check=False,
    )
    assert made.returncode != 0
    assert "there is no no-such-compiler" in made.stderr
    assert "apt install gcc" in made.stderr
    assert not list(tmp_path.rglob("*.so"))


def test_the_calibration_comes_first_and_once() -> None:
    plan = record.plan_of(["oneshot/sha256/tee/64", "oneshot/sha256/tee/64"], 3)
    assert plan.keys == ("invoke/none/empty/none", "oneshot/sha256/tee/64")
    with pytest.raises(UsageMistake):
        record.plan_of(["oneshot//tee/64"], 3)


def test_a_step_of_teehash_may_be_asked_for_by_one_of_its_parts() -> None:
    step = "teehash/sha256/tee/stream/warm/4MiB/1MiB/inline"
    plan = record.plan_of([step, f"{step}/open", f"{step}/step"], 2)
    (one,) = plan.teehash
    assert one.key == "teehash/sha256/tee/stream/warm/4194304/1048576/inline"
    assert one.runs == 2
    assert [case.key for case in plan.cases] == ["invoke/none/empty/none"]


def test_which_variants_are_built() -> None:
    def variants(*options: str, alone: bool = False) -> tuple[tuple[str, ...], ...]:
        return whatif.plan_variants(options, alone=alone)

    assert variants("A=y") == ((), ("A=y",))
    assert variants("A=y", "B=n") == ((), ("A=y",), ("B=n",), ("A=y", "B=n"))
    assert variants("A=y", "B=n", alone=True) == ((), ("A=y",), ("B=n",))


def test_the_catalogue_prices_each_option_and_leaves_out_what_a_version_lacks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    asked = []
    traced: list[tuple[str, ...]] = []

    def recorded(
        file: config.BoardFile, cases: tuple[str, ...], place: Path, calls: record.TaCalls
    ) -> record.TracedRun:
        assert isinstance(file.config, config.VirtualConfig)
        traced.append(cases)
        asked.append(file.config.options)
        if asked[-1] == ("CFG_FAULT_MITIGATION=n",):
            raise BoardError("OP-TEE 3.0 has no option CFG_FAULT_MITIGATION")
        run = reader.parse(Synthetic(algorithms=("sha256",)).lines(), file="x")
        return record.TracedRun(run, trace(case(50 + len(asked))))

    monkeypatch.setattr(record, "record", recorded)
    cli.run(["what-if", "--catalogue", "-o", str(tmp_path / "runs")])
    assert asked == [(), *((option,) for option in whatif.CATALOGUE)]
    out, err = capsys.readouterr()
    assert "has no option CFG_FAULT_MITIGATION" in err
    assert "CFG_FAULT_MITIGATION" not in out
    assert "private exponents leak by time" in " ".join(out.split())
    assert set(traced) == {whatif.CASES}
    traced.clear()
    cli.run(["what-if", "--option", "CFG_X=y", "-o", str(tmp_path / "no-case")])
    assert set(traced) == {(EMPTY_CALL,)}


def test_what_an_option_gives_up_is_said() -> None:
    assert whatif.gives_up("CFG_TEE_CORE_DEBUG=n") != ""
    assert whatif.gives_up("CFG_CORE_ASLR=n") != ""
    assert whatif.gives_up("CFG_CORE_ASLR=y") == ""
    assert whatif.gives_up("CFG_CORE_BTI=n") == "no branch target checks"
    assert whatif.gives_up("CFG_CORE_STACK_PROTECTOR_STRONG=n") == "no stack protector"
    assert whatif.gives_up("CFG_CORE_STACK_PROTECTOR=y") == ""
    assert "leak by time" in whatif.gives_up("CFG_CORE_UNSAFE_MODEXP=y")


def test_a_variant_against_the_baseline() -> None:
    baseline = trace(case(60))
    other = trace(case(30))
    cell = whatif.compare(baseline, other, "invoke/none/tee/none")
    assert cell is not None
    assert (cell.instructions, round(cell.share, 3)) == (90, -0.25)
    assert whatif.compare(baseline, other, "a/b/c/d") is None


@pytest.mark.parametrize(
    ("place", "source", "expected"),
    [
        (Place(Domain.CORE, "core", "memset", 1), "lib/libutils/isoc/x.c", "core: memset"),
        (Place(Domain.CORE, "core", "cpu_spin_lock", 1), None, "core: locks, masks, per-core data"),
        (Place(Domain.CORE, "core", "x", 1), "core/mm/vm.c", "core: memory management"),
        (Place(Domain.CORE, "core", "x", 1), None, "core: other"),
        (Place(Domain.CORE, "core", "[x]", 0, named=False), None, "OP-TEE core"),
        (Place(Domain.KERNEL, "optee", "x", 1), None, "kernel: optee driver"),
        (Place(Domain.KERNEL, "kernel", "x", 1), None, "kernel"),
        (Place(Domain.TA, "TA x", "_utee_log", 1), None, "TA x: system call stubs"),
    ],
)
def test_components(place: Place, source: str | None, expected: str) -> None:
    assert component(place, source) == expected


def test_a_report_made_again_has_the_trace_of_its_run(tmp_path: Path) -> None:
    Synthetic().write(tmp_path)
    store.write(trace(), tmp_path)
    assert cli.run(["report", str(tmp_path)]) == 0
    assert "Flame graph of invoke/none/tee/none" in (tmp_path / "report.html").read_text()


EVIL = "<script>alert(1)</script>[bold]\x1b[2J\u202eevil"
TAME = "<script>alert(1)</script>[bold]\ufffd[2J\ufffdevil"


def test_names_of_a_hostile_board_are_harmless_where_they_enter() -> None:
    listed = kallsyms(f"ffff800000000000 T {EVIL}\nffff800000000010 t x\x9b [m\x1bod]\n")
    first, second = listed.find(0xFFFF800000000000), listed.find(0xFFFF800000000010)
    assert first is not None
    assert second is not None
    assert (first.name, second.name) == (TAME, "x\ufffd [m\ufffdod]")


def test_a_hostile_trace_neither_steers_a_terminal_nor_puts_markup_into_a_report(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    evil = Function("EL1", f"kernel: {EVIL} driver", EVIL)
    one = msgspec.structs.replace(case(), functions=(MAIN, evil, MEMSET, IRQ, OTHER, LOOP, LIB))
    store.write(trace(one), tmp_path)
    read = store.read(tmp_path)
    assert read.cases[0].functions[1] == Function("EL1", f"kernel: {TAME} driver", TAME)
    store.write(trace(case(30)), tmp_path / "before")
    for against in ([], ["--against", str(tmp_path / "before")]):
        assert cli.run(["trace", "--read", str(tmp_path), *against]) == 0
    shown = capsys.readouterr().out
    assert "[bold]" in shown
    assert "\x1b" not in shown
    run = Synthetic().run()
    made = run_page.make([run], [read])
    for text in (made.html, made.markdown, flame.render(read.cases[0], 900)):
        assert not re.search(r"(?<!\\)<script", text)
        assert "\x1b" not in text
    assert "&lt;script&gt;" in made.html


def test_a_flame_graph_needs_nothing_that_the_reports_policy_forbids() -> None:
    """No script, no handler, nothing from elsewhere: only the namespace has an address."""
    svg = flame.render(case(), 900).replace('xmlns="http://www.w3.org/2000/svg"', "")
    for word in ("<script", "<style", "<image", "<use", "href", "url(", "http"):
        assert word not in svg
    assert not re.search(r"\son\w+=", svg)


def test_the_report_has_the_flame_graph() -> None:
    run = Synthetic().run()
    made = run_page.make([run], [trace()], trace(case(30)))
    assert 'id="trace"' in made.html
    assert made.html.count('role="img" aria-label="Flame graph of') == 4  # two widths each
    assert "Functions that make the difference" in made.html
    assert "entry &lt;std&gt;" in made.html
    assert 'id="trace"' not in run_page.make([run]).html


def test_against_a_run_of_other_cases_or_another_build_says_so(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Instructions that differ by the build aren't taken for those of the code."""
    base, new = trace(case(30)), trace(case(40))
    extra = msgspec.structs.replace(new.cases[0], case="a/b/c/extra")
    built = msgspec.structs.replace(
        new, optee="4.10, CFG_CC_OPT_LEVEL=2", cases=(*new.cases, extra)
    )
    for name, one in (("base", base), ("new", built)):
        (tmp_path / name).mkdir()
        store.write(one, tmp_path / name)
    for against, words in (
        (
            "base",
            [
                f"had another OP-TEE: {base.optee}; this one: 4.10, CFG_CC_OPT_LEVEL=2.",
                "Only this run has a/b/c/extra.",
            ],
        ),
        ("new", []),
    ):
        argv = ["trace", "--read", str(tmp_path / "new"), "--against", str(tmp_path / against)]
        assert cli.run(argv) == 0
        said = " ".join(capsys.readouterr().out.split())
        assert all(word in said for word in words)
        assert ("another OP-TEE" in said) == bool(words)
