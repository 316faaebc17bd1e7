/* SPDX-License-Identifier: BSD-2-Clause */
/* Finds out whether the TEE takes these Trusted Applications (--open-tas). */
#pragma once

#include "error.h"

/*
 * Opens and closes a session with each TA of the list, which ends with NULL,
 * and writes one JSON object a line to stdout: what came back. Returns 0 when
 * every session could be opened and -EIO when one couldn't, err untouched;
 * -EINVAL, before anything is opened, for what is no UUID; -ENOMEM.
 */
int open_tas(char **uuids, struct error *err);
