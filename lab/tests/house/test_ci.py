# SPDX-License-Identifier: BSD-2-Clause
"""Other people's CI and dashboards take these from us, and they work there: the GitHub Action, the
GitLab component, LAVA's definitions and Grafana's dashboard."""

import json
import os
import re
import shutil
import socket
import subprocess
import sys
import urllib.parse
import urllib.request
import venv
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Any

import pytest
import yaml  # type: ignore[import-untyped]
from prometheus_client.parser import text_string_to_metric_families

from conftest import new_debian
from synthetic import Synthetic
from teemark.base import paths
from teemark.boards import VirtualBoard
from teemark.cli import main as cli
from teemark.export import medians
from waiting import until

ROOT = paths.root()
CI = ROOT / "packaging/ci"
DASHBOARD = json.loads((ROOT / "packaging/grafana/teemark.json").read_text())
ACTION = yaml.safe_load((ROOT / "action.yml").read_text())
STEPS = {step["name"]: step for step in ACTION["runs"]["steps"]}
SPEC, COMPONENT = yaml.safe_load_all((ROOT / "templates/teemark.yml").read_text())


def scripts() -> Iterator[str]:
    """Yields the shell of both recipes."""
    yield from (step["run"] for step in STEPS.values() if "run" in step)
    for job in COMPONENT.values():
        for part in ("before_script", "script"):
            yield from job.get(part, [])
    yield from (file.read_text() for file in CI.iterdir())


def test_no_input_is_a_word_of_a_shell() -> None:
    """A branch may be called $(…): inputs reach the shell in its environment alone."""
    for text in scripts():
        assert "${{" not in text
        assert "$[[" not in text
        subprocess.run(["sh", "-n"], input=text, text=True, check=True)


def test_both_recipes_pass_on_what_the_script_takes() -> None:
    taken = set(re.findall(r"TEEMARK_[A-Z_]+", (CI / "measure").read_text())) - {"TEEMARK_"}
    assert taken == set(STEPS["measure"]["env"])
    assert taken <= set(COMPONENT["teemark"]["variables"])
    known = set(re.findall(r"inputs\.([a-z-]+)", (ROOT / "action.yml").read_text()))
    assert known == set(ACTION["inputs"])
    known = set(re.findall(r"inputs\.([a-z-]+)", (ROOT / "templates/teemark.yml").read_text()))
    assert known == set(SPEC["spec"]["inputs"])


def runs_the_request(job: dict[str, Any]) -> bool:
    return any("packaging/ci/measure" in line for line in job.get("script", ()))


def test_the_request_s_code_has_no_token_and_writes_no_cache() -> None:
    """A TA's Makefile saw COMMENT_TOKEN, and the cache that it wrote was the next request's."""
    jobs = {name: job for name, job in COMPONENT.items() if not name.startswith(".")}
    (measuring,) = (job for job in jobs.values() if runs_the_request(job))
    assert measuring["cache"]["policy"] == "pull"
    assert "environment" not in measuring
    assert "TOKEN" not in yaml.safe_dump(measuring)
    (writing,) = (job for job in jobs.values() if "TOKEN" in yaml.safe_dump(job))
    assert writing["variables"]["GIT_STRATEGY"] == "none"  # nothing of the request is there
    assert writing["environment"]["name"] == "teemark-comment"
    assert "cache" not in writing
    assert any("test -L teemark.md" in line for line in writing["script"])
    filling = jobs["teemark-build"]
    assert filling["cache"] | {"policy": "pull"} == measuring["cache"]
    assert "policy" not in filling["cache"]
    # GitHub: the steps before the measuring are ours alone; none after it, and no token at all.
    assert list(STEPS)[-1] == "measure"
    assert "token" not in (ROOT / "action.yml").read_text().replace("takes no token", "")
    assert list(STEPS).index("keep what was built") < list(STEPS).index("measure")


def test_the_workflow_of_the_docs_comments_in_a_job_without_the_request() -> None:
    text = (ROOT / "docs/ci.md").read_text()
    workflow = yaml.safe_load(text.partition("```yaml\n")[2].partition("```")[0])
    gate, comment = workflow["jobs"]["gate"], workflow["jobs"]["comment"]
    assert workflow["permissions"] == {"contents": "read"}
    assert workflow[True] == "pull_request"  # YAML's "on"
    assert gate["steps"][1]["with"]["persist-credentials"] is False
    assert "permissions" not in gate
    assert not any("checkout" in step.get("uses", "") for step in comment["steps"])
    first = text.partition("## ")[0]
    assert "runs the request's code" in first
    assert "pull_request_target" in first


