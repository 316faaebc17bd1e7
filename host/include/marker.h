/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Marks in the stream of instructions for QEMU's plugin of `teemark trace`
 * (trace/plugin.c). Each is a hint that no ARMv8 core knows, so a NOP, and an
 * ISB, which ends QEMU's block; other architectures have none.
 *
 * A window begins at a mark and ends at MARKER_END() or where the next begins.
 * teemark/trace/window.py knows the numbers.
 */
#pragma once

#ifdef __aarch64__
#define MARKER(number) __asm__ volatile("hint " number "\n\tisb" : : : "memory")
#else
#define MARKER(number) ((void)0)
#endif

#define MARKER_ARM()    MARKER("#0x70") /* samples follow */
#define MARKER_BEGIN()  MARKER("#0x71") /* of what teebench measures */
#define MARKER_END()    MARKER("#0x72")
#define MARKER_DISARM() MARKER("#0x73") /* the last sample was taken */
#define MARKER_HOLD()   MARKER("#0x79") /* as END, but it isn't kept yet */
#define MARKER_KEEP()   MARKER("#0x7a") /* the window that is held */

/* The parts of teehash's work. */
#define MARKER_OPEN()  MARKER("#0x74") /* a session with its buffers */
#define MARKER_FIRST() MARKER("#0x75") /* a message: reading its first piece */
#define MARKER_STEP()  MARKER("#0x76") /* hash a piece, read the next */
#define MARKER_LAST()  MARKER("#0x77") /* hash the last piece: the digest */
#define MARKER_CLOSE() MARKER("#0x78") /* the session */
