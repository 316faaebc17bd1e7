/* SPDX-License-Identifier: BSD-2-Clause */
/* host/include/tee_client_api.h against the header of an installed libteec. */
#include "harness.h"

#include <tee_client_api.h>

#include "teec_facts.h"

static void test_layout_is_that_of_libteec(void **state)
{
	static const struct teec_fact own[] = { TEEC_FACTS };

	(void)state;
	for (size_t i = 0; own[i].what; i++)
		if (own[i].value != real_facts[i].value)
			fail_msg("%s is %llu, libteec's %llu", own[i].what,
				 (unsigned long long)own[i].value,
				 (unsigned long long)real_facts[i].value);
	assert_true(sizeof(TEEC_Context) >= real_context);
	assert_true(sizeof(TEEC_Session) >= real_session);
	assert_true(sizeof(TEEC_SharedMemory) >= real_memory);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_layout_is_that_of_libteec),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