def comment_job(place: Path, token: str) -> str:
    """Runs the job that comments, with a curl that says what it was given."""
    curl = place / "bin/curl"
    curl.parent.mkdir(exist_ok=True)
    curl.write_text('#!/bin/sh\nfor word; do echo "$word"; done\n')
    curl.chmod(0o755)
    env = {"PATH": f"{place}/bin:{os.environ['PATH']}", "COMMENT_TOKEN": token}
    script = "\n".join(COMPONENT["teemark-comment"]["script"])
    return subprocess.check_output(["sh", "-ec", script], cwd=place, env=env, text=True)


def test_a_link_in_the_artifact_shows_nothing_of_the_commenting_job(tmp_path: Path) -> None:
    assert comment_job(tmp_path, "x") == ""
    (tmp_path / "teemark.md").write_text("## PASS")
    assert "body@teemark.md" in comment_job(tmp_path, "x")
    assert comment_job(tmp_path, "") == ""
    (tmp_path / "teemark.md").unlink()
    (tmp_path / "teemark.md").symlink_to("/proc/self/environ")
    assert comment_job(tmp_path, "x") == ""


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A built teemark: the one that runs these tests."""
    there = tmp_path / "home/.venv/bin"
    there.mkdir(parents=True)
    (there / "teemark").symlink_to(Path(sys.executable).with_name("teemark"))
    return tmp_path / "home"


def measure(home: Path, place: Path, **env: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [CI / "measure", home, place / "teemark.md"],
        cwd=place, env=os.environ | env, capture_output=True, text=True, check=False,
    )  # fmt: skip


MISTAKES = {
    "neither": ({"TEEMARK_COMMAND": "grate"}, 'command is "grate", and can be gate or pr'),
    "no baseline": ({"TEEMARK_BASELINE": "gone.txt"}, "gone.txt"),
    "no limit": ({"TEEMARK_FAIL_ON": "much"}, "--fail-on much is no limit"),
    "no pull request": ({"TEEMARK_COMMAND": "pr", "TEEMARK_HEAD": "x"}, "TEEMARK_BASE is empty"),
    "a hostile branch": (
        {"TEEMARK_COMMAND": "pr", "TEEMARK_BASE": "$(touch pwned)", "TEEMARK_HEAD": ";touch pwned"},
        "is no git tree of OP-TEE's source",
    ),
    "an option": (
        {"TEEMARK_COMMAND": "pr", "TEEMARK_BASE": "--help", "TEEMARK_HEAD": "x"},
        "is no git tree of OP-TEE's source",
    ),
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_mistake_in_the_inputs_is_said_and_leaves_no_comment(
    home: Path, tmp_path: Path, mistake: str
) -> None:
    env, said = MISTAKES[mistake]
    place = tmp_path / "work"
    place.mkdir()
    (place / "teemark.md").write_text("## PASS")  # by a step before
    done = measure(home, place, **env)
    assert (done.returncode, done.stdout) == (2, ""), done.stderr
    assert said in done.stderr
    assert list(place.iterdir()) == []


def test_what_was_built_before_is_built_anew_for_another_source(tmp_path: Path) -> None:
    """A cache may hold what another commit of ours was built to, with newer times."""
    source, home = tmp_path / "source", tmp_path / "home"
    (source / "packaging/ci").mkdir(parents=True)
    shutil.copy(CI / "prepare", source / "packaging/ci")
    (source / "Makefile").write_text("build:\n\tcat version >built\n\techo >>times\n")

    def prepare(version: str) -> tuple[str, int]:
        (source / "version").write_text(version)
        os.utime(source / "version", (1, 1))
        subprocess.run([source / "packaging/ci/prepare", home], check=True, capture_output=True)
        return (home / "built").read_text(), len((home / "times").read_text())

    assert [prepare("1"), prepare("1"), prepare("2")] == [("1", 1), ("1", 2), ("2", 1)]
    # GitLab clones teemark to the place where it is built: nothing is copied then.
    subprocess.run([source / "packaging/ci/prepare", source], check=True, capture_output=True)
    assert (source / "built").read_text() == "2"


@pytest.mark.board
@pytest.mark.exhaustive
@pytest.mark.timeout(1800)
def test_a_change_that_makes_a_call_dearer_turns_the_action_red(
    home: Path, tmp_path: Path, qemu_v8_icount: VirtualBoard
) -> None:
    """The Action's own step, for a TA that was changed to do its work twice."""
    del qemu_v8_icount  # so that the board is built
    place = tmp_path / "work"
    place.mkdir()
    ta, baseline = place / "my_ta", place / "gate.toml"
    assert cli.run(["new-ta", str(ta)]) == 0
    assert cli.run(["gate", "--ta", str(ta), "--baseline", str(baseline), "--update"]) == 0

    def step() -> tuple[int, str]:
        (home / ".cache").mkdir(exist_ok=True)
        built = home / ".cache/teemark-action"
        if not built.exists():
            built.symlink_to(home)
        env = os.environ | {
            "HOME": str(home), "GITHUB_ACTION_PATH": str(ROOT), "GITHUB_OUTPUT": str(home / "out"),
            "TEEMARK_COMMAND": "gate", "TEEMARK_BASELINE": "gate.toml", "TEEMARK_TA": "my_ta",
        }  # fmt: skip
        words = ["sh", "-e", "-c", STEPS["measure"]["run"]]
        status = subprocess.run(words, cwd=place, env=env, check=False).returncode
        return status, (place / "teemark.md").read_text()

    status, said = step()
    assert status == 0, said
    assert said.startswith("## PASS")
    source = ta / "ta/entry.c"
    text = source.read_text()
    changed = text.replace("\tparams[0].value.a++;\n", "\tTEE_Wait(0);\n\tparams[0].value.a++;\n")
    assert changed != text
    source.write_text(changed)
    status, said = step()
    assert status == 1, said
    assert said.startswith("## FAIL")
    assert (home / "out").read_text().splitlines()[-1] == f"comment={place}/teemark.md"


