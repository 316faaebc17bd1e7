# SPDX-License-Identifier: BSD-2-Clause
"""The parts of a traced call as `teemark explain` names them, counted; inside.py holds
what it infers against this. A place in the call tree has the role of the place above it, unless its
function begins another: the first rule that fits. It takes a core that has names."""

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, get_args

from teemark.trace.profile import INTERRUPT, CaseTrace, Function

Role = Literal[
    "client", "switch", "ta-entry", "mapping", "command", "compute", "rpcs", "interrupts",
    "resumed", "others",
]  # fmt: skip

ROLES: tuple[Role, ...] = get_args(Role)

_LEG = re.compile(r"optee_smccc_(smc|hvc)")
"""Goes into the secure world: once for a call, and once more after each interrupt or RPC. What the
further ones take is `resumed`."""


@dataclass(frozen=True, slots=True)
class _Rule:
    """`function` of `level` begins `role`, called by `caller` from a place whose role is one of
    `below`."""

    level: str
    function: re.Pattern[str]
    role: Role
    below: frozenset[Role]
    caller: re.Pattern[str] = re.compile(r".*")


def _rule(level: str, function: str, role: Role, *below: Role, caller: str = r".*") -> _Rule:
    return _Rule(level, re.compile(function), role, frozenset(below or ROLES), re.compile(caller))


_RULES = (
    _Rule("EL1", INTERRUPT, "interrupts", frozenset(ROLES)),
    # The way out of one; what a tick leaves to be done before a program goes on.
    _rule("EL1", r"ret_to_kernel|do_notify_resume", "interrupts", "client", "switch"),
    _rule("EL1", r"__bp_harden_el1_vectors", "interrupts", "switch"),
    # A reference that is registered for the call, by libteec and its system calls.
    _rule("EL0", r"TEEC_(Register|Release)SharedMemory", "mapping", "client"),
    _rule("EL1", r"tee_shm_get_from_id|tee_shm_put", "mapping", "client"),
    # Read-only memory: libteec copies it. Its copy has the name of its library alone.
    _rule("EL0", r"mem(cpy|move)|\[libc.*", "mapping", "client", caller=r"\[libteec.*"),
    # The kernel's work when OP-TEE asks it for something, and not before or after each SMC;
    # other processes are roots.
    _rule(
        "EL1",
        r"(?!optee_smccc_smc|optee_cq_|tee_get_drvdata|__memset|tee_shm_get_va|trace_event_).*",
        "rpcs",
        "client",
        caller=r"optee_smc_do_call_with_arg",
    ),
    _rule("EL1", _LEG.pattern, "switch", "client"),
    _rule("EL3", r".*", "switch", "client"),
    _rule("S-EL1", r".*", "switch", "client"),
    _rule("S-EL1", r"thread_resume_from_rpc", "resumed", "switch"),
    # Memory that RPCs of storage were given goes back when the call ends.
    _rule("S-EL1", r"thread_rpc_shm_cache_clear", "command", "switch"),
    # OP-TEE's work for a call to a TA that it doesn't refuse: its parameters, its session.
    _rule(
        "S-EL1",
        r"copy_(in|out)_params?|tee_ta_((get|put)_session|invoke_command)|"
        r"user_ta_enter",
        "ta-entry",
        "switch",
    ),
    _rule("S-EL1", r"memset|qsort|alloc_pgt", "ta-entry", "mapping", caller=r"vm_map_param"),
    # A reference looked up by its cookie, and in the TA's range of addresses.
    _rule(
        "S-EL1",
        r"vm_map_pa(d|ram)|mobj_(reg_shm_)?get_phys_offs.*|vm_clean_param|set_[rtf]mem_param",
        "mapping",
        "ta-entry",
    ),
    _rule("S-EL1", r"mobj_reg_shm_get_by_cookie", "mapping", "ta-entry", caller=r"copy_in_params"),
)

_ONCE = re.compile(r"thread_alloc_and_run")  # Of the way in, what is there for the first leg alone

_FRAME = re.compile(
    r"TA_\w+|__?utee_\w+|__ta_entry|ta_header_get_session|(from|to)_utee_params|"
    r"command_(run|nop)|nop|mem(set|cpy|move)"
)
"""Functions of a TA that are there in any call of it."""

_COMPUTE = re.compile(r"\w*(sha\d+|sha3|keccak|md5|sm3)\w*(compress|process|permute|blocks)\w*")


def _role(function: Function, above: Role, caller: str) -> Role:
    for rule in _RULES:
        if (
            rule.level == function.level
            and above in rule.below
            and rule.function.fullmatch(function.name)
            and rule.caller.fullmatch(caller)
        ):
            return rule.role
    if function.level == "S-EL0" and above == "ta-entry" and not _FRAME.fullmatch(function.name):
        return "command"
    if above == "command" and _COMPUTE.fullmatch(function.name):
        return "compute"
    return above


def roles(case: CaseTrace) -> Mapping[Role, int]:
    """Returns the instructions of each role; their sum is the call's."""
    found: Counter[Role] = Counter()
    known: list[Role] = []
    ways: list[tuple[int, int]] = []  # legs through this place, and the calls that they are of
    for node in case.nodes:
        function = case.functions[node.function]
        role: Role
        if node.parent < 0:
            role, way = "client" if function.level else _other_thread(function), (1, 1)
        else:
            parent = case.nodes[node.parent]
            above = case.functions[parent.function].name
            role, way = _role(function, known[node.parent], above), ways[node.parent]
            if _LEG.fullmatch(function.name) and role == "switch":
                way = node.calls, parent.calls
                # The loop that makes them goes round once for each.
                again = _again(parent.self, way)
                found[known[node.parent]] -= again
                found["resumed"] += again
            if _ONCE.fullmatch(function.name):
                way = 1, 1
        again = _again(node.self, way) if role == "switch" and node.calls >= way[0] else 0
        known.append(role)
        ways.append(way)
        found[role] += node.self - again
        found["resumed"] += again
    return {role: found[role] for role in ROLES if found[role]}


def _again(instructions: int, way: tuple[int, int]) -> int:
    """Returns the share of `instructions` that the legs after the first of a call take, if each leg
    takes as many. A window that begins inside a call has no call in it."""
    legs, calls = way
    return instructions * max(legs - max(calls, 1), 0) // max(legs, 1)


def _other_thread(function: Function) -> Role:
    """Returns the role of another thread: tee-supplicant serves the call; a thread of the kernel
    came by."""
    return "others" if function.name == "[kernel thread]" else "rpcs"
