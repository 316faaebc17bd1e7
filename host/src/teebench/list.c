/* SPDX-License-Identifier: BSD-2-Clause */
#include "machine.h"
#include "pkcs11.h"
#include "storage.h"

/* Returns 0 if this machine can run the backend; to find out, it opens a session. */
static int available(const struct backend *backend, struct error *why)
{
	enum backend_use use = backend->uses & 1u << USE_DIGESTS ? USE_DIGESTS :
			       backend->uses & 1u << USE_ASYM    ? USE_ASYM :
								   USE_RANDOM;
	struct session *session;
	int ret = backend_open(backend, use, &session, why);

	backend_close(backend, session);
	/* The workload of the same name computes for this backend. */
	return ret || strcmp(backend->name, "pkcs11") ? ret : pkcs11_probe(why);
}

/* Prints the workload's algorithms or other subjects, and its backends if it isn't for any. */
static void print_workload(const struct workload *w)
{
	printf("\nWorkload %s: %s (parameters: %s)\n ", w->name, w->summary, w->parameters);
	for (size_t i = 0; w->names && w->names[i]; i++)
		printf(" %s", w->names[i]);
	for (size_t i = 0; i < algorithms_count; i++)
		if (w->classes & 1u << algorithms[i].class)
			printf(" %s", algorithms[i].name);
	for (size_t i = 0; w->asym && i < asym_algorithms_count; i++)
		printf(" %s", asym_algorithms[i].name);
	for (size_t i = 0; w->backend && !*w->backend && stores[i]; i++)
		printf("%s %s", i ? "" : "\n  backends:", stores[i]->name);
	printf("%s%s\n", w->backend && *w->backend ? "\n  backend: " : "",
	       w->backend ? w->backend : "");
}

void list_print(void)
{
	printf("Backends\n");
	for (size_t i = 0; backends[i]; i++) {
		struct error why = { 0 };

		if (!available(backends[i], &why)) {
			printf("  %-9s %s\n", backends[i]->name, backends[i]->summary);
			continue;
		}
		printf("  %-9s not here: %s\n", backends[i]->name, why.what);
		if (why.hint[0])
			printf("            hint: %s\n", why.hint);
	}
	for (size_t i = 0; workloads[i]; i++)
		print_workload(workloads[i]);
}