# -- a runner's container (make test-packages) -------------------------------------------------

IN_A_CONTAINER = """\
set -e
export HOME=/root LC_ALL=C.UTF-8 DEBIAN_FRONTEND=noninteractive
export PIP_CERT=/trusted
export TEEMARK_ADDRESS=file:///source TEEMARK_COMMIT="$1" TEEMARK_COMMAND=gate TEEMARK_FAIL_ON=
export TEEMARK_TA=my_ta TEEMARK_BASELINE=my_ta/gate.toml
apt-get update -q >/dev/null && apt-get install -qy git ca-certificates >/dev/null
git config --global --add safe.directory '*'
mkdir /project && cd /project
sh -ec "$2"
sh -ec "$3"
.teemark/.venv/bin/teemark new-ta my_ta
.teemark/.venv/bin/teemark gate --ta my_ta --baseline my_ta/gate.toml --update
sh -ec "$4"
grep '^## PASS' teemark.md
rm teemark.md
export GITHUB_ACTION_PATH=/project/.teemark GITHUB_OUTPUT=/root/output
mkdir -p /root/.cache && ln -s /project/.teemark /root/.cache/teemark-action
sh -ec "$5"
sh -ec "$6"
grep '^## PASS' teemark.md
sed -i 's/params.0..value.a++;/TEE_Wait(0); &/' my_ta/ta/entry.c
! sh -ec "$6"
grep '^## FAIL' teemark.md
"""
"""A container as GitLab and GitHub start it, of Debian 12 and nothing else, with a project that has
a TA of its own: the component's scripts, then the Action's steps."""


@pytest.mark.packages
@pytest.mark.timeout(3600)
@pytest.mark.skipif(os.geteuid() != 0, reason="a chroot is root's")
def test_both_recipes_measure_in_a_container_of_debian_12(tmp_path: Path) -> None:
    root = tmp_path / "root"
    new_debian(root, "bookworm")
    # This machine's way to packages.
    shutil.copytree("/etc/apt/apt.conf.d", root / "etc/apt/apt.conf.d", dirs_exist_ok=True)
    shutil.copy("/etc/ssl/certs/ca-certificates.crt", root / "trusted")
    commit = subprocess.run(
        ["git", "rev-parse", "HEAD"], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout.strip()
    parts = ["\n".join(COMPONENT["teemark-build"][f"{part}script"]) for part in ("before_", "")]
    parts.append("\n".join(COMPONENT["teemark"]["script"]))
    parts += [STEPS[name]["run"] for name in ("teemark and its virtual board", "measure")]
    git = subprocess.run(
        ["git", "rev-parse", "--path-format=absolute", "--git-common-dir"],
        cwd=ROOT, capture_output=True, text=True, check=True,
    ).stdout.strip()  # fmt: skip
    with ExitStack() as mounts:
        for source, target in (("/proc", "proc"), ("/dev", "dev"), (git, "source")):
            (root / target).mkdir(exist_ok=True)
            subprocess.run(["mount", "--bind", source, root / target], check=True)
            mounts.callback(subprocess.check_call, ["umount", root / target])
        done = subprocess.run(
            ["chroot", root, "sh", "-c", IN_A_CONTAINER, "sh", commit, *parts],
            env={"PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"},
            capture_output=True, text=True, check=False,
        )  # fmt: skip
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-3000:]


# -- schemas and servers of others (make test-packages) ----------------------------------------


