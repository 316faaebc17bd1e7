/* SPDX-License-Identifier: BSD-2-Clause */
/* OpenSSL's libcrypto, opened at run time, once a process. */
#ifndef LIBCRYPTO_H
#define LIBCRYPTO_H

#include "error.h"

/* For dlsym(); NULL with the reason in err (err->skip "no-libcrypto"). */
void *libcrypto_handle(struct error *err);

/* "OpenSSL 3.0.15 …", NULL when there is none. */
const char *libcrypto_version(void);

#endif
