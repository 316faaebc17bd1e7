/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef OBJECT_H
#define OBJECT_H

#include <stddef.h>
#include <stdint.h>

/* A key, or an open persistent object. */
struct shim_object {
	uint32_t type;
	size_t max_key_bytes;
	uint8_t key[128];
	size_t key_len;         /* 0: empty */
	struct shim_file *file; /* NULL: transient */
	size_t position;
};

#endif
