/* SPDX-License-Identifier: BSD-2-Clause */
/* OpenSSL's libcrypto as it was found; each NULL with the reason in err. */
#pragma once

#include "error.h"

/* Returns the library's version, such as "OpenSSL 3.0.15 …"; NULL with the reason in err. */
const char *libcrypto_version(struct error *err);
