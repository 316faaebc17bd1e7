/* SPDX-License-Identifier: BSD-2-Clause */
#include <string.h>

#include "workloads.h"

extern const struct workload workload_invoke, workload_shm, workload_session, workload_ta_size,
	workload_call;
extern const struct workload workload_oneshot, workload_stream;
extern const struct workload workload_digest_parts;
extern const struct workload workload_cipher, workload_cipher_steps;
extern const struct workload workload_storage, workload_rng, workload_file;
extern const struct workload workload_same_code, workload_copy_limit;
extern const struct workload workload_sign, workload_verify, workload_derive, workload_encrypt,
	workload_decrypt, workload_encapsulate, workload_decapsulate, workload_keygen,
	workload_key_steps, workload_pkcs11;
extern const struct workload workload_log, workload_time;

/* clang-format off */
const struct workload *const workloads[] = {
	&workload_invoke,
	&workload_shm,
	&workload_session,
	&workload_ta_size,
	&workload_call,
	&workload_oneshot,
	&workload_stream,
	&workload_digest_parts,
	&workload_cipher,
	&workload_cipher_steps,
	&workload_sign,
	&workload_verify,
	&workload_derive,
	&workload_encrypt,
	&workload_decrypt,
	&workload_encapsulate,
	&workload_decapsulate,
	&workload_keygen,
	&workload_key_steps,
	&workload_pkcs11,
	&workload_storage,
	&workload_file,
	&workload_rng,
	&workload_same_code,
	&workload_log,
	&workload_time,
	&workload_copy_limit,
	NULL,
};
/* clang-format on */

const struct workload *workload_by_name(const char *name)
{
	for (size_t i = 0; workloads[i]; i++)
		if (!strcmp(workloads[i]->name, name))
			return workloads[i];
	return NULL;
}
