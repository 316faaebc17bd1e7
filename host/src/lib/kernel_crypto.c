/* SPDX-License-Identifier: BSD-2-Clause */
/* Source of the format of /proc/crypto: Linux, crypto/proc.c. */
#include <stdlib.h>

#include "afalg.h"
#include "kernel_crypto.h"

static struct kernel_driver *add(struct kernel_drivers *d)
{
	void *list = realloc(d->list, (d->count + 1) * sizeof(*d->list));

	if (!list)
		return NULL;
	d->list = list;
	d->list[d->count] = (struct kernel_driver){ 0 };
	return &d->list[d->count++];
}

static void take(struct kernel_driver *d, const char *key, const char *value)
{
	const struct {
		const char *key;
		char *text;
		size_t size;
	} texts[] = {
		{ "name", d->name, sizeof(d->name) },
		{ "driver", d->driver, sizeof(d->driver) },
		{ "module", d->module, sizeof(d->module) },
		{ "type", d->type, sizeof(d->type) },
	};

	for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++)
		if (!strcmp(key, texts[i].key))
			snprintf(texts[i].text, texts[i].size, "%s", value);
	if (!strcmp(key, "priority"))
		d->priority = atoi(value);
	else if (!strcmp(key, "refcnt"))
		d->refcount = atoi(value);
	else if (!strcmp(key, "async"))
		d->async = !strcmp(value, "yes");
	else if (!strcmp(key, "internal"))
		d->internal = !strcmp(value, "yes");
}

int kernel_drivers_read(struct kernel_drivers *drivers, struct error *err)
{
	FILE *file = fopen("/proc/crypto", "re");
	struct kernel_driver *d = NULL;
	char line[256], key[32], value[128];
	int ret = 0;

	*drivers = (struct kernel_drivers){ 0 };
	if (!file)
		return error_errno(err, "cannot read /proc/crypto");
	while (!ret && fgets(line, sizeof(line), file)) {
		if (sscanf(line, "%31s : %127[^\n]", key, value) != 2) {
			d = NULL; /* an empty line ends a driver */
			continue;
		}
		if (!d)
			d = add(drivers);
		if (d)
			take(d, key, value);
		else
			ret = error_memory(err);
	}
	fclose(file);
	if (ret)
		kernel_drivers_free(drivers);
	return ret;
}

void kernel_drivers_free(struct kernel_drivers *drivers)
{
	free(drivers->list);
	*drivers = (struct kernel_drivers){ 0 };
}

const struct kernel_driver *kernel_driver_find(const struct kernel_drivers *drivers,
					       const char *name, const char *driver)
{
	for (size_t i = 0; i < drivers->count; i++)
		if (!strcmp(drivers->list[i].name, name) &&
		    !strcmp(drivers->list[i].driver, driver))
			return &drivers->list[i];
	return NULL;
}

/* Returns true if an AF_ALG socket of type `socket` can be bound to drivers of type `type`. */
static bool of_type(const char *type, const char *socket)
{
	static const char *const types[][2] = {
		{ "shash", "hash" },         { "ahash", "hash" }, { "skcipher", "skcipher" },
		{ "lskcipher", "skcipher" }, { "aead", "aead" },  { "rng", "rng" },
	};

	for (size_t i = 0; i < sizeof(types) / sizeof(*types); i++)
		if (!strcmp(types[i][0], type) && !strcmp(types[i][1], socket))
			return true;
	return false;
}

static void try_bind(const char *type, const char *name)
{
	struct afalg s;

	if (!afalg_bind(&s, type, name, name, NULL))
		afalg_close(&s);
}

/* Has the kernel instantiate a template: "cbc(aes-generic)" and so on for "cbc(aes)". */
static int make_instances(const char *type, const char *name, struct error *err)
{
	const char *open = strchr(name, '('), *close = strrchr(name, ')');
	struct kernel_drivers all;
	char inner[64], made[256];
	int ret;

	if (!open || !close || close[1])
		return 0;
	snprintf(inner, sizeof(inner), "%.*s", (int)(close - open - 1), open + 1);
	try_bind(type, inner); /* to load the inner algorithm's modules */
	ret = kernel_drivers_read(&all, err);
	if (ret)
		return ret;
	for (size_t i = 0; i < all.count; i++) {
		const struct kernel_driver *d = &all.list[i];

		if (strcmp(d->name, inner) || d->internal)
			continue;
		snprintf(made, sizeof(made), "%.*s(%s)", (int)(open - name), name, d->driver);
		/* salg_name has 64 bytes. */
		if (strlen(made) < 64)
			try_bind(type, made);
	}
	kernel_drivers_free(&all);
	return 0;
}

static int by_priority(const void *a, const void *b)
{
	const struct kernel_driver *one = a, *other = b;

	if (one->priority != other->priority)
		return one->priority < other->priority ? 1 : -1;
	return strcmp(one->driver, other->driver);
}

int kernel_drivers_of(const char *type, const char *name, struct kernel_drivers *found,
		      struct error *err)
{
	size_t n = 0;
	int ret = afalg_probe(err);

	*found = (struct kernel_drivers){ 0 };
	if (ret)
		return ret;
	try_bind(type, name);
	ret = make_instances(type, name, err);
	if (!ret)
		ret = kernel_drivers_read(found, err);
	if (ret)
		return ret;
	for (size_t i = 0; i < found->count; i++) {
		const struct kernel_driver *d = &found->list[i];

		/* Slashes separate the parts of a case's key, so a driver's name must have none. */
		if (!strcmp(d->name, name) && of_type(d->type, type) && !d->internal &&
		    !strchr(d->driver, '/') && strlen(d->driver) < 64)
			found->list[n++] = *d;
	}
	found->count = n;
	if (n)
		qsort(found->list, n, sizeof(*found->list), by_priority);
	return 0;
}

int kernel_driver_bound(const char *type, const char *name, struct kernel_driver *driver,
			struct error *err)
{
	struct kernel_drivers before = { 0 }, after = { 0 };
	struct afalg first = { 0 }, second = { 0 };
	unsigned n = 0;
	int ret = afalg_bind(&first, type, name, name, err);

	if (!ret)
		ret = kernel_drivers_read(&before, err);
	if (!ret)
		ret = afalg_bind(&second, type, name, name, err);
	if (!ret)
		ret = kernel_drivers_read(&after, err);
	for (size_t i = 0; !ret && i < after.count; i++) {
		const struct kernel_driver *now = &after.list[i], *then;

		if (strcmp(now->name, name) || !of_type(now->type, type))
			continue;
		then = kernel_driver_find(&before, name, now->driver);
		if (then && now->refcount > then->refcount) {
			*driver = *now;
			n++;
		}
	}
	if (!ret && n != 1)
		ret = error_set(err, -ENOENT,
				n ? "the reference counts of several drivers of %s rise" :
				    "no driver's reference count rises with a socket for %s",
				name);
	kernel_drivers_free(&after);
	afalg_close(&second);
	kernel_drivers_free(&before);
	afalg_close(&first);
	return ret;
}
