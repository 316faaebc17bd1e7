/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Where workloads put their files: the folder TEEMARK_DIR (environment), else
 * the current one. Errors name it.
 */
#ifndef PLACE_H
#define PLACE_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "error.h"

const char *place_directory(void);
/* May files be made there? err->skip "no-directory" */
int place_probe(struct error *err);
/* place_probe(), and the folder's descriptor. */
int place_open(struct error *err);

/* -errno: "cannot WHAT a file". */
int place_failed(struct error *err, const char *what);
/*
 * Up to len bytes of a file from `at` on, in pieces between which a signal can
 * end it (-ECANCELED). Returns the bytes that there were.
 */
ssize_t place_read(int fd, uint8_t *data, size_t len, off_t at, struct error *err);
/* All len bytes; 0. */
int place_write(int fd, const uint8_t *data, size_t len, off_t at, struct error *err);

#endif
