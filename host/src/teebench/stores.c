/* SPDX-License-Identifier: BSD-2-Clause */
#include <stddef.h>

#include "stores.h"

extern const struct store storage_ree_fs, storage_rpmb, storage_memory,
	storage_file, storage_file_fsync;

const struct store *const stores[] = {
	&storage_ree_fs, &storage_rpmb,       &storage_memory,
	&storage_file,   &storage_file_fsync, NULL,
};
