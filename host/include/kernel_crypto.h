/* SPDX-License-Identifier: BSD-2-Clause */
/* The kernel's crypto drivers, as /proc/crypto lists them. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "error.h"

struct kernel_driver {
	char name[128];   /* of the algorithm: "cbc(aes)" */
	char driver[128]; /* who computes it: "cbc-aes-ce" */
	char module[64];  /* "kernel": it is built in */
	char type[24];    /* "shash", "ahash", "skcipher", … */
	int priority;
	int refcount;
	bool async;    /* it may complete later: an interrupt, another thread */
	bool internal; /* only other drivers may use it */
};

struct kernel_drivers {
	struct kernel_driver *list;
	size_t count;
};

/* Reads all drivers, in the kernel's order. */
int kernel_drivers_read(struct kernel_drivers *drivers, struct error *err);
void kernel_drivers_free(struct kernel_drivers *drivers);

/* Returns the driver of that name that computes `name`; NULL if there is none. */
const struct kernel_driver *kernel_driver_find(const struct kernel_drivers *drivers,
					       const char *name, const char *driver);

/*
 * Finds the drivers that an AF_ALG socket of that type ("hash", "skcipher", "aead", "rng") can be
 * bound to for an algorithm, highest priority first. Binding to the algorithm loads their modules,
 * and makes one of a template such as "cbc(aes)" with each driver of what is inside.
 */
int kernel_drivers_of(const char *type, const char *name, struct kernel_drivers *found,
		      struct error *err);

/*
 * Finds the driver that an AF_ALG socket bound to `name` gets: the one whose reference count rises
 * with another socket.
 */
int kernel_driver_bound(const char *type, const char *name, struct kernel_driver *driver,
			struct error *err);
