/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Calls by the kernel's own interface: what is a TEE that doesn't refuse what
 * OP-TEE's core refuses, and what is a failure that says nothing about it.
 */
#include "harness.h"

#include <errno.h>
#include <string.h>
#include <sys/ioctl.h>

#include <linux/tee.h>
#include <tee_client_api.h>

#include "direct.h"
#include "fake_device.h"

int __wrap_ioctl(int fd, unsigned long request, ...);

#define DEAD 0xFFFF3024u

static struct {
	int code; /* errno of the call, 0: it arrives */
	uint32_t result, origin;
	uint32_t open_result;
	unsigned calls;
} device;

int __wrap_ioctl(int fd, unsigned long request, ...)
{
	struct tee_ioctl_buf_data *data;
	struct tee_ioctl_invoke_arg *invoke;
	va_list args;

	(void)fd;
	va_start(args, request);
	data = va_arg(args, void *);
	va_end(args);
	if (request == TEE_IOC_OPEN_SESSION) {
		struct tee_ioctl_open_session_arg *open = (void *)(uintptr_t)data->buf_ptr;

		open->ret = device.open_result;
		open->ret_origin = TEEC_ORIGIN_TEE;
	}
	if (request != TEE_IOC_INVOKE)
		return 0;
	device.calls++;
	invoke = (void *)(uintptr_t)data->buf_ptr;
	invoke->ret = device.result;
	invoke->ret_origin = device.origin;
	errno = device.code;
	return device.code ? -1 : 0;
}

enum { NOT_IMPLEMENTED = 0xFFFF0009 };

static int call(enum direct_kind kind, int code, uint32_t result, uint32_t origin,
		struct error *err)
{
	struct direct *direct;
	int ret;

	memset(err, 0, sizeof(*err));
	memset(&device, 0, sizeof(device));
	assert_int_equal(direct_open(&direct, kind == DIRECT_PSEUDO, err), 0);
	device.code = code;
	device.result = result;
	device.origin = origin;
	ret = direct_call(direct, kind, 3, err);
	direct_close(direct);
	assert_int_equal(ret, err->code);
	assert_int_equal(device.calls, ret ? 1 : 3);
	return ret;
}

static void test_what_is_to_be(void **state)
{
	struct error err;

	(void)state;
	assert_int_equal(call(DIRECT_EMPTY, 0, TEEC_SUCCESS, TEEC_ORIGIN_TRUSTED_APP, &err), 0);
	assert_int_equal(call(DIRECT_REFUSED, 0, TEEC_ERROR_BAD_PARAMETERS, TEEC_ORIGIN_TEE, &err),
			 0);
	assert_int_equal(call(DIRECT_PSEUDO, 0, NOT_IMPLEMENTED, TEEC_ORIGIN_TRUSTED_APP, &err), 0);
}

/* It doesn't count as a pseudo TA's call that the core ended, or that another answer came to. */
static void test_a_pseudo_ta_answers_itself(void **state)
{
	struct error err;

	(void)state;
	assert_true(call(DIRECT_PSEUDO, 0, NOT_IMPLEMENTED, TEEC_ORIGIN_TEE, &err) < 0);
	assert_non_null(strstr(err.what, "cannot call the TEE's pseudo TA"));
	assert_true(call(DIRECT_PSEUDO, 0, TEEC_SUCCESS, TEEC_ORIGIN_TRUSTED_APP, &err) < 0);
}

static void test_another_tee_is_a_skip(void **state)
{
	const struct {
		int code;
		uint32_t result, origin;
	} answers[] = {
		{ EINVAL, 0, 0 },
		{ E2BIG, 0, 0 },
		{ 0, TEEC_SUCCESS, TEEC_ORIGIN_TRUSTED_APP },
		{ 0, TEEC_ERROR_BAD_PARAMETERS, TEEC_ORIGIN_TRUSTED_APP },
		{ 0, TEEC_ERROR_BAD_PARAMETERS, TEEC_ORIGIN_COMMS },
		{ 0, TEEC_ERROR_NOT_SUPPORTED, TEEC_ORIGIN_TEE },
	};
	struct error err;

	(void)state;
	for (size_t i = 0; i < sizeof(answers) / sizeof(*answers); i++) {
		call(DIRECT_REFUSED, answers[i].code, answers[i].result, answers[i].origin, &err);
		assert_string_equal(err.skip, "not-refused");
		assert_non_null(strstr(err.what, "with 5 parameters"));
	}
}

/* It would say of the TEE what isn't so. */
static void test_a_failure_is_none(void **state)
{
	const struct {
		int code;
		uint32_t result;
		const char *what;
	} answers[] = {
		{ ENOMEM, 0, "Cannot allocate memory" },
		{ EINTR, 0, "Interrupted" },
		{ 0, DEAD, "TARGET_DEAD" },
		{ 0, TEEC_ERROR_OUT_OF_MEMORY, "OUT_OF_MEMORY" },
	};
	struct error err;

	(void)state;
	for (size_t i = 0; i < 2 * sizeof(answers) / sizeof(*answers); i++) {
		assert_true(call(i & 1 ? DIRECT_REFUSED : DIRECT_EMPTY, answers[i / 2].code,
				 answers[i / 2].result, TEEC_ORIGIN_TEE, &err) < 0);
		assert_null(err.skip);
		assert_non_null(strstr(err.what, "cannot call the digest TA"));
		assert_non_null(strstr(err.what, answers[i / 2].what));
	}
	assert_true(call(DIRECT_EMPTY, EINVAL, 0, 0, &err) < 0);
	assert_null(err.skip);
	assert_true(call(DIRECT_EMPTY, 0, TEEC_ERROR_BAD_PARAMETERS, TEEC_ORIGIN_TEE, &err) < 0);
	assert_null(err.skip);
}

static void test_no_session(void **state)
{
	struct error err = { 0 };
	struct direct *direct;

	(void)state;
	device.open_result = TEEC_ERROR_ITEM_NOT_FOUND;
	assert_true(direct_open(&direct, false, &err) < 0);
	assert_null(direct);
	assert_non_null(strstr(err.what, "cannot open a session through /dev/tee0"));
	assert_null(err.skip);
	assert_true(direct_open(&direct, true, &err) < 0);
	assert_string_equal(err.skip, "no-pseudo-ta");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_what_is_to_be),
		cmocka_unit_test(test_a_pseudo_ta_answers_itself),
		cmocka_unit_test(test_another_tee_is_a_skip),
		cmocka_unit_test(test_a_failure_is_none),
		cmocka_unit_test(test_no_session),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
