# SPDX-License-Identifier: BSD-2-Clause
"""A call into the TEE, instruction by instruction: from QEMU's plugin to names and trees.

Layers, each using only those above it in this list:

    window      the file that the plugin writes
    symbols     names of addresses: ELF files, /proc/kallsyms
    places      the exception level, the file and the function of every block
    tree        the call tree, made by trace/walk.c
    components  which part of the system a function belongs to
    profile     a traced case: what is kept, and what is computed from it
    store       trace.json in a run's folder
    folded, speedscope, difference, table, flame    what is shown
    firmware    an OP-TEE of one's own: built, found, checked
    record      booting with the plugin, and measuring
    analyse     a run's windows into profiles
    whatif      the same cases with several OP-TEEs
"""
