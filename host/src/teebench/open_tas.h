/* SPDX-License-Identifier: BSD-2-Clause */
/* Finds out which Trusted Applications the TEE accepts (--open-tas). */
#pragma once

#include "error.h"

/*
 * Opens and closes a session with each TA of `uuids`, a list that ends with NULL, and prints each
 * result as one JSON object a line. Returns 0 if every session could be opened; -EIO, with *err
 * untouched, if one couldn't; -EINVAL, before any session is opened, if a text isn't a UUID; or
 * -ENOMEM.
 */
int open_tas(char **uuids, struct error *err);