@pytest.mark.packages
def test_the_recipes_are_what_their_schemas_ask_for(tmp_path: Path) -> None:
    """The schemas of github-actions and gitlab-ci that check-jsonschema brings."""
    venv.create(tmp_path / "venv", with_pip=True)
    pip = [str(tmp_path / "venv/bin/pip"), "install", "-q", "--disable-pip-version-check"]
    subprocess.run([*pip, "check-jsonschema"], check=True)
    job = tmp_path / "gitlab.yml"
    # Inputs are put in before GitLab looks at the rest.
    job.write_text(re.sub(r"\$\[\[ inputs\.(\w+).*? \]\]", r"\1", yaml.safe_dump(COMPONENT)))
    for schema, file in (("github-actions", ROOT / "action.yml"), ("gitlab-ci", job)):
        words = ["--builtin-schema", f"vendor.{schema}", str(file)]
        subprocess.run([str(tmp_path / "venv/bin/check-jsonschema"), *words], check=True)


@pytest.mark.packages
def test_the_job_is_what_lava_s_schema_asks_for() -> None:
    """The strict schema of Debian's lava-common, which its server uses."""
    code = "import sys, yaml; from lava_common import schemas; "
    code += "schemas.validate(yaml.safe_load(open(sys.argv[1])), strict=True)"
    python = "/usr/bin/python3"
    there = subprocess.run([python, "-c", "import lava_common"], capture_output=True, check=False)
    if there.returncode:
        pytest.skip("Debian's package lava-common isn't installed")
    subprocess.run([python, "-c", code, ROOT / "packaging/lava/job.yaml"], check=True)


def exported() -> Iterator[str]:
    """Yields what a run with times and one of counts export."""
    for icount in (False, True):
        yield medians.openmetrics(Synthetic(algorithms=("sha256",), identical=icount).run())


def expressions() -> Iterator[str]:
    for panel in DASHBOARD["panels"]:
        yield from (target["expr"] for target in panel["targets"])


def test_the_dashboard_shows_metrics_that_are_exported() -> None:
    known = {
        sample.name
        for text in exported()
        for family in text_string_to_metric_families(text)
        for sample in family.samples
    }
    asked = {re.split(r"\W", expression)[0] for expression in expressions()}
    assert asked == known


def port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as free:
        return int(free.getsockname()[1])


@pytest.mark.packages
def test_a_push_gateway_takes_them_and_the_dashboard_s_questions_have_answers(
    tmp_path: Path,
) -> None:
    """Debian's push gateway and Prometheus: from the export to each panel."""
    missing = {"prometheus", "prometheus-pushgateway", "curl"} - {
        name for name in ("prometheus", "prometheus-pushgateway", "curl") if shutil.which(name)
    }
    if missing:
        pytest.skip(f"Debian's packages aren't installed: {', '.join(sorted(missing))}")
    gateway, server = port(), port()
    config = {"scrape_configs": [{
        "job_name": "push", "scrape_interval": "1s", "honor_labels": True,
        "static_configs": [{"targets": [f"127.0.0.1:{gateway}"]}],
    }]}  # fmt: skip
    (tmp_path / "prometheus.yml").write_text(yaml.safe_dump(config))
    listen = "--web.listen-address=127.0.0.1"
    programs = (
        ["prometheus-pushgateway", f"{listen}:{gateway}"],
        ["prometheus", f"{listen}:{server}", f"--config.file={tmp_path}/prometheus.yml",
         f"--storage.tsdb.path={tmp_path}/data"],
    )  # fmt: skip

    def ask(expression: str) -> list[Any]:
        address = f"http://127.0.0.1:{server}/api/v1/query?"
        with urllib.request.urlopen(address + urllib.parse.urlencode({"query": expression})) as got:
            return list(json.load(got)["data"]["result"])

    with ExitStack() as stack:
        for words in programs:
            log = stack.enter_context((tmp_path / f"{words[0]}.log").open("w"))
            stack.callback(subprocess.Popen(words, stdout=log, stderr=log).terminate)
        for number, text in enumerate(exported()):
            push = f"http://127.0.0.1:{gateway}/metrics/job/teemark/run/{number}"
            words = ["curl", "-sf", "--retry", "20", "--retry-connrefused", "--data-binary", "@-"]
            subprocess.run([*words, push], input=text, text=True, check=True)
        waiting = {re.sub(r"\$\w+", ".*", expression) for expression in expressions()}

        def answered() -> bool:
            with suppress(OSError):  # it isn't up yet
                waiting.difference_update([one for one in waiting if ask(one)])
            return not waiting

        until(f"answers to {waiting}", answered, 0.5)
