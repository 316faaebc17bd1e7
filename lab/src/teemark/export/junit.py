# SPDX-License-Identifier: BSD-2-Clause
"""JUnit XML, one test per case. A wrong output fails, a skip is skipped. A test's time is the mean
of the starts' medians; counted instructions are in the test's output instead. A case that an
incomplete run couldn't measure as asked is an error, and so is a TEE that couldn't be used. Commit
and labels are properties of the suite."""

import re
from xml.etree import ElementTree as ET

from teemark.model.models import stats_of
from teemark.model.stats import centre
from teemark.run.reader import RunData

_NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def _text(text: str) -> str:
    """Returns the text with U+FFFD for each character that XML 1.0 can't hold, even escaped."""
    return _NOT_XML.sub("\ufffd", text)


def _test(suite: ET.Element, key: str) -> ET.Element:
    workload, _, rest = _text(key).partition("/")
    return ET.SubElement(suite, "testcase", classname=f"teemark.{workload}", name=rest)


def render(run: RunData) -> str:
    suite = ET.Element("testsuite", name=_text(f"teemark {run.name}"))
    properties = ET.SubElement(suite, "properties")
    for name, value in ({"unit": run.unit} | run.origin).items():
        ET.SubElement(properties, "property", name=name, value=_text(value))
    failed = {fail.case for fail in run.fails}
    short = {case.case: case for case in run.missing}
    counted = {stats.key for stats in stats_of(run) if stats.unit == "instructions"}
    counts = {"tests": 0, "failures": len(run.fails), "skipped": 0, "errors": len(short)}
    for key, measured in run.cases.items():
        times = measured.times()
        if key not in failed and key not in short and any(times):
            test = _test(suite, key)
            if key in counted:
                ET.SubElement(test, "system-out").text = f"{centre(times):.15g} instructions a call"
            else:
                test.set("time", f"{centre(times) / 1e9:.9f}")
    for fail in run.fails:
        ET.SubElement(_test(suite, fail.case), "failure", message=_text(fail.reason))
    for skip in run.skips:
        if skip.case not in run.cases:  # otherwise another start measured it
            counts["skipped"] += 1
            ET.SubElement(_test(suite, skip.case), "skipped", message=_text(skip.reason))
    for case in short.values():
        samples = "" if case.total is None else f"{case.samples} of {case.total} samples; "
        message = f"not measured as asked: {samples}the run is incomplete: {run.incomplete}"
        ET.SubElement(_test(suite, case.case), "error", message=_text(message))
    refused = run.tee_refused[0].reason if run.tee_refused else None
    for name, problem in (("run/complete", run.incomplete), ("run/tee", refused)):
        if problem is not None:
            counts["errors"] += 1
            ET.SubElement(_test(suite, name), "error", message=_text(problem))
    counts["tests"] = len(suite.findall("testcase"))
    for name, count in counts.items():
        suite.set(name, str(count))
    ET.indent(suite)
    return ET.tostring(suite, encoding="unicode", xml_declaration=True) + "\n"
