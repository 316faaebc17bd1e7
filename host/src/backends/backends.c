/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "backend.h"

extern const struct backend backend_tee, backend_ta_c, backend_ta_ce, backend_c,
	backend_ce, backend_openssl, backend_afalg, backend_getrandom,
	backend_urandom, backend_hwrng, backend_empty;

/* clang-format off */
const struct backend *const backends[] = {
	&backend_tee,
	&backend_ta_c,
	&backend_ta_ce,
	&backend_c,
	&backend_ce,
	&backend_openssl,
	&backend_afalg,
	&backend_getrandom,
	&backend_urandom,
	&backend_hwrng,
	&backend_empty,
	NULL,
};
/* clang-format on */

const struct backend *backend_by_name(const char *name)
{
	for (size_t i = 0; backends[i]; i++)
		if (!strcmp(backends[i]->name, name))
			return backends[i];
	return NULL;
}

int backend_lacks(const struct backend *backend, const struct algorithm *alg,
		  struct error *err)
{
	return error_skip(err, -EOPNOTSUPP, "unsupported-algorithm",
			  "backend %s has no %s", backend->name, alg->title);
}

int probe_always(struct error *err)
{
	(void)err;
	return 0;
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

int buffer_alloc_plain(struct session *session, size_t size,
		       struct buffer *buffer, struct error *err)
{
	long page = sysconf(_SC_PAGESIZE);
	void *data = NULL;

	(void)session;
	/* Aligned as shared memory is, so that backends compare. */
	if (posix_memalign(&data, page > 0 ? (size_t)page : 4096,
			   size ? size : 1))
		return error_set(err, -ENOMEM,
				 "cannot allocate a buffer of %zu bytes", size);
	buffer->data = data;
	buffer->size = size;
	buffer->priv = NULL;
	return 0;
}

void buffer_free_plain(struct session *session, struct buffer *buffer)
{
	(void)session;
	if (!buffer)
		return;
	free(buffer->data);
	memset(buffer, 0, sizeof(*buffer));
}
