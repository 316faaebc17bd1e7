/* SPDX-License-Identifier: BSD-2-Clause */
#include "workload.h"

/* The NAMEs of all `const struct workload workload_NAME`, in the order of --list. */
/* clang-format off */
#define WORKLOADS(X) \
	X(invoke) X(shm) X(session) X(ta_size) X(parallel) X(call) \
	X(oneshot) X(stream) X(digest_parts) \
	X(cipher) X(cipher_steps) \
	X(sign) X(verify) X(derive) X(encrypt) X(decrypt) X(encapsulate) X(decapsulate) \
	X(keygen) X(key_steps) X(pkcs11) \
	X(storage) X(file) X(rng) X(same_code) X(log) X(time) X(copy_limit)
/* clang-format on */
#define DECLARE(name) extern const struct workload workload_##name;
#define LIST(name)    &workload_##name,

WORKLOADS(DECLARE)

const struct workload *const workloads[] = { WORKLOADS(LIST) NULL };

const struct workload *workload_by_name(const char *name)
{
	for (size_t i = 0; workloads[i]; i++)
		if (!strcmp(workloads[i]->name, name))
			return workloads[i];
	return NULL;
}
