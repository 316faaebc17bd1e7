/* SPDX-License-Identifier: BSD-2-Clause */
/* The kernel's crypto where some of it is refused: the kernel is the test's. */
#include "harness.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <linux/if_alg.h>

#include "afalg.h"
#include "cases.h"
#include "facts.h"
#include "kernel_crypto.h"

int __wrap_socket(int domain, int type, int protocol);
int __wrap_bind(int fd, const struct sockaddr *address, socklen_t len);
int __wrap_setsockopt(int fd, int level, int name, const void *value, socklen_t len);
int __wrap_accept4(int fd, struct sockaddr *address, socklen_t *len, int flags);
ssize_t __wrap_send(int fd, const void *data, size_t len, int flags);
int __wrap_kill(pid_t pid, int number);
int __real_kill(pid_t pid, int number);
int __wrap_poll(struct pollfd *fds, nfds_t n, int ms);
int __real_poll(struct pollfd *fds, nfds_t n, int ms);
FILE *__wrap_fopen(const char *path, const char *mode);
FILE *__real_fopen(const char *path, const char *mode);

/* /proc/crypto says this; %d is a reference count that rises with each bind. */
static const char drivers[] =
	"name         : sha256\ndriver       : sha256-generic\n"
	"module       : kernel\npriority     : 9999\nrefcnt       : 1\n"
	"selftest     : passed\ninternal     : no\ntype         : shash\n"
	"blocksize    : 64\n\n"
	"name         : sha256\ndriver       : omap-sha256\n"
	"module       : omap_sham\npriority     : 400\nrefcnt       : %d\n"
	"internal     : no\ntype         : ahash\nasync        : yes\n\n"
	"name         : sha256\ndriver       : hidden\npriority     : 500\n"
	"internal     : yes\ntype         : shash\n\n"
	"name         : sha256\ndriver       : a/slash\npriority     : 1\n"
	"internal     : no\ntype         : shash\n\n"
	"name         : sha1\ndriver       : sha1-generic\npriority     : 100\n"
	"internal     : no\ntype         : shash\n\n";
static char crypto[sizeof(drivers) + 8];
static int binds;

FILE *__wrap_fopen(const char *path, const char *mode)
{
	if (strcmp(path, "/proc/crypto"))
		return __real_fopen(path, mode);
	snprintf(crypto, sizeof(crypto), drivers, binds);
	return fmemopen(crypto, strlen(crypto), "r");
}

static char bound[64]; /* the last one's name */
static int bind_errno; /* of a "hash" socket; 0: it can be bound */

/* The doctor's examination, which has processes of its own. */
static pid_t examiner;
static bool no_socket; /* for those processes */
static ssize_t sent;   /* by send(); -1: a driver that never completes it */
static struct {
	volatile sig_atomic_t asked, killed;
} * shared;

int __wrap_socket(int domain, int type, int protocol)
{
	(void)type;
	(void)protocol;
	assert_int_equal(domain, AF_ALG);
	if (no_socket && getpid() != examiner) {
		errno = EMFILE;
		return -1;
	}
	return dup(STDOUT_FILENO);
}

int __wrap_bind(int fd, const struct sockaddr *address, socklen_t len)
{
	const struct sockaddr_alg *alg = (const void *)address;

	(void)fd;
	assert_int_equal(len, sizeof(*alg));
	snprintf(bound, sizeof(bound), "%s", (const char *)alg->salg_name);
	binds++;
	errno = bind_errno;
	return bind_errno && !strcmp((const char *)alg->salg_type, "hash") ? -1 : 0;
}

int __wrap_setsockopt(int fd, int level, int name, const void *value, socklen_t len)
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

/* One that never completes it does so when its process is about to die. */
ssize_t __wrap_send(int fd, const void *data, size_t len, int flags)
{
	(void)fd;
	(void)data;
	(void)flags;
	if (sent >= 0)
		return sent;
	shared->asked = 1;
	while (!shared->killed)
		usleep(1000);
	shared->asked = 0;
	return (ssize_t)len;
}

int __wrap_kill(pid_t pid, int number)
{
	shared->killed = 1;
	while (shared->asked)
		usleep(1000);
	return __real_kill(pid, number);
}

