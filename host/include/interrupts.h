/* SPDX-License-Identifier: BSD-2-Clause */
/* Counts how often each interrupt line was raised, on all CPUs: /proc/interrupts. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "error.h"

struct interrupt_line {
	char line[16];  /* "52", "IPI0" */
	char name[112]; /* the kernel's description: "GICv3 27 Level …" */
	uint64_t count;
};

struct interrupts {
	struct interrupt_line *list;
	size_t count;
};

int interrupts_read(struct interrupts *now, struct error *err);
void interrupts_free(struct interrupts *now);
/* Returns how often the line was raised since boot, on all CPUs; 0 if there is no such line. */
uint64_t interrupts_count(const struct interrupts *all, const char *line);
/* Returns how often the line was raised between two readings. */
uint64_t interrupts_since(const struct interrupts *before, const struct interrupt_line *now);
