# SPDX-License-Identifier: BSD-2-Clause
"""Plans: what they expand to, and what is said of a wrong one."""

import json
import re
from pathlib import Path

import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

from teemark.base.errors import ConfigError, UsageMistake
from teemark.cli.plan import command
from teemark.plan import check
from teemark.plan.file import case_lines, load_plan, parse_plan, plan_names, select_cases
from teemark.plan.words import parse_size

GOOD = """
summary = "Two blocks."

[[cases]]
workload = "invoke"
backends = ["tee"]

[[cases]]
workload = "oneshot"
algorithms = ["sha1", "sha256"]
backends = ["tee", "c"]
sizes = [0, "4KiB"]
samples = 5
min_us = 200
repeat = [1, 2, 4]
"""


def test_parameters_with_sizes() -> None:
    text = (
        'summary = "x"\n[[cases]]\nworkload = "cipher"\nalgorithms = ["aes-128-cbc"]\n'
        'backends = ["c"]\nparameters = ["enc/{}", "dec/{}"]\nsizes = [16, "4KiB"]\n'
    )
    made = parse_plan(text, name="x", file="x.toml")
    assert [case.work.parameters for case in made.cases] == [
        "enc/16",
        "enc/4096",
        "dec/16",
        "dec/4096",
    ]


@pytest.mark.parametrize("name", ["afalg:*", "afalg:cbc(aes-generic)", "afalg:sha256-ce"])
def test_a_backend_with_a_driver(name: str) -> None:
    text = f'summary = "x"\n[[cases]]\nworkload = "oneshot"\nbackends = ["{name}"]\nsizes = [1]\n'
    (case,) = parse_plan(text, name="x", file="x.toml").cases
    assert case.key == f"oneshot/none/{name}/1"


def test_expansion_and_its_order() -> None:
    lines = case_lines(parse_plan(GOOD, name="x", file="x.toml").cases).splitlines()
    options = "samples=5 min_us=200 repeat=1,2,4"
    assert lines == [
        "invoke/none/tee/none",
        f"oneshot/sha1/tee/0 {options}",
        f"oneshot/sha1/c/0 {options}",
        f"oneshot/sha1/tee/4096 {options}",
        f"oneshot/sha1/c/4096 {options}",
        f"oneshot/sha256/tee/0 {options}",
        f"oneshot/sha256/c/0 {options}",
        f"oneshot/sha256/tee/4096 {options}",
        f"oneshot/sha256/c/4096 {options}",
    ]


@pytest.mark.parametrize(
    ("case", "repeat", "refused"),
    [
        ("oneshot/sha256/tee/1048576", 4, False),
        ("oneshot/sha256/tee/1048576", 5, True),
        ("oneshot/sha256/ta-ce/0", 1 << 11, False),
        ("oneshot/sha256/ta-ce/0", (1 << 11) + 1, True),
        ("oneshot/sha256/c/1048576", 1 << 20, False),
        ("oneshot/sha256/tee/67108864", 1, False),
        ("cipher/aes-128-cbc/tee/dec/65536", 65, True),
        ("rng/random/tee/65536", 1, False),
        ("rng/random/tee/65537", 1, True),
        ("rng/random/tee/16384", 5, True),
    ],
)
def test_a_plan_holds_the_bounds_of_work(case: str, repeat: int, *, refused: bool) -> None:
    workload, algorithm, backend, parameters = case.split("/", 3)
    text = (
        f'summary = "x"\n[[cases]]\nworkload = "{workload}"\nalgorithms = ["{algorithm}"]\n'
        f'backends = ["{backend}"]\nparameters = ["{parameters}"]\nrepeat = [{repeat}]\n'
    )
    plan = parse_plan(text, name="x", file="x.toml")
    if refused:
        with pytest.raises(ConfigError, match=f"x.toml:2: {case}: "):
            check.check(plan)
    else:
        assert check.check(plan)


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ('summary = "Two blocks."', "", "x.toml: summary: missing"),
        ('summary = "Two blocks."', "summary = 3", "x.toml: summary: must be a text"),
        ('summary = "Two blocks."', 'summary = "a', "x.toml: not valid TOML"),
        ("samples = 5", "sample = 5", "x.toml: cases[2].sample: no such key"),
        ("samples = 5", "samples = 0", "x.toml: cases[2].samples: must be a whole number from 1"),
        ("samples = 5", "samples = true", "x.toml: cases[2].samples: must be a whole number"),
        ("samples = 5", "samples = 2.5", "x.toml: cases[2].samples: must be a whole number"),
        ("[1, 2, 4]", "[1, 4, 2]", "x.toml: cases[2].repeat: must rise"),
        ("[1, 2, 4]", "[]", "x.toml: cases[2].repeat: must be a list with something in it"),
        ("[1, 2, 4]", "[0]", "x.toml: cases[2].repeat: must be a whole number from 1"),
        ('"4KiB"', '"4kb"', "x.toml: cases[2].sizes: '4kb' is no size"),
        ('"4KiB"', "-1", "x.toml: cases[2].sizes: -1 is no size"),
        ('"4KiB"', '"0"', "x.toml: cases[2].sizes: 0 is there twice"),
        ('"c"]', '"tee"]', "x.toml: cases[2].backends: tee is there twice"),
        ('"sha256"', '"SHA 256"', "x.toml: cases[2].algorithms: 'SHA 256' is no name"),
        ('"sha256"', '"a/b"', "x.toml: cases[2].algorithms: 'a/b' is no name"),
        (
            '"invoke"',
            '"oneshot"\nalgorithms = ["sha1"]\nsizes = [0]',
            "x.toml: cases: oneshot/sha1/tee/0 is there twice",
        ),
        ('"invoke"', '"invoke"\nsizes = [0]\nparameters = ["a"]', "x.toml: cases[1].parameters"),
        ('workload = "invoke"\n', "", "x.toml: cases[1].workload: missing"),
    ],
)
def test_mistakes_name_file_and_key(old: str, new: str, says: str) -> None:
    assert old in GOOD
    with pytest.raises(ConfigError) as error:
        parse_plan(GOOD.replace(old, new, 1), name="x", file="x.toml")
    assert re.sub(r"(?<=toml):\d+", "", error.value.message).startswith(says)


