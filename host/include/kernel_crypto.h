/* SPDX-License-Identifier: BSD-2-Clause */
/* The kernel's crypto drivers, as /proc/crypto lists them. */
#pragma once

#include "error.h"

struct kernel_driver {
	char name[128];   /* name of the algorithm: "cbc(aes)" */
	char driver[128]; /* name of the driver: "cbc-aes-ce" */
	char module[64];  /* "kernel" if it is built in */
	char type[24];    /* "shash", "ahash", "skcipher", … */
	int priority;
	int refcount;
	bool async;    /* may complete later, by an interrupt or another thread */
	bool internal; /* for the use of other drivers only */
};

struct kernel_drivers {
	struct kernel_driver *list;
	size_t count;
};

/* Reads all drivers, in the kernel's order. */
int kernel_drivers_read(struct kernel_drivers *drivers, struct error *err);
void kernel_drivers_free(struct kernel_drivers *drivers);

/* Returns the driver called `driver` that computes `name`; NULL if there is none. */
const struct kernel_driver *kernel_driver_find(const struct kernel_drivers *drivers,
					       const char *name, const char *driver);

/*
 * Finds the drivers that an AF_ALG socket of that type ("hash", "skcipher", "aead", "rng") can be
 * bound to for an algorithm, highest priority first. Binding to the algorithm loads its modules.
 * For a template such as "cbc(aes)" the kernel is asked to combine it with each driver of the inner
 * algorithm.
 */
int kernel_drivers_of(const char *type, const char *name, struct kernel_drivers *found,
		      struct error *err);

/*
 * Finds the driver that an AF_ALG socket bound to `name` uses: the one whose reference count rises
 * when another socket is bound.
 */
int kernel_driver_bound(const char *type, const char *name, struct kernel_driver *driver,
			struct error *err);
