/* SPDX-License-Identifier: BSD-2-Clause */
#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>

#include "shared_library.h"

/* Finds the path, without symbolic links, of the library that contains a symbol. */
static void find_file(struct shared_library *library, void *symbol)
{
	Dl_info info;
	char *path = NULL;

	if (symbol && dladdr(symbol, &info) && info.dli_fname)
		path = realpath(info.dli_fname, NULL);
	if (path)
		snprintf(library->file, sizeof(library->file), "%s", path);
	free(path);
}

static void load(struct shared_library *library)
{
	const char *const *name = library->names;
	void *handle = dlopen(*name, RTLD_NOW | RTLD_LOCAL);

	/* The first name is the one to install, so its error becomes the reason. */
	if (!handle)
		snprintf(library->why, sizeof(library->why), "%s", dlerror());
	while (!handle && *++name)
		handle = dlopen(*name, RTLD_NOW | RTLD_LOCAL);
	if (!handle)
		return;
	for (const struct symbol *s = library->symbols; s->name; s++) {
		void *symbol = dlsym(handle, s->name);

		if (!symbol && !s->optional) {
			snprintf(library->why, sizeof(library->why), "%s has no %s", *name,
				 s->name);
			dlclose(handle);
			return;
		}
		if (!library->file[0])
			find_file(library, symbol);
		/* POSIX allows a function's address in a void *. */
		memcpy(s->function, &symbol, sizeof(symbol));
	}
	library->name = *name;
}

int shared_library_load(struct shared_library *library, struct error *err)
{
	static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

	pthread_mutex_lock(&lock);
	if (!library->tried)
		load(library);
	library->tried = true;
	pthread_mutex_unlock(&lock);
	if (library->name)
		return 0;
	return error_skip(err, -ENOENT, library->skip, "cannot load %s: %s\n%s", library->title,
			  library->why, library->hint);
}
