/* SPDX-License-Identifier: BSD-2-Clause */
/* Facts of the board, memory, clock and kernel. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>
#ifdef __GLIBC__
#include <gnu/libc-version.h>
#endif

#include "clock.h"
#include "facts.h"

#define DEVICE_TREE "/proc/device-tree"

/* Adds the value of a line of /proc/meminfo, converted from KiB to bytes. */
static void add_meminfo(struct facts *f, const char *name, const char *text, const char *of_line)
{
	char kib[32];

	if (line_value(text, of_line, kib, sizeof(kib)))
		json_i64(f->json, name, strtoll(kib, NULL, 10) * 1024);
	else
		fact_unknown(f, name, cannot_read("/proc/meminfo"));
}

void facts_of_memory(struct facts *f)
{
	char *text = read_whole("/proc/meminfo", 8192);

	add_meminfo(f, "total_bytes", text, "MemTotal");
	add_meminfo(f, "available_bytes", text, "MemAvailable");
	free(text);
}

void facts_of_clock(struct facts *f)
{
	const char *path = "/sys/devices/system/clocksource/clocksource0/current_clocksource";
	struct clock_facts c;
	char *source;

	clock_measure(&c);
	fact_string(f, "name", "CLOCK_MONOTONIC_RAW", NULL);
	json_i64(f->json, "resolution_ns", (int64_t)c.resolution_ns);
	json_i64(f->json, "reading_ns", (int64_t)c.cost_ns);
	source = read_line(path);
	fact_string(f, "clocksource", source, cannot_read(path));
	free(source);
}

/*
 * Adds whether the CPU is emulated. A guest can't see this directly, but KVM gives a guest no
 * secure world: if QEMU's board has a TEE device, the CPU is emulated.
 */
static void add_emulated(struct facts *f, const char *compatible)
{
	bool guest = compatible && strstr(compatible, "linux,dummy-virt");

	if (compatible && (!guest || !access("/dev/tee0", F_OK)))
		json_bool(f->json, "emulated", guest);
	else
		fact_unknown(f, "emulated", "a guest cannot tell emulation from virtualization");
}

void facts_of_board(struct facts *f)
{
	char *model = read_line(DEVICE_TREE "/model");
	char *compatible = read_whole(DEVICE_TREE "/compatible", 4096);
	const char *why = "there is no device tree here";

	fact_string(f, "model", model, why);
	fact_list(f, "compatible", compatible, why);
	add_emulated(f, compatible);
	free(model);
	free(compatible);
}

static void add_options(struct facts *f)
{
	char names[] = "OPTEE TEE RPMB CRYPTO_HW CRYPTO_ENGINE CRYPTO_DEV_OMAP "
		       "CRYPTO_DEV_OMAP_SHAM CRYPTO_DEV_OMAP_AES CRYPTO_DEV_OMAP_DES CRYPTO_USER "
		       "CRYPTO_USER_API CRYPTO_USER_API_HASH CRYPTO_USER_API_SKCIPHER "
		       "CRYPTO_USER_API_RNG CRYPTO_USER_API_AEAD CRYPTO_SHA256_ARM64 "
		       "CRYPTO_SHA2_ARM64_CE CRYPTO_SHA1_ARM64_CE CRYPTO_AES_ARM64_CE "
		       "CRYPTO_DEV_VIRTIO HW_RANDOM HW_RANDOM_OPTEE HZ NO_HZ_FULL NO_HZ_IDLE "
		       "PREEMPT PREEMPT_RT PREEMPT_DYNAMIC PREEMPT_VOLUNTARY PREEMPT_NONE "
		       "SCHEDSTATS SCHED_INFO CPU_FREQ ARM64_4K_PAGES ARM64_64K_PAGES "
		       "VIRT_CPU_ACCOUNTING_GEN TICK_CPU_ACCOUNTING KASAN LOCKDEP DEBUG_PREEMPT";
	char *save = NULL;
	struct lines lines = { 0 };
	char option[80], value[80];
	char *config = read_output("zcat /proc/config.gz || cat /boot/config-$(uname -r) || "
				   "cat /lib/modules/$(uname -r)/config || "
				   "cat /lib/modules/$(uname -r)/build/.config",
				   1 << 20);

	for (char *name = config && *config ? strtok_r(names, " ", &save) : NULL; name;
	     name = strtok_r(NULL, " ", &save)) {
		snprintf(option, sizeof(option), "CONFIG_%s", name);
		/* An option that isn't set occurs only in a comment. */
		if (!line_value(config, option, value, sizeof(value)))
			strcpy(value, "n");
		lines_add(&lines, "%s=%s", option, value);
	}
	fact_lines(f, "options", &lines,
		   "neither /proc/config.gz nor /boot/config-RELEASE can be read");
	free(config);
}

static void add_os(struct facts *f)
{
	char *text = read_whole("/etc/os-release", 8192);
	char value[256] = "", *name = value;

	if (line_value(text, "PRETTY_NAME", value, sizeof(value)) && *value == '"')
		*strchrnul(++name, '"') = '\0';
	fact_string(f, "os", name, "no PRETTY_NAME in /etc/os-release");
	free(text);
}

void facts_of_load(struct facts *f)
{
	double load[3];

	if (getloadavg(load, 1) == 1)
		json_double(f->json, "load_average", load[0]);
	else
		fact_unknown(f, "load_average", "getloadavg() failed");
}

void facts_of_kernel(struct facts *f)
{
	struct utsname u = { 0 };

	uname(&u);
	fact_string(f, "release", u.release, "uname() is silent");
	fact_string(f, "version", u.version, "uname() is silent");
	fact_string(f, "machine", u.machine, "uname() is silent");
	add_options(f);
	facts_of_load(f);
	add_os(f);
#ifdef __GLIBC__
	fact_string(f, "libc", gnu_get_libc_version(), NULL);
#else
	fact_string(f, "libc", "musl", NULL);
#endif
}
