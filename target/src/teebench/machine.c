/* SPDX-License-Identifier: BSD-2-Clause */
#include <unistd.h>

#include "machine.h"
#include "records.h"

void machine_put(struct json *j)
{
	json_string(j, "teebench", TEEMARK_VERSION);
	json_i64(j, "pid", getpid());
}

int machine_print(int as_json, struct error *err)
{
	(void)as_json;
	(void)err;
	return 0;
}
