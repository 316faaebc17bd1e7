/* SPDX-License-Identifier: BSD-2-Clause */
#pragma once

#include <stdbool.h>

#include "error.h"

/*
 * Prints what this machine can run, and why not the rest (--list). Stores nothing anywhere.
 * allow_rpmb: as in struct pool.
 */
int list_print(bool allow_rpmb, struct error *err);
