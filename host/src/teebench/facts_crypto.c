/* SPDX-License-Identifier: BSD-2-Clause */
/* Facts of the TEE, and of crypto in the kernel and in libraries. */
#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <linux/netlink.h>
#include <linux/tee.h>

#include "afalg.h"
#include "backend.h"
#include "facts.h"
#include "kernel_crypto.h"
#include "ta_counter.h"
#include "tee_client.h"
#include "tee_device.h"

enum { POOL_MAX = 1 << 30 }; /* bytes: larger pools of shared memory aren't looked for */

/* Adds OP-TEE's revision, from sysfs (newer kernels) or else from the kernel's log. */
static void add_revision(struct facts *f, const char *device)
{
	char path[64], *text;

	snprintf(path, sizeof(path), "/sys/class/tee/%s/revision", strrchr(device, '/') + 1);
	text = read_line(path);
	if (!text || !*text) {
		free(text);
		text = read_output("dmesg | sed -n 's/.*optee: revision //p' | tail -n 1", 256);
	}
	fact_string(f, "revision", text,
		    "neither /sys nor the kernel's log tells it, which only root may be allowed to "
		    "read (kernel.dmesg_restrict)");
	free(text);
}

/*
 * Writes the size of the largest buffer that can be shared with the TEE now, if shared memory is a
 * pool: a TEE that lets programs register their own memory has none. Nothing else tells that size.
 */
static void add_pool(struct facts *f, int fd, uint32_t capabilities)
{
	size_t fits = 0, refused = POOL_MAX;

	if (capabilities & TEE_GEN_CAP_REG_MEM) {
		fact_unknown(f, "pool_bytes", "shared memory isn't a fixed pool");
		return;
	}
	while (refused - fits > 1) {
		size_t size = fits + (refused - fits) / 2;
		struct tee_ioctl_shm_alloc_data data = { .size = size };
		int shared = ioctl(fd, TEE_IOC_SHM_ALLOC, &data);

		if (shared < 0) {
			refused = size;
		} else {
			fits = size;
			close(shared);
		}
	}
	json_i64(f->json, "pool_bytes", (int64_t)fits);
}

void facts_of_tee(struct facts *f)
{
	static const char *const supplicants[] = {
		[SUPPLICANT_RUNNING] = "running",
		[SUPPLICANT_STOPPED] = "stopped",
		[SUPPLICANT_ABSENT] = "not running",
		[SUPPLICANT_UNKNOWN] = NULL,
	};
	struct tee_ioctl_version_data version = { 0 };
	struct error err = { 0 }, missing = { 0 };
	char device[32];
	int fd = tee_device_open(device, sizeof(device), &err);

	fact_string(f, "libteec", tee_library_file(&missing), missing.what);
	fact_string(f, "supplicant", supplicants[tee_supplicant_state()], "cannot read /proc");
	fact_string(f, "device", fd < 0 ? NULL : device, err.what);
	if (fd >= 0 && ioctl(fd, TEE_IOC_VERSION, &version))
		error_errno(&err, "cannot ask %s for its version", device);
	if (err.code) {
		fact_unknown(f, "impl_id", err.what);
		fact_unknown(f, "gen_caps", err.what);
		fact_unknown(f, "pool_bytes", err.what);
	} else {
		json_i64(f->json, "impl_id", version.impl_id);
		json_i64(f->json, "gen_caps", version.gen_caps);
		add_pool(f, fd, version.gen_caps);
	}
	if (fd < 0) {
		fact_unknown(f, "revision", err.what);
		return;
	}
	close(fd);
	add_revision(f, device);
}

void facts_of_ta_counter(struct facts *f)
{
	const struct ta_counter *counter = f->ta_counter;

	if (!counter->clock) {
		fact_unknown(f, "name", counter->reason);
		fact_unknown(f, "hz", counter->reason);
		fact_unknown(f, "resolution_ns", counter->reason);
		return;
	}
	fact_string(f, "name", ta_counter_name(counter->clock), NULL);
	json_i64(f->json, "hz", counter->hz);
	json_double(f->json, "resolution_ns", 1e9 / counter->hz);
}

/* Returns whether `name` is the kernel's name of an algorithm that teebench measures. */
static bool is_relevant(const char *name)
{
	for (size_t i = 0; i < algorithms_count; i++)
		if (algorithms[i].kernel && !strcmp(name, algorithms[i].kernel))
			return true;
	return !strcmp(name, "stdrng");
}

/*
 * Adds a line such as "sha256 sha256-ce priority 200 shash module sha2_ce" for each driver of
 * /proc/crypto.
 */
static void add_drivers(struct facts *f)
{
	struct kernel_drivers all;
	struct lines lines = { 0 };
	struct error err = { 0 };

	if (kernel_drivers_read(&all, &err)) {
		fact_unknown(f, "kernel_drivers", err.what);
		return;
	}
	for (size_t i = 0; i < all.count; i++) {
		const struct kernel_driver *d = &all.list[i];

		if (is_relevant(d->name))
			lines_add(&lines, "%s %s priority %d %s module %s", d->name, d->driver,
				  d->priority, d->type, d->module);
	}
	fact_lines(f, "kernel_drivers", &lines,
		   "/proc/crypto lists none of the algorithms measured (their "
		   "modules are loaded on first use)");
	kernel_drivers_free(&all);
}

/* Adds the first 20 lines of the kernel's log that name a crypto driver, but in no trace. */
static void add_driver_log(struct facts *f)
{
	char *found = read_output(
		"dmesg | sed 's/^[^]]*] *//' | grep -vE 'WARNING|Modules linked|CPU: |[+]0x' | "
		"grep -E 'hw accel|crypto|accelerat|-sham|-aes|-des|hwrng|caam|requests pump' | "
		"head -n 20",
		1 << 14);

	fact_list(f, "driver_log", found,
		  "no line of the kernel's log names a crypto driver, or only root may read it "
		  "(kernel.dmesg_restrict)");
	free(found);
}

/* Adds the errno of opening a NETLINK_CRYPTO socket (CONFIG_CRYPTO_USER), libkcapi's first step. */
static void add_netlink(struct facts *f)
{
	int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_CRYPTO);

	json_i64(f->json, "netlink_errno", fd < 0 ? errno : 0);
	if (fd >= 0)
		close(fd);
}

void facts_of_crypto(struct facts *f)
{
	struct error err = { 0 };
	char *rng;

	fact_string(f, "libcrypto", libcrypto_version(&err), err.what);
	if (!afalg_probe(&err))
		json_bool(f->json, "afalg", true);
	else
		fact_unknown(f, "afalg", err.what);
	add_netlink(f);
	add_drivers(f);
	add_driver_log(f);
	rng = read_line("/sys/class/misc/hw_random/rng_current");
	fact_string(f, "hwrng", rng && strcmp(rng, "none") ? rng : NULL,
		    "the kernel has no hardware random source in use");
	free(rng);
}
