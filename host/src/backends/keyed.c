/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <string.h>

#include "backend.h"
#include "keyed.h"

extern const struct keyed_backend keyed_tee, keyed_openssl, keyed_afalg,
	keyed_c;

const struct keyed_backend *const keyed_backends[] = {
	&keyed_tee, &keyed_openssl, &keyed_afalg, &keyed_c, NULL,
};

const struct keyed_backend *keyed_backend_by_name(const char *name)
{
	for (size_t i = 0; keyed_backends[i]; i++)
		if (!strcmp(keyed_backends[i]->name, name))
			return keyed_backends[i];
	return NULL;
}

size_t keyed_result_len(const struct keyed_job *job)
{
	switch ((enum alg_class)job->alg->class) {
	case ALG_MAC:
		return job->alg->out_bytes;
	case ALG_AEAD:
		return job->decrypt ? job->len - job->alg->out_bytes :
				      job->len + job->alg->out_bytes;
	case ALG_CIPHER:
	case ALG_DIGEST:
		break;
	}
	return job->len;
}

int keyed_memory(struct keyed *k, size_t size, struct error *err)
{
	struct buffer in, out;
	int ret;

	k->size = size + KEYED_ROOM_BYTES;
	ret = buffer_alloc_plain(NULL, k->size, &in, err);
	if (ret)
		return ret;
	k->in = in.data;
	ret = buffer_alloc_plain(NULL, k->size, &out, err);
	if (ret)
		return ret;
	k->out = out.data;
	/* Written to once: what is measured later finds its pages there. */
	memset(k->in, 0, k->size);
	memset(k->out, 0, k->size);
	return 0;
}

void keyed_memory_free(struct keyed *k)
{
	struct buffer in = { .data = k->in }, out = { .data = k->out };

	buffer_free_plain(NULL, &in);
	buffer_free_plain(NULL, &out);
	k->in = k->out = NULL;
}
