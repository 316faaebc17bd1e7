/* SPDX-License-Identifier: BSD-2-Clause */
/* Key pairs on P-256 whose private half is there, too: what agrees needs it. */
#include "shim.h"

#include <openssl/ec.h>
#include <openssl/obj_mac.h>

#include "asymmetric.h"

/* X, Y and the secret number, 32 bytes each. */
void shim_agreement_pair(uint8_t parts[96])
{
	EC_KEY *pair = EC_KEY_new_by_curve_name(NID_X9_62_prime256v1);
	BIGNUM *x = BN_new(), *y = BN_new();

	if (EC_KEY_generate_key(pair) != 1 ||
	    EC_POINT_get_affine_coordinates(EC_KEY_get0_group(pair), EC_KEY_get0_public_key(pair),
					    x, y, NULL) != 1)
		shim_panic("EC_KEY_generate_key");
	BN_bn2binpad(x, parts, 32);
	BN_bn2binpad(y, parts + 32, 32);
	BN_bn2binpad(EC_KEY_get0_private_key(pair), parts + 64, 32);
	BN_free(x);
	BN_free(y);
	EC_KEY_free(pair);
}
