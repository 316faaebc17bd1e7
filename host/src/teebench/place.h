/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Workloads put their files into the folder TEEMARK_DIR (environment), else into the current one.
 * Errors name it.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "error.h"

const char *place_directory(void);
/* Returns 0 if files may be made there; err->skip is "no-directory" otherwise. */
int place_probe(struct error *err);
/* place_probe(), and the folder's descriptor. */
int place_open(struct error *err);

/* Returns -errno with "cannot WHAT a file". */
int place_failed(struct error *err, const char *what);
/*
 * Reads up to len bytes of a file from `at` on, in pieces between which a signal can end it
 * (-ECANCELED). Returns the number of bytes.
 */
ssize_t place_read(int fd, uint8_t *data, size_t len, off_t at, struct error *err);
/* Writes all len bytes likewise; returns 0. */
int place_write(int fd, const uint8_t *data, size_t len, off_t at, struct error *err);
