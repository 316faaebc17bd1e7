# SPDX-License-Identifier: BSD-2-Clause
"""JUnit XML: a test a case. A wrong output fails, a skip is skipped, its time is the median."""

from __future__ import annotations

import re
from statistics import median
from xml.etree import ElementTree as ET

from teemark.run.reader import RunData

_NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def _text(text: str) -> str:
    """What XML 1.0 can't hold, even escaped, becomes U+FFFD."""
    return _NOT_XML.sub("\ufffd", text)


def _test(suite: ET.Element, key: str, seconds: float | None = None) -> ET.Element:
    workload, _, rest = _text(key).partition("/")
    test = ET.SubElement(suite, "testcase", classname=f"teemark.{workload}", name=rest)
    if seconds is not None:
        test.set("time", f"{seconds:.9f}")
    return test


def render(run: RunData) -> str:
    suite = ET.Element("testsuite", name=_text(f"teemark {run.name}"))
    failed = {fail.case for fail in run.fails}
    passed = 0
    for key, measured in run.cases.items():
        times = [sample.ns / sample.loops for sample in measured.samples if sample.repeat == 1]
        if key not in failed and times:
            passed += 1
            _test(suite, key, median(times) / 1e9)
    for fail in run.fails:
        ET.SubElement(_test(suite, fail.case), "failure", message=_text(fail.reason))
    for skip in run.skips:
        ET.SubElement(_test(suite, skip.case), "skipped", message=_text(skip.reason))
    errors = 0
    if run.incomplete is not None:
        errors = 1
        ET.SubElement(_test(suite, "run/complete"), "error", message=_text(run.incomplete))
    suite.set("tests", str(passed + len(run.fails) + len(run.skips) + errors))
    suite.set("failures", str(len(run.fails)))
    suite.set("skipped", str(len(run.skips)))
    suite.set("errors", str(errors))
    ET.indent(suite)
    return ET.tostring(suite, encoding="unicode", xml_declaration=True) + "\n"
