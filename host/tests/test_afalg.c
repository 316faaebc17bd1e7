/* SPDX-License-Identifier: BSD-2-Clause */
/* The kernel's crypto where some of it is refused: the kernel is the test's. */
#include "harness.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <linux/if_alg.h>

#include "listing.h"

#ifndef AF_ALG
#define AF_ALG 38
#endif

int __wrap_socket(int domain, int type, int protocol);
int __wrap_bind(int fd, const struct sockaddr *address, socklen_t len);
int __wrap_setsockopt(int fd, int level, int name, const void *value,
		      socklen_t len);
int __wrap_accept4(int fd, struct sockaddr *address, socklen_t *len, int flags);

static int bind_errno; /* of a "hash" socket; 0: it can be bound */

int __wrap_socket(int domain, int type, int protocol)
{
	(void)type;
	(void)protocol;
	assert_int_equal(domain, AF_ALG);
	return dup(STDOUT_FILENO);
}

int __wrap_bind(int fd, const struct sockaddr *address, socklen_t len)
{
	const struct sockaddr_alg *alg = (const void *)address;

	(void)fd;
	assert_int_equal(len, sizeof(*alg));
	errno = bind_errno;
	return bind_errno && !strcmp((const char *)alg->salg_type, "hash") ?
		       -1 :
		       0;
}

int __wrap_setsockopt(int fd, int level, int name, const void *value,
		      socklen_t len)
{
	(void)fd;
	(void)level;
	(void)name;
	(void)value;
	(void)len;
	return 0;
}

int __wrap_accept4(int fd, struct sockaddr *address, socklen_t *len, int flags)
{
	(void)address;
	(void)len;
	(void)flags;
	return dup(fd);
}

static bool is_cipher(const struct algorithm *alg)
{
	return alg->class == ALG_CIPHER || alg->class == ALG_AEAD;
}

/* A kernel that refuses hashes has ciphers nevertheless. */
static void test_ciphers_where_hashes_are_refused(void **state)
{
	static const int refusals[] = { EACCES, EPERM, ENOENT, EINVAL };

	(void)state;
	for (size_t i = 0; i < sizeof(refusals) / sizeof(*refusals); i++) {
		struct listing listing = { .workload = "cipher" };
		struct pool pool = { 0 };
		unsigned seen = 0;

		bind_errno = refusals[i];
		listing_add_algorithms(&listing, &pool, DESK_KEYED, is_cipher);
		for (size_t row = 0; row < listing.count; row++) {
			if (strcmp(listing.rows[row].backend, "afalg"))
				continue;
			seen++;
			assert_int_equal(listing.rows[row].why.code, 0);
		}
		assert_true(seen > 0);
		free(listing.rows);
		pool_close(&pool);
	}
}

static void test_a_refused_hash_says_why(void **state)
{
	const struct backend *afalg = backend_by_name("afalg");
	struct error err = { 0 };
	struct session *session;

	(void)state;
	bind_errno = EACCES;
	assert_int_equal(afalg->open(&session, &err), 0);
	assert_int_equal(afalg->supports(session, algorithm_by_name("sha1"),
					 &err),
			 -EPERM);
	assert_string_equal(err.skip, "no-afalg");
	bind_errno = ENOENT;
	assert_int_equal(afalg->supports(session, algorithm_by_name("sha1"),
					 &err),
			 -EOPNOTSUPP);
	assert_string_equal(err.skip, "unsupported-algorithm");
	afalg->close(session);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_ciphers_where_hashes_are_refused),
		cmocka_unit_test(test_a_refused_hash_says_why),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
