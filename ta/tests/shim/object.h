/* SPDX-License-Identifier: BSD-2-Clause */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct asym_algorithm;

/* A key, or an open persistent object. */
struct shim_object {
	uint32_t type;
	size_t max_key_bytes;
	uint8_t key[128];
	size_t key_len;         /* 0: empty */
	struct shim_file *file; /* NULL: transient */
	size_t position;

	/* Asymmetric keys are laid out as in asym.h: public, private. */
	const struct asym_algorithm *asym; /* NULL: none */
	bool pair;
	uint8_t parts[4096];
	size_t parts_len; /* 0: empty */
};
