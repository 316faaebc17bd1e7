/* SPDX-License-Identifier: BSD-2-Clause */
/* The TEE, and who computes in the kernel and in libraries. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/klog.h>
#include <unistd.h>

#include <linux/tee.h>

#include <teemark/algorithms.h>

#include "afalg.h"
#include "facts.h"
#include "kernel_crypto.h"
#include "libcrypto.h"
#include "ta_counter.h"
#include "tee_client.h"
#include "tee_device.h"

static const char *implementation_name(unsigned id)
{
	switch (id) {
	case TEE_IMPL_ID_OPTEE:
		return "OP-TEE";
	case 2: /* TEE_IMPL_ID_AMDTEE, in newer headers */
		return "AMD-TEE";
	case 3: /* TEE_IMPL_ID_TSTEE */
		return "Arm Trusted Services";
	default:
		return "an implementation that is not known here";
	}
}

/* From sysfs (newer kernels), else from the kernel's log. */
static void add_revision(struct facts *f, const char *device)
{
	enum { READ_ALL = 3, SIZE_BUFFER = 10 };
	static const char mark[] = "optee: revision ";
	char path[64], *text, *line = NULL;
	const char *why = "the kernel's log no longer holds \"optee: "
			  "revision\"";
	int size, len;

	snprintf(path, sizeof(path), "/sys/class/tee/%s/revision",
		 strrchr(device, '/') + 1);
	text = read_line(path);
	if (text && text[0]) {
		fact_string(f, "revision", text, NULL);
		fact_string(f, "revision_from", path, NULL);
		free(text);
		return;
	}
	free(text);

	size = klogctl(SIZE_BUFFER, NULL, 0);
	text = size > 0 ? malloc((size_t)size + 1) : NULL;
	len = text ? klogctl(READ_ALL, text, size) : -1;
	if (len < 0) {
		why = "the kernel's log, where it stands, cannot be read by "
		      "this user (kernel.dmesg_restrict)";
	} else {
		text[len] = '\0';
		for (char *at = text; (at = strstr(at, mark)); at++)
			line = at; /* the last one */
	}
	if (line) {
		line += strlen(mark);
		line[strcspn(line, "\n")] = '\0';
	}
	fact_string(f, "revision", line, why);
	fact_string(f, "revision_from", line ? "kernel log" : NULL, why);
	free(text);
}

static const char *supplicant_name(enum supplicant state)
{
	switch (state) {
	case SUPPLICANT_RUNNING:
		return "running";
	case SUPPLICANT_STOPPED:
		return "stopped";
	case SUPPLICANT_ABSENT:
		return "not running";
	case SUPPLICANT_UNKNOWN:
		break;
	}
	return NULL;
}

void facts_of_tee(struct facts *f)
{
	struct tee_ioctl_version_data version = { 0 };
	struct error err = { 0 }, missing = { 0 };
	char device[32];
	int fd = tee_device_open(device, sizeof(device), &err);

	fact_string(f, "libteec", tee_library_file(&missing), missing.what);
	fact_string(f, "supplicant", supplicant_name(tee_supplicant_state()),
		    "cannot read /proc");
	if (fd < 0) {
		fact_unknown(f, "device", err.what);
		fact_unknown(f, "implementation", err.what);
		fact_unknown(f, "capabilities", err.what);
		fact_unknown(f, "revision", err.what);
		return;
	}
	fact_string(f, "device", device, NULL);
	if (!ioctl(fd, TEE_IOC_VERSION, &version)) {
		struct lines caps = { 0 };

		fact_string(f, "implementation",
			    implementation_name(version.impl_id), NULL);
		if (version.gen_caps & TEE_GEN_CAP_GP)
			lines_add(&caps, "GlobalPlatform");
		if (version.gen_caps & TEE_GEN_CAP_PRIVILEGED)
			lines_add(&caps, "privileged");
		if (version.gen_caps & TEE_GEN_CAP_REG_MEM)
			lines_add(&caps, "registered memory");
		if (version.gen_caps & 1 << 3) /* TEE_GEN_CAP_MEMREF_NULL */
			lines_add(&caps, "null memory references");
		fact_list(f, "capabilities", caps.text,
			  "the device names "
			  "none");
		free(caps.text);
	} else {
		fact_unknown(f, "implementation", strerror(errno));
		fact_unknown(f, "capabilities", strerror(errno));
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
	fact_number(f, "hz", counter->hz);
	fact_decimal(f, "resolution_ns", 1e9 / counter->hz);
}

/* Of the algorithms that are measured. */
static bool is_relevant(const char *name)
{
	for (size_t i = 0; i < algorithms_count; i++)
		if (algorithms[i].kernel && !strcmp(name, algorithms[i].kernel))
			return true;
	return !strcmp(name, "stdrng");
}

/* "sha256 sha256-ce priority 200 shash module sha2_ce" of /proc/crypto */
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
			lines_add(&lines, "%s %s priority %d %s module %s",
				  d->name, d->driver, d->priority, d->type,
				  d->module);
	}
	fact_list(f, "kernel_drivers", lines.text,
		  "/proc/crypto lists none of the algorithms measured (their "
		  "modules are loaded on first use)");
	kernel_drivers_free(&all);
	free(lines.text);
}

void facts_of_crypto(struct facts *f)
{
	struct error err = { 0 };
	char *rng;

	fact_string(f, "libcrypto", libcrypto_version(&err), err.what);
	fact_string(f, "libcrypto_file", libcrypto_file(&err), err.what);
	if (!afalg_probe(&err))
		fact_bool(f, "afalg", true);
	else
		fact_unknown(f, "afalg", err.what);
	add_drivers(f);
	rng = read_line("/sys/class/misc/hw_random/rng_current");
	fact_string(f, "hwrng", rng && strcmp(rng, "none") ? rng : NULL,
		    "the kernel has no hardware random source in use");
	free(rng);
}
