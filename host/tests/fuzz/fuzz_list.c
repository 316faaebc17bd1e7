/* SPDX-License-Identifier: BSD-2-Clause */
/* A list of digests, as somebody sent it with the files: teehash --check. */
#include <stdlib.h>
#include <string.h>

#include "list.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static char line[LIST_LINE_MAX + 1];
	struct list_format format = { 0 };
	enum list_read read;
	size_t len = 0;
	FILE *in;

	if (size < 2)
		return 0;
	format.untagged = &algorithms[data[0] % algorithms_count];
	if (format.untagged->class != ALG_DIGEST)
		format.untagged = algorithm_by_name("sha256");
	if (data[0] & 0x80)
		format.only = format.untagged;
	in = fmemopen((void *)(data + 1), size - 1, "r");
	if (!in)
		return 0;
	while ((read = list_read(in, line, &len)) != LIST_END) {
		struct list_entry entry = { 0 };

		if (read != LIST_LINE)
			continue;
		if (len > LIST_LINE_MAX || strlen(line) > len)
			abort();
		if (!list_parse(&format, line, len, &entry))
			continue;
		if (!entry.alg || entry.alg->class != ALG_DIGEST ||
		    (format.only && entry.alg != format.only))
			abort();
		/* In the line, and no longer than it. */
		if (entry.name < line || entry.name > line + len || strlen(entry.name) > len)
			abort();
	}
	fclose(in);
	return 0;
}
