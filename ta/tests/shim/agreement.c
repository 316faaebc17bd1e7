/* SPDX-License-Identifier: BSD-2-Clause */
/* Key pairs on X25519 whose private half is there, too: what agrees needs it. */
#include "shim.h"

#include <openssl/evp.h>

#include "asymmetric.h"

/* The public and the private half, 32 bytes each. */
void shim_agreement_pair(uint8_t parts[64])
{
	EVP_PKEY *pair = EVP_PKEY_Q_keygen(NULL, NULL, "X25519");
	size_t len = 32;

	if (!pair || EVP_PKEY_get_raw_public_key(pair, parts, &len) != 1 ||
	    EVP_PKEY_get_raw_private_key(pair, parts + 32, &len) != 1)
		shim_panic("EVP_PKEY_Q_keygen");
	EVP_PKEY_free(pair);
}
