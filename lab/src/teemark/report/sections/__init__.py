# SPDX-License-Identifier: BSD-2-Clause
"""The sections of a report, in order. To add one: a `Part` here or in a file beside, and a line."""

from teemark.page.section import SectionFunction
from teemark.report.comparing import comparison_section
from teemark.report.sections.boards import boards
from teemark.report.sections.breakdown import breakdown
from teemark.report.sections.cases import calls, cases, first_use, left_out
from teemark.report.sections.causes import causes, choices, words
from teemark.report.sections.costs import costs
from teemark.report.sections.headline import headline, measured
from teemark.report.sections.keys import keys, pkcs11
from teemark.report.sections.machine import machine, method
from teemark.report.sections.offload import offload
from teemark.report.sections.throughput import throughput
from teemark.report.sections.trace import trace
from teemark.studies import seed_tables

SECTIONS: tuple[SectionFunction, ...] = (
    headline,
    measured,
    boards,
    comparison_section,
    breakdown,
    causes,
    trace,
    seed_tables,
    keys,
    pkcs11,
    calls,
    throughput,
    offload,
    costs,
    choices,
    first_use,
    cases,
    left_out,
    machine,
    method,
    words,
)
