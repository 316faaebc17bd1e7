/* SPDX-License-Identifier: BSD-2-Clause */
/* The list of those who store. */
#ifndef STORES_H
#define STORES_H

#include "storage.h"

/* NULL-terminated, in the order of --list and of reports. */
extern const struct store *const stores[];

#endif
