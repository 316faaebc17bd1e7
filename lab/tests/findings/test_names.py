# SPDX-License-Identifier: BSD-2-Clause
"""Each cause has words; pages, the glossary and JSON name the same causes."""

import re

from synthetic import Synthetic, run_of
from teemark.base import paths
from teemark.findings.ground import Ground
from teemark.findings.rules import judge
from teemark.report import run_page
from teemark.report.sections.causes import CAUSES


def test_each_cause_that_a_rule_judges_has_words() -> None:
    runs = [Synthetic(identical=True, counter=1.0, page=190).run(), Synthetic().run()]
    runs.append(run_of({"sign/rsa-2048/tee/crt": [1e9] * 9, "invoke/none/tee/none": [1e5] * 9}))
    judged = {f.key for run in runs for f in judge(Ground.of(run)) if f.topic == "cause"}
    assert len(judged) > 12
    assert judged <= CAUSES.keys()


def test_the_glossary_has_the_same_words() -> None:
    text = (paths.root() / "docs" / "glossary.md").read_text(encoding="utf-8")
    rows = re.findall(r"^- `([\w-]+)`: (.*)$", text.partition("## Causes")[2], re.M)
    assert dict(rows) == CAUSES


def test_a_page_says_words_that_lead_to_their_slugs() -> None:
    page = run_page.make([Synthetic(identical=True, counter=1.0, page=190).run()])
    assert '<a class="term" href="#word-contention">other work on the CPU</a>' in page.html
    assert '<span id="word-contention">contention</span>' in page.html
    led = set(re.findall(r'href="#(word-[\w:-]+)"', page.html))
    assert led <= set(re.findall(r'id="(word-[\w:-]+)"', page.html))
    assert "other work on the CPU (`contention`)" in page.markdown
    wide = re.sub(r'<div class="narrow".*?</div>', " ", page.html, flags=re.S)
    inside = re.compile(r"<details[^>]*>(?:(?!<details|</details>).)*</details>", re.S)
    while inside.search(wide):
        wide = inside.sub("", wide)
    shown = re.sub(r"<[^>]*>", " ", wide)
    assert "oneshot/" not in shown
    assert "ta-ce" not in shown


def test_the_advice_stands_below_the_answer() -> None:
    text = run_page.make([Synthetic(identical=True, counter=1.0, page=190).run()]).markdown
    at = [
        text.index(words)
        for words in ("A call into the TEE costs", "What would help", "It saves", "## From small")
    ]
    assert at == sorted(at)
    assert text.count("CFG\\_CRYPTO\\_WITH\\_CE=y") == 1