/* Time passes only once a driver that never answers was asked, however late that is. */
int __wrap_poll(struct pollfd *fds, nfds_t n, int ms)
{
	int ready;

	assert_int_equal(ms, 10000);
	do
		ready = __real_poll(fds, n, 1);
	while (!ready && !shared->asked);
	return ready ? ready : __real_poll(fds, n, 0);
}

/* A kernel that refuses hashes has ciphers nevertheless. */
static void test_ciphers_where_hashes_are_refused(void **state)
{
	static const int refusals[] = { EACCES, EPERM, ENOENT, EINVAL };

	(void)state;
	for (size_t i = 0; i < sizeof(refusals) / sizeof(*refusals); i++) {
		static const char *const keys[] = { "cipher/aes-128-cbc/afalg/enc/64",
						    "cipher/aes-256-xts/afalg/dec/64",
						    "cipher/aes-128-gcm/afalg/enc/64" };
		struct case_options options = { .repeats = { 1 }, .n_repeats = 1 };

		bind_errno = refusals[i];
		for (size_t k = 0; k < sizeof(keys) / sizeof(*keys); k++) {
			struct cases cases = { 0 };
			struct pool pool = { 0 };

			assert_int_equal(cases_add_line(&cases, keys[k], 0, &options, NULL), 0);
			assert_int_equal(case_parse(&cases.list[0], &pool, NULL), 0);
			assert_int_equal(case_prepare(&cases.list[0], &pool, NULL), 0);
			case_teardown(&cases.list[0]);
			cases_free(&cases);
			pool_close(&pool);
		}
	}
}

static void test_a_refused_hash_says_why(void **state)
{
	const struct backend *afalg = backend_by_name("afalg");
	struct error err = { 0 };
	struct session *session;

	(void)state;
	bind_errno = EACCES;
	assert_int_equal(backend_open(afalg, USE_DIGESTS, &session, &err), 0);
	assert_int_equal(afalg->digest_init(session, algorithm_by_name("sha1"), &err), -EPERM);
	assert_string_equal(err.skip, "no-afalg");
	bind_errno = ENOENT;
	assert_int_equal(afalg->digest_init(session, algorithm_by_name("sha1"), &err), -EOPNOTSUPP);
	assert_string_equal(err.skip, "unsupported-algorithm");
	backend_close(afalg, session);
}

static void test_drivers_of_an_algorithm(void **state)
{
	struct kernel_drivers found;

	(void)state;
	bind_errno = 0;
	assert_int_equal(kernel_drivers_of("hash", "sha256", &found, NULL), 0);
	assert_int_equal(found.count, 2);
	assert_string_equal(found.list[0].driver, "sha256-generic");
	assert_string_equal(found.list[1].driver, "omap-sha256");
	assert_string_equal(found.list[1].module, "omap_sham");
	assert_true(found.list[1].async);
	kernel_drivers_free(&found);
}

/* The driver is found by its reference count: the priority may say anything. */
static void test_the_driver_that_is_bound(void **state)
{
	struct kernel_driver driver;

	(void)state;
	assert_int_equal(kernel_driver_bound("hash", "sha256", &driver, NULL), 0);
	assert_string_equal(driver.driver, "omap-sha256");
}

static void test_a_driver_is_bound_by_its_name(void **state)
{
	const struct backend *one = backend_by_name("afalg:omap-sha256");
	struct error err = { 0 };
	struct session *session;

	(void)state;
	assert_ptr_equal(one, backend_by_name("afalg:omap-sha256"));
	assert_string_equal(one->driver, "omap-sha256");
	assert_null(backend_by_name("c:omap-sha256"));
	assert_null(backend_by_name("afalg:"));
	assert_int_equal(backend_open(one, USE_DIGESTS, &session, &err), 0);
	assert_int_equal(one->digest_init(session, algorithm_by_name("sha256"), &err), 0);
	assert_string_equal(bound, "omap-sha256");
	/* It is another algorithm's. */
	assert_int_equal(one->digest_init(session, algorithm_by_name("sha1"), &err), -EOPNOTSUPP);
	assert_string_equal(err.skip, "no-driver");
	backend_close(one, session);
}

