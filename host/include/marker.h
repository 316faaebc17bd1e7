/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Markers in the instruction stream, for QEMU's plugin of `teemark trace` (trace/plugin.c). Each is
 * a hint that ARMv8 cores treat as a NOP, then an ISB, which ends QEMU's block; on other
 * architectures the markers are empty.
 *
 * A window begins at a marker and ends at MARKER_END() or where the next window begins.
 * teemark/trace/window.py has the same numbers.
 */
#pragma once

#ifdef __aarch64__
#define MARKER(number) __asm__ volatile("hint " number "\n\tisb" : : : "memory")
#else
#define MARKER(number) ((void)0)
#endif

#define MARKER_ARM()    MARKER("#0x70") /* samples follow: recording is prepared */
#define MARKER_BEGIN()  MARKER("#0x71") /* teebench: the measured work begins */
#define MARKER_END()    MARKER("#0x72")
#define MARKER_DISARM() MARKER("#0x73") /* the last sample was taken */
#define MARKER_HOLD()   MARKER("#0x79") /* ends the window; KEEP decides if it is written */
#define MARKER_KEEP()   MARKER("#0x7a") /* writes the window that HOLD ended */

/* The parts of teehash's work, a window each. */
#define MARKER_OPEN()  MARKER("#0x74") /* opening a session with its buffers */
#define MARKER_FIRST() MARKER("#0x75") /* a message: reading its first piece */
#define MARKER_STEP()  MARKER("#0x76") /* hash a piece, read the next */
#define MARKER_LAST()  MARKER("#0x77") /* hash the last piece: the digest */
#define MARKER_CLOSE() MARKER("#0x78") /* closing the session */
