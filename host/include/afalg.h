/* SPDX-License-Identifier: BSD-2-Clause */
/* Raw AF_ALG sockets, with errors told apart. */
#ifndef AFALG_H
#define AFALG_H

#include <stddef.h>

#include "error.h"

/*
 * A socket bound to an algorithm: type "hash", "skcipher", "aead", "rng".
 * -errno with the reason; err->skip is "no-afalg" or "unsupported-algorithm".
 */
int afalg_bind(const char *type, const char *name, struct error *err);

/* Bytes that one send() may carry, in a buffer that begins at a page. */
size_t afalg_send_max(void);

#endif
