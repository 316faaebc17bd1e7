/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Access to the folder of the workloads' files: the environment variable TEEMARK_DIR names it, or
 * else it is the current one. Errors name the folder.
 */
#pragma once

#include "error.h"

/*
 * Returns a descriptor of the folder; if no files can be created there, an error with err->skip
 * "no-directory".
 */
int place_open(struct error *err);

/* Returns -errno, with the message "cannot WHAT a file in FOLDER". */
int place_failed(struct error *err, const char *what);
/*
 * Reads up to `len` bytes of a file from offset `at`, in pieces of 4 MiB. Returns the number of
 * bytes; -ECANCELED if a signal came between two pieces.
 */
ssize_t place_read(int fd, uint8_t *data, size_t len, off_t at, struct error *err);
/* Writes all `len` bytes to offset `at` in the same way; returns 0, or an error as place_read(). */
int place_write(int fd, const uint8_t *data, size_t len, off_t at, struct error *err);
