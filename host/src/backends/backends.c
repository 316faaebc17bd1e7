/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdlib.h>
#include <unistd.h>

#include "backend.h"

/* Each NAME of a `const struct backend backend_NAME`, in the order of reports. */
/* clang-format off */
#define BACKENDS(X) \
	X(tee) X(ta_c) X(ta_ce) \
	X(c) X(ce) X(openssl) X(afalg) X(keyctl) \
	X(getrandom) X(urandom) X(hwrng) \
	X(pkcs11) X(empty)
/* clang-format on */
#define DECLARE(name) extern const struct backend backend_##name;
#define LIST(name)    &backend_##name,

BACKENDS(DECLARE)

const struct backend *const backends[] = { BACKENDS(LIST) NULL };

/* A backend with a driver, made on request. There are few of them, so they are never freed. */
struct made {
	struct backend backend;
	struct made *next;
	char name[96], title[96];
};

static struct made *first_made;

const struct backend *backend_made(size_t i)
{
	const struct made *m = first_made;

	while (m && i--)
		m = m->next;
	return m ? &m->backend : NULL;
}

static const struct backend *make(const struct backend *of, const char *name, const char *driver)
{
	struct made *m = calloc(1, sizeof(*m)), **end = &first_made;

	if (!m)
		return NULL;
	snprintf(m->name, sizeof(m->name), "%s", name);
	snprintf(m->title, sizeof(m->title), "%s, %s", of->title, driver);
	m->backend = *of;
	m->backend.name = m->name;
	m->backend.title = m->title;
	m->backend.driver = m->name + (driver - name);
	while (*end)
		end = &(*end)->next;
	*end = m;
	return &m->backend;
}

const struct backend *backend_by_name(const char *name)
{
	const char *colon = strchr(name, ':');
	size_t len = colon ? (size_t)(colon - name) : strlen(name);

	for (const struct made *m = first_made; m; m = m->next)
		if (!strcmp(m->name, name))
			return &m->backend;
	for (size_t i = 0; backends[i]; i++) {
		const struct backend *b = backends[i];

		if (strlen(b->name) != len || strncmp(b->name, name, len))
			continue;
		if (!colon)
			return b;
		return b->drivers_of && colon[1] && strlen(name) < sizeof(first_made->name) ?
			       make(b, name, colon + 1) :
			       NULL;
	}
	return NULL;
}

int backend_probe(const struct backend *backend, struct error *err)
{
	return backend->probe ? backend->probe(err) : 0;
}

int backend_open(const struct backend *backend, enum backend_use use, struct session **session,
		 struct error *err)
{
	int ret;

	*session = NULL;
	if (!(backend->uses & 1u << use))
		return error_skip(err, -EOPNOTSUPP, "unsupported-algorithm",
				  "backend %s has nothing of the kind", backend->name);
	ret = backend_probe(backend, err);
	if (ret)
		return ret;
	*session = calloc(1, backend->session_bytes);
	if (!*session)
		return error_memory(err);
	ret = backend->open ? backend->open(*session, backend, use, err) : 0;
	if (ret) {
		backend_close(backend, *session);
		*session = NULL;
	}
	return ret;
}

void backend_close(const struct backend *backend, struct session *session)
{
	if (session && backend->close)
		backend->close(session);
	free(session);
}

int backend_lacks(const struct backend *backend, const struct algorithm *alg, struct error *err)
{
	return error_skip(err, -EOPNOTSUPP, "unsupported-algorithm", "backend %s has no %s",
			  backend->name, alg->title);
}

size_t keyed_result_len(const struct keyed_job *job)
{
	switch ((enum alg_class)job->alg->class) {
	case ALG_DIGEST:
	case ALG_MAC:
		return job->alg->out_bytes;
	case ALG_AEAD:
		return job->decrypt ? job->len - job->alg->out_bytes :
				      job->len + job->alg->out_bytes;
	case ALG_CIPHER:
		break;
	}
	return job->len;
}

int buffer_alloc(const struct backend *backend, struct session *session, size_t size,
		 struct buffer *buffer, struct error *err)
{
	long page = sysconf(_SC_PAGESIZE);
	void *data = NULL;

	if (backend && backend->buffer_alloc)
		return backend->buffer_alloc(session, size, buffer, err);
	/* Page-aligned like shared memory, so that backends can be compared. */
	if (posix_memalign(&data, page > 0 ? (size_t)page : 4096, size ? size : 1))
		return error_set(err, -ENOMEM, "cannot allocate a buffer of %zu bytes", size);
	*buffer = (struct buffer){ .data = data, .size = size };
	return 0;
}

void buffer_free(const struct backend *backend, struct session *session, struct buffer *buffer)
{
	if (buffer->priv)
		backend->buffer_free(session, buffer);
	else
		free(buffer->data);
	*buffer = (struct buffer){ 0 };
}
