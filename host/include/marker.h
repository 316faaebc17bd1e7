/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Marks in the stream of instructions for QEMU's plugin of `teemark trace`
 * (trace/plugin.c). Each is a hint that no ARMv8 core knows, so a NOP, and an
 * ISB, which ends QEMU's block; other architectures have none.
 */
#ifndef MARKER_H
#define MARKER_H

#ifdef __aarch64__
#define MARKER(number) __asm__ volatile("hint " number "\n\tisb" : : : "memory")
#else
#define MARKER(number) ((void)0)
#endif

#define MARKER_ARM()    MARKER("#0x70") /* samples follow */
#define MARKER_BEGIN()  MARKER("#0x71") /* of what is measured */
#define MARKER_END()    MARKER("#0x72")
#define MARKER_DISARM() MARKER("#0x73") /* the last sample was taken */

#endif
