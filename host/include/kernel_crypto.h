/* SPDX-License-Identifier: BSD-2-Clause */
/* The kernel's crypto drivers, as /proc/crypto lists them. */
#ifndef KERNEL_CRYPTO_H
#define KERNEL_CRYPTO_H

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
	size_t count, room;
};

/* All of them, in the kernel's order. 0, or -errno with the reason. */
int kernel_drivers_read(struct kernel_drivers *drivers, struct error *err);
void kernel_drivers_free(struct kernel_drivers *drivers);

/* The one of that driver name that computes `name`; NULL: there is none. */
const struct kernel_driver *kernel_driver_find(const struct kernel_drivers *drivers,
					       const char *name, const char *driver);

/*
 * Those that an AF_ALG socket of that type ("hash", "skcipher", "aead", "rng")
 * can be bound to for an algorithm, highest priority first. Their modules are
 * loaded by binding to the algorithm; of a template such as "cbc(aes)" one
 * with each driver of what is inside is asked for. The kernel keeps both until
 * it boots again. 0, or -errno with the reason; none is no error.
 */
int kernel_drivers_of(const char *type, const char *name, struct kernel_drivers *found,
		      struct error *err);

/*
 * Which of them does an AF_ALG socket bound to `name` get? The one whose
 * reference count rises with another socket. 0, or -errno with the reason.
 */
int kernel_driver_bound(const char *type, const char *name, struct kernel_driver *driver,
			struct error *err);

#endif
