# SPDX-License-Identifier: BSD-2-Clause
"""A call into the TEE, instruction by instruction: from QEMU's plugin to names and trees.

    window      the file that the plugin writes
    symbols     names of addresses: ELF files, /proc/kallsyms
    places      the exception level, the file and the function of every block
    tree        the call tree, made by trace/walk.c
    components  which part of the system a function belongs to
    profile     a traced case: what is kept, and what is computed from it
    store       trace.json in a run's folder
    folded      stacks for flamegraph.pl, speedscope and their like
    difference  two traces of a case
    roles       the parts of a call, as `teemark explain` names them
    table       a traced case on a terminal
    flame       the flame graph
    whatif      the same cases with several OP-TEEs
    analyse     a run's windows into profiles
    record      booting with the plugin, and measuring

Which OP-TEE a board boots, and where its symbols are, is teemark.boards.optee's.
"""
