/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Where workloads put their files: the folder TEEMARK_DIR (environment), else
 * the current one.
 */
#ifndef PLACE_H
#define PLACE_H

#include "error.h"

struct json;

const char *place_directory(void);
/* May files be made there? err->skip "no-directory" */
int place_probe(struct error *err);
/* "file_system", by name where it is known; dir is open there. */
void place_put(int dir, struct json *json);

#endif