static void test_any_driver_is_a_case_of_each(void **state)
{
	const struct case_options defaults = { .samples = 3, .repeats = { 1 }, .n_repeats = 1 };
	struct cases cases = { 0 };

	(void)state;
	assert_int_equal(cases_add_line(&cases, "oneshot/sha256/afalg:*/64", 1, &defaults, NULL),
			 0);
	assert_int_equal(cases_add_line(&cases, "oneshot/sha256/afalg:omap-sha256/64", 2, &defaults,
					NULL),
			 0);
	assert_int_equal(cases_add_line(&cases, "oneshot/sha3-512/afalg:*/64", 3, &defaults, NULL),
			 0);
	assert_int_equal(cases_expand(&cases, NULL), 0);
	assert_int_equal(cases.count, 3);
	assert_string_equal(cases.list[0].key, "oneshot/sha256/afalg:sha256-generic/64");
	assert_int_equal(cases.list[0].options.samples, 3);
	assert_string_equal(cases.list[1].key, "oneshot/sha256/afalg:omap-sha256/64");
	assert_string_equal(cases.list[2].key, "oneshot/sha3-512/afalg:*/64");
	cases_free(&cases);
}

static void check_steps(const char *steps)
{
	struct json json = { 0 };
	struct facts facts = { .json = &json, .group = "health" };
	char *found, *end;

	bind_errno = 0;
	examiner = getpid();
	shared->killed = 0;
	facts_of_health(&facts);
	found = strstr(json.text, "\"afalg_steps\":[\"");
	assert_non_null(found);
	found += strlen("\"afalg_steps\":[\"");
	end = strstr(found, "\"]");
	assert_non_null(end);
	*end = '\0';
	/* Lines are strings of a list there. */
	while ((end = strstr(found, "\",\""))) {
		*end = '\n';
		memmove(end + 1, end + 3, strlen(end + 3) + 1);
	}
	assert_string_equal(found, steps);
	json_free(&json);
	json_free(&facts.reasons);
	assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
	assert_int_equal(errno, ECHILD);
}

/* The examination ends, and names the driver, even if that answers just then. */
static void test_a_driver_that_never_answers(void **state)
{
	(void)state;
	sent = -1;
	check_steps("socket: ok\nhash socket: ok\nhash bind: ok\nhash accept: ok\n"
		    "hash send: 110 no answer in 10 s from omap-sha256\n"
		    "skcipher socket: ok\nskcipher bind: ok\naead socket: ok\n"
		    "aead bind: ok\nrng socket: ok\nrng bind: ok");
}

/* No error of the system's: what was wrong before is not the reason. */
static void test_a_driver_that_takes_or_gives_too_little(void **state)
{
	(void)state;
	sent = 2;
	check_steps("socket: ok\nhash socket: ok\nhash bind: ok\nhash accept: ok\n"
		    "hash send: 5 Input/output error\n"
		    "skcipher socket: ok\nskcipher bind: ok\naead socket: ok\n"
		    "aead bind: ok\nrng socket: ok\nrng bind: ok");
	sent = 3;
	check_steps("socket: ok\nhash socket: ok\nhash bind: ok\nhash accept: ok\n"
		    "hash send: ok\nhash receive: 5 Input/output error\n"
		    "skcipher socket: ok\nskcipher bind: ok\naead socket: ok\n"
		    "aead bind: ok\nrng socket: ok\nrng bind: ok");
}

static void test_a_process_that_gets_no_socket(void **state)
{
	(void)state;
	no_socket = true;
	check_steps("socket: ok\nhash socket: 24 Too many open files\n"
		    "skcipher socket: 24 Too many open files\n"
		    "aead socket: 24 Too many open files\n"
		    "rng socket: 24 Too many open files");
	no_socket = false;
}

static int prepare(void **state)
{
	(void)state;
	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
		      0);
	return shared == MAP_FAILED ? -1 : 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_ciphers_where_hashes_are_refused),
		cmocka_unit_test(test_a_refused_hash_says_why),
		cmocka_unit_test(test_drivers_of_an_algorithm),
		cmocka_unit_test(test_the_driver_that_is_bound),
		cmocka_unit_test(test_a_driver_is_bound_by_its_name),
		cmocka_unit_test(test_any_driver_is_a_case_of_each),
		cmocka_unit_test(test_a_driver_that_never_answers),
		cmocka_unit_test(test_a_driver_that_takes_or_gives_too_little),
		cmocka_unit_test(test_a_process_that_gets_no_socket),
	};

	return cmocka_run_group_tests(tests, prepare, NULL);
}