@pytest.mark.parametrize(
    ("old", "new", "line"),
    [
        ("samples = 5", "sample = 5", 13),
        ("samples = 5", "# a comment\n\nsamples = [\n0]", 15),
        ('workload = "invoke"\n', "", 4),
        ("[1, 2, 4]", "[\n1, # one\n4,\n2]", 15),
    ],
)
def test_mistakes_name_the_line(old: str, new: str, line: int) -> None:
    with pytest.raises(ConfigError) as error:
        parse_plan(GOOD.replace(old, new, 1), name="x", file="x.toml")
    assert error.value.message.startswith(f"x.toml:{line}: ")


def test_no_cases() -> None:
    with pytest.raises(ConfigError, match="cases: missing"):
        parse_plan('summary = "a"', name="x", file="x.toml")
    with pytest.raises(ConfigError, match="cases: must be a list"):
        parse_plan('summary = "a"\ncases = 3', name="x", file="x.toml")


@given(st.integers(0, 10**6), st.sampled_from([("B", 1), ("KiB", 1024), ("MiB", 1024**2)]))
def test_sizes(number: int, unit: tuple[str, int]) -> None:
    assert parse_size(f"{number}{unit[0]}") == number * unit[1]
    assert parse_size(f" {number} {unit[0]} ") == number * unit[1]


@given(st.text())
def test_any_text_is_a_plan_or_a_clear_error(text: str) -> None:
    with pytest.raises(ConfigError, match=r"x\.toml"):
        parse_plan(text, name="x", file="x.toml")


def test_unknown_plan() -> None:
    with pytest.raises(UsageMistake, match="no plan nothing"):
        load_plan("nothing")


def test_plan_from_a_file(tmp_path: Path) -> None:
    file = tmp_path / "mine.toml"
    file.write_text(GOOD, encoding="utf-8")
    assert load_plan(str(file)).name == "mine"


@pytest.mark.parametrize("name", plan_names())
def test_plans_of_this_checkout(name: str) -> None:
    found = load_plan(name)
    assert found.cases
    assert found.summary.endswith(".")


def test_list_and_show() -> None:
    listed = CliRunner().invoke(command, ["list", "--json"])
    names = [row["name"] for row in json.loads(listed.output)]
    assert {"quick", "full"} <= set(names)
    shown = CliRunner().invoke(command, ["show", "quick"])
    assert "oneshot/sha256/tee/4096" in shown.output
    as_json = json.loads(CliRunner().invoke(command, ["show", "quick", "--json"]).output)
    assert len(as_json["cases"]) == len(shown.output.splitlines()) - 1


def test_only_some_cases() -> None:
    plan = parse_plan(GOOD, name="good", file="good.toml")
    some = select_cases(plan, ["oneshot/*/c/*", "invoke/*"])
    assert [case.key for case in some.cases] == [
        "invoke/none/tee/none",
        *(f"oneshot/{name}/c/{size}" for name in ("sha1", "sha256") for size in (0, 4096)),
    ]
    assert some.name == "good"
    assert some.summary.endswith("Only oneshot/*/c/*, invoke/*.")
    for patterns in (["oneshot/*/te/*"], ["oneshot/*", "oneshot/sha265/*"]):
        with pytest.raises(UsageMistake, match="no case of good matches") as caught:
            select_cases(plan, patterns)
        assert "near it are oneshot/sha" in (caught.value.hint or "")
        assert caught.value.exit_status == 2


def test_only_is_an_option_of_plan_show() -> None:
    done = CliRunner().invoke(command, ["show", "quick", "--only", "invoke/none/tee/*"])
    assert done.exit_code == 0
    assert [line for line in done.stdout.splitlines() if not line.startswith("#")] == [
        case.line for case in load_plan("quick").cases if case.key.startswith("invoke/none/tee/")
    ]
