/* SPDX-License-Identifier: BSD-2-Clause */
#pragma once

#include <stdbool.h>

#include "error.h"

/*
 * Prints which cases this machine can run, and why it can't run the others (--list). Stores nothing
 * anywhere. allow_rpmb is as in struct pool.
 */
int list_print(bool allow_rpmb, struct error *err);
