/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <stdio.h>

#include "json.h"
#include "open_tas.h"
#include "tee_client.h"

static int try(const char *text, const TEEC_UUID *uuid, struct error *err)
{
	struct tee_session *session;
	char name[48];
	int ret;

	snprintf(name, sizeof(name), "TA %s", text);
	ret = tee_session_open(&session, uuid, name, err);
	if (!ret)
		tee_session_close(session);
	return ret;
}

int open_tas(char **uuids, struct error *err)
{
	TEEC_UUID uuid;
	struct json j = { 0 };
	int ret = 0;

	for (size_t i = 0; uuids[i]; i++)
		if (!tee_uuid(uuids[i], &uuid))
			return error_set(err, -EINVAL, "'%s' is no UUID", uuids[i]);
	for (size_t i = 0; uuids[i]; i++) {
		struct error why = { 0 };

		tee_uuid(uuids[i], &uuid);
		if (try(uuids[i], &uuid, &why))
			ret = -EIO;
		json_reset(&j);
		json_object(&j, NULL);
		json_string(&j, "ta", uuids[i]);
		json_bool(&j, "opened", !why.code);
		json_bool(&j, "memory", error_tee_memory(&why));
		json_string_or_null(&j, "code", why.skip);
		json_string_or_null(&j, "reason", why.what);
		json_string_or_null(&j, "hint", why.hint);
		json_object_end(&j);
		if (j.failed) {
			ret = error_memory(err);
			break;
		}
		puts(j.text);
	}
	json_free(&j);
	return ret;
}
