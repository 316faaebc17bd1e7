/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "json.h"
#include "open_tas.h"
#include "tee_client.h"

enum { UUID_BYTES = 16, UUID_TEXT = 36 };

static bool parse_uuid(const char *text, uint8_t uuid[UUID_BYTES])
{
	static const char pattern[] = "xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx";
	size_t n = 0;

	if (strlen(text) != UUID_TEXT)
		return false;
	for (size_t i = 0; i < UUID_TEXT;) {
		if (pattern[i] == '-') {
			if (text[i++] != '-')
				return false;
			continue;
		}
		if (strspn(text + i, "0123456789abcdefABCDEF") < 2 ||
		    sscanf(text + i, "%2hhx", &uuid[n++]) != 1)
			return false;
		i += 2;
	}
	return true;
}

static int try(const char *text, const uint8_t b[UUID_BYTES], struct error *err)
{
#ifdef HAVE_TEEC
	TEEC_UUID uuid = {
		.timeLow = (uint32_t)b[0] << 24 | (uint32_t)b[1] << 16 |
			   (uint32_t)b[2] << 8 | b[3],
		.timeMid = (uint16_t)(b[4] << 8 | b[5]),
		.timeHiAndVersion = (uint16_t)(b[6] << 8 | b[7]),
	};
	struct tee_session *session;
	char name[48];
	int ret;

	memcpy(uuid.clockSeqAndNode, b + 8, sizeof(uuid.clockSeqAndNode));
	snprintf(name, sizeof(name), "TA %s", text);
	ret = tee_session_open(&session, &uuid, text, name, err);
	if (!ret)
		tee_session_close(session);
	return ret;
#else
	(void)text;
	(void)b;
	return tee_probe(err);
#endif
}

int open_tas(char **uuids, struct error *err)
{
	uint8_t bytes[UUID_BYTES] = { 0 };
	struct json j = { 0 };
	int ret = 0;

	for (size_t i = 0; uuids[i]; i++)
		if (!parse_uuid(uuids[i], bytes))
			return error_set(err, -EINVAL, "'%s' is no UUID",
					 uuids[i]);
	for (size_t i = 0; uuids[i]; i++) {
		struct error why = { 0 };

		parse_uuid(uuids[i], bytes);
		if (try(uuids[i], bytes, &why))
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
			ret = error_set(err, -ENOMEM, "out of memory");
			break;
		}
		puts(j.text);
	}
	json_free(&j);
	return ret;
}
