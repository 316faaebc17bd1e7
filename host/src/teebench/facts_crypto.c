/* SPDX-License-Identifier: BSD-2-Clause */
/* Facts of the TEE, and of crypto in the kernel and in libraries. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/klog.h>
#include <sys/socket.h>
#include <unistd.h>

#include <linux/netlink.h>
#include <linux/tee.h>

#include <teemark/algorithms.h>

#include "afalg.h"
#include "backend.h"
#include "facts.h"
#include "kernel_crypto.h"
#include "ta_counter.h"
#include "tee_client.h"
#include "tee_device.h"

enum { POOL_MAX = 1 << 30 }; /* bytes: larger pools of shared memory aren't looked for */

/* Returns the kernel's log, which the caller frees; NULL if this user may not read it. */
static char *read_kernel_log(void)
{
	enum { READ_ALL = 3, SIZE_BUFFER = 10 };
	int size = klogctl(SIZE_BUFFER, NULL, 0);
	char *text = size > 0 ? malloc((size_t)size + 1) : NULL;
	int len = text ? klogctl(READ_ALL, text, size) : -1;

	if (len < 0) {
		free(text);
		return NULL;
	}
	text[len] = '\0';
	return text;
}

static const char log_unreadable[] =
	"the kernel's log, where it stands, cannot be read by this user (kernel.dmesg_restrict)";

/* Adds OP-TEE's revision, from sysfs (newer kernels) or else from the kernel's log. */
static void add_revision(struct facts *f, const char *device)
{
	static const char mark[] = "optee: revision ";
	const char *why = "the kernel's log no longer holds \"optee: revision\"";
	char path[64], *text, *line;

	snprintf(path, sizeof(path), "/sys/class/tee/%s/revision", strrchr(device, '/') + 1);
	line = text = read_line(path);
	if (!text || !*text) {
		free(text);
		line = NULL;
		text = read_kernel_log();
		if (!text)
			why = log_unreadable;
		for (char *at = text; at && (at = strstr(at, mark));)
			line = at += strlen(mark); /* the last such line counts */
		if (line)
			line[strcspn(line, "\n")] = '\0';
	}
	fact_string(f, "revision", line, why);
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

/* Returns whether the text contains one of the words; a NULL ends their list. */
static bool has_word(const char *text, const char *const *words)
{
	while (*words && !strstr(text, *words))
		words++;
	return *words;
}

static bool names_driver(const char *line)
{
	static const char *const of_a_trace[] = { "WARNING", "Modules linked", "CPU: ", "+0x",
						  NULL };
	static const char *const words[] = { "hw accel",      "crypto", "accelerat", "-sham",
					     "-aes",          "-des",   "hwrng",     "caam",
					     "requests pump", NULL };

	return !has_word(line, of_a_trace) && has_word(line, words);
}

/* Adds the first 20 lines of the kernel's log that name a crypto driver. */
static void add_driver_log(struct facts *f)
{
	enum { LINES_MAX = 20 };
	char *text = read_kernel_log(), *save = NULL;
	struct lines found = { 0 };
	int count = 0;

	for (char *line = text ? strtok_r(text, "\n", &save) : NULL; line && count < LINES_MAX;
	     line = strtok_r(NULL, "\n", &save)) {
		const char *said = strchr(line, ']'); /* the end of the time stamp */

		if (!said || !names_driver(said))
			continue;
		lines_add(&found, "%s", said + 1 + strspn(said + 1, " "));
		count++;
	}
	fact_lines(f, "driver_log", &found,
		   text ? "no line of the kernel's log names a crypto driver" : log_unreadable);
	free(text);
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
