/* SPDX-License-Identifier: BSD-2-Clause */
#include <unistd.h>

#include "cpu.h"
#include "facts.h"
#include "machine.h"
#include "sink.h"
#include "storage.h"

static const struct {
	const char *group;
	void (*collect)(struct facts *f);
} collectors[] = {
	{ "board", facts_of_board },           { "cpu", facts_of_cpu },
	{ "memory", facts_of_memory },         { "clock", facts_of_clock },
	{ "kernel", facts_of_kernel },         { "tee", facts_of_tee },
	{ "ta_counter", facts_of_ta_counter }, { "crypto", facts_of_crypto },
	{ "health", facts_of_health }, /* must be last: runs leave it out */
};

static void put_backend(struct json *j, const char *name, const char *title, bool secure,
			bool local)
{
	json_object(j, NULL);
	json_string(j, "name", name);
	json_string(j, "title", title);
	json_bool(j, "secure", secure);
	json_bool(j, "local", local);
	json_object_end(j);
}

/* Writes the backends and algorithms that case keys name, with titles, in the order of reports. */
static void put_names(struct json *j)
{
	const struct backend *made;

	json_array(j, "backends");
	for (size_t i = 0; backends[i]; i++)
		put_backend(j, backends[i]->name, backends[i]->title, backends[i]->crosses,
			    backends[i]->local);
	for (size_t i = 0; (made = backend_made(i)); i++)
		if (strcmp(made->driver, DRIVER_ANY))
			put_backend(j, made->name, made->title, made->crosses, made->local);
	for (size_t i = 0; stores[i]; i++)
		put_backend(j, stores[i]->name, stores[i]->title, stores[i]->secure, false);
	json_array_end(j);
	json_array(j, "algorithms");
	for (size_t i = 0; i < algorithms_count; i++) {
		json_object(j, NULL);
		json_string(j, "name", algorithms[i].name);
		json_string(j, "title", algorithms[i].title);
		json_string(j, "class", algorithm_class(algorithms[i].class));
		json_u64(j, "block_bytes", algorithms[i].block_bytes);
		json_u64(j, "pad_bytes", algorithms[i].pad_bytes);
		json_u64(j, "out_bytes", algorithms[i].out_bytes);
		json_object_end(j);
	}
	for (size_t i = 0; i < asym_algorithms_count; i++) {
		json_object(j, NULL);
		json_string(j, "name", asym_algorithms[i].name);
		json_string(j, "title", asym_algorithms[i].title);
		json_object_end(j);
	}
	json_array_end(j);
}

void machine_put_after(struct json *j)
{
	struct facts f = { .json = j, .group = "after" };

	json_object(j, "after");
	facts_of_cpu_now(&f);
	facts_of_load(&f);
	json_object_end(j);
	json_free(&f.reasons);
}

void machine_put(struct json *j, const struct ta_counter *counter, bool health)
{
	const size_t groups = sizeof(collectors) / sizeof(*collectors);
	struct facts f = { .json = j, .ta_counter = counter };

	json_string(j, "teebench", TEEMARK_VERSION);
	json_string(j, "built_for", cpu_built_for());
	json_i64(j, "pid", getpid());
	put_names(j);
	json_object(&f.reasons, NULL);
	for (size_t i = 0; i < groups - !health; i++) {
		f.group = collectors[i].group;
		json_object(j, f.group);
		collectors[i].collect(&f);
		json_object_end(j);
	}
	json_object_end(&f.reasons);
	json_embed(j, "reasons", &f.reasons);
	json_free(&f.reasons);
}

int machine_print(struct error *err)
{
	struct ta_counter counter;
	struct json j = { 0 };
	int ret = 0;

	ta_counter_find(&counter);
	json_object(&j, NULL);
	json_string(&j, "type", "machine");
	json_u64(&j, "schema", RECORDS_SCHEMA);
	machine_put(&j, &counter, true);
	json_object_end(&j);
	if (j.failed)
		ret = error_memory(err);
	else
		puts(j.text);
	json_free(&j);
	return ret;
}
