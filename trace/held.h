/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Whether the secure world holds off the interrupts of the normal world, from the instructions
 * alone: QEMU 7.2's plugins can't read registers. In EL3 none can be taken; in OP-TEE's core while
 * PSTATE.F is set (with a GICv3 they are FIQs there); in TAs always.
 *
 * The core must have its symbols, and be built with CFG_TEE_CORE_DEBUG=y: thread_set_exceptions()
 * calls have_spinlock() then if, and only if, it is about to unmask foreign interrupts.
 */
#pragma once

#include "table.h"

/*
 * Follows a step in block `b`, whose last executed instruction was `word`, and behind which the
 * address `end` stands. Returns whether interrupts were held off in it.
 */
bool held_by(const struct table_block *b, uint32_t word, uint64_t end);
