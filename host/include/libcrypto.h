/* SPDX-License-Identifier: BSD-2-Clause */
/* OpenSSL's libcrypto, opened at run time. */
#pragma once

#include "error.h"

/* Returns the library's version, such as "OpenSSL 3.0.15 …"; NULL with the reason in err. */
const char *libcrypto_version(struct error *err);
