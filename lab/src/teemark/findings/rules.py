# SPDX-License-Identifier: BSD-2-Clause
"""All rules on a run, and their findings.

To add one: a function `(ground) -> Finding | None` with its words in the file of its subject, a
line in RULES, and a test on both sides of its threshold and without its data. It returns None if
the run lacks its data, or a finding that is `not checked` if a user may miss it.
"""

from teemark.base.finding import Finding
from teemark.findings import broker, call, choices, crypto, inside_core, keys, storage, trust
from teemark.findings.ground import Ground, Rule

RULES: tuple[Rule, ...] = (
    trust.emulated,
    broker.message,
    keys.signature_cost,
    keys.handshake,
    keys.rsa_of_any_size,
    keys.pkcs11_memory,
    keys.key_kept,
    keys.post_quantum,
    keys.says_and_does,
    call.empty_call,
    call.stack_and_heap,
    crypto.inside_and_outside,
    crypto.with_instructions,
    trust.published_key,
    trust.tee_defects,
    crypto.no_extensions,
    crypto.same_code,
    inside_core.inside,
    inside_core.console,
    call.pool,
    call.temporary,
    call.read_only,
    call.pages,
    storage.rpcs,
    call.loading_the_ta,
    call.ta_size,
    call.cold_cache,
    trust.cpu_frequency,
    trust.contention,
    trust.clock_step,
    call.way_in_and_out,
    crypto.cpu_time,
    storage.stored_objects,
    call.ree_time,
    crypto.slow_random,
    choices.choices,
    trust.two_clocks,
    trust.harness,
    trust.level,
    trust.misfits,
    trust.waited,
    trust.scatter,
)


def judge(ground: Ground) -> tuple[Finding, ...]:
    """Returns the findings of all rules, in the order of the list."""
    findings: list[Finding] = []
    for rule in RULES:
        judged = rule(ground)
        findings += [judged] if isinstance(judged, Finding) else judged or ()
    return tuple(findings)
