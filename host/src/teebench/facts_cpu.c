/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The fields of the register MIDR_EL1 are from the Arm Architecture Reference Manual, the part
 * numbers from each core's Technical Reference Manual.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cpu.h"
#include "facts.h"

enum { CPUS_MAX = 256 };
#define CPU_DIR "/sys/devices/system/cpu"

static const struct {
	unsigned part;
	const char *name;
} arm_parts[] = {
	{ 0xc05, "Cortex-A5" },   { 0xc07, "Cortex-A7" },   { 0xc08, "Cortex-A8" },
	{ 0xc09, "Cortex-A9" },   { 0xc0d, "Cortex-A17" },  { 0xc0e, "Cortex-A17" },
	{ 0xc0f, "Cortex-A15" },  { 0xd01, "Cortex-A32" },  { 0xd02, "Cortex-A34" },
	{ 0xd03, "Cortex-A53" },  { 0xd04, "Cortex-A35" },  { 0xd05, "Cortex-A55" },
	{ 0xd06, "Cortex-A65" },  { 0xd07, "Cortex-A57" },  { 0xd08, "Cortex-A72" },
	{ 0xd09, "Cortex-A73" },  { 0xd0a, "Cortex-A75" },  { 0xd0b, "Cortex-A76" },
	{ 0xd0c, "Neoverse-N1" }, { 0xd0d, "Cortex-A77" },  { 0xd0e, "Cortex-A76AE" },
	{ 0xd40, "Neoverse-V1" }, { 0xd41, "Cortex-A78" },  { 0xd42, "Cortex-A78AE" },
	{ 0xd44, "Cortex-X1" },   { 0xd46, "Cortex-A510" }, { 0xd47, "Cortex-A710" },
	{ 0xd48, "Cortex-X2" },   { 0xd49, "Neoverse-N2" }, { 0xd4d, "Cortex-A715" },
	{ 0xd4e, "Cortex-X3" },   { 0xd80, "Cortex-A520" }, { 0xd81, "Cortex-A720" },
};

static void name_of_midr(unsigned midr, char *name, size_t size)
{
	unsigned implementer = midr >> 24, part = midr >> 4 & 0xfff;
	unsigned variant = midr >> 20 & 0xf, revision = midr & 0xf;

	for (size_t i = 0; i < sizeof(arm_parts) / sizeof(*arm_parts); i++) {
		if (implementer != 0x41 || arm_parts[i].part != part)
			continue;
		snprintf(name, size, "ARM %s r%up%u", arm_parts[i].name, variant, revision);
		return;
	}
	snprintf(name, size, "implementer 0x%02x part 0x%03x r%up%u", implementer, part, variant,
		 revision);
}

/* Sets *number to the value of a line of /proc/cpuinfo; returns false if there is no such line. */
static bool cpuinfo_number(const char *cpuinfo, const char *name, unsigned *number)
{
	char text[16];
	bool found = line_value(cpuinfo, name, text, sizeof(text));

	*number = found ? (unsigned)strtoul(text, NULL, 0) : 0;
	return found;
}

/* Builds MIDR from its fields in /proc/cpuinfo: 32-bit kernels have no midr_el1 in /sys. */
static bool midr_of_cpuinfo(const char *cpuinfo, unsigned *midr)
{
	unsigned implementer, variant, part, revision;

	if (!cpuinfo_number(cpuinfo, "CPU implementer", &implementer) ||
	    !cpuinfo_number(cpuinfo, "CPU variant", &variant) ||
	    !cpuinfo_number(cpuinfo, "CPU part", &part) ||
	    !cpuinfo_number(cpuinfo, "CPU revision", &revision))
		return false;
	*midr = implementer << 24 | variant << 20 | 0xfu << 16 | part << 4 | revision;
	return true;
}

/* Adds the names of the distinct kinds of cores, of which a big.LITTLE chip has more than one. */
static void add_models(struct facts *f, const char *cpuinfo)
{
	struct lines models = { 0 };
	unsigned seen[16], midr;
	size_t n = 0;
	char path[128], name[160];
	int64_t value;

	for (int cpu = 0; cpu < CPUS_MAX && n < 16; cpu++) {
		size_t i = 0;

		snprintf(path, sizeof(path), CPU_DIR "/cpu%d/regs/identification/midr_el1", cpu);
		if (!read_number(path, &value))
			continue;
		while (i < n && seen[i] != (unsigned)value)
			i++;
		if (i == n)
			seen[n++] = (unsigned)value;
	}
	if (!n && midr_of_cpuinfo(cpuinfo, &midr))
		seen[n++] = midr;
	for (size_t i = 0; i < n; i++) {
		name_of_midr(seen[i], name, sizeof(name));
		lines_add(&models, "%s", name);
	}
	if (!n && line_value(cpuinfo, "model name", name, sizeof(name)))
		lines_add(&models, "%s", name);
	fact_lines(f, "models", &models,
		   "neither midr_el1 in /sys nor /proc/cpuinfo names the CPU");
}

static void add_features(struct facts *f, const char *cpuinfo)
{
	/* The features that speed crypto up on a development machine. */
	static const char *const x86[] = { "aes", "avx2", "avx512f", "pclmulqdq", "sha_ni", "vaes" };
	struct lines have = { 0 };
	char flags[4096], *word, *save = NULL;

	for (int i = 0; i < CPU_FEATURES; i++)
		if (cpu_lists((enum cpu_feature)i))
			lines_add(&have, "%s", cpu_feature_name((enum cpu_feature)i));
	if (strstr(cpu_built_for(), "x86") && line_value(cpuinfo, "flags", flags, sizeof(flags))) {
		for (word = strtok_r(flags, " ", &save); word; word = strtok_r(NULL, " ", &save))
			for (size_t i = 0; i < sizeof(x86) / sizeof(*x86); i++)
				if (!strcmp(word, x86[i]))
					lines_add(&have, "%s", word);
	}
	fact_lines(f, "features", &have, NULL);
}

/* Adds "VALUE" if the file says the same for all CPUs, else "cpu0 VALUE", "cpu1 VALUE", … */
static void add_per_cpu(struct facts *f, const char *name, const char *file, const char *why_not)
{
	struct lines each = { 0 };
	char path[160], *first = NULL;
	bool same = true;

	for (int cpu = 0; cpu < CPUS_MAX; cpu++) {
		char *text;

		snprintf(path, sizeof(path), CPU_DIR "/cpu%d/%s", cpu, file);
		text = read_line(path);
		if (!text)
			continue;
		lines_add(&each, "cpu%d %s", cpu, text);
		if (!first) {
			first = text;
			continue;
		}
		same = same && !strcmp(first, text);
		free(text);
	}
	fact_list(f, name, same ? first : each.text, why_not);
	free(first);
	free(each.text);
}

static void add_temperature(struct facts *f)
{
	struct lines lines = { 0 };
	char path[96];
	int64_t milli;

	for (int zone = 0; zone < 16; zone++) {
		char *type;

		snprintf(path, sizeof(path), "/sys/class/thermal/thermal_zone%d/temp", zone);
		if (!read_number(path, &milli))
			continue;
		snprintf(path, sizeof(path), "/sys/class/thermal/thermal_zone%d/type", zone);
		type = read_line(path);
		lines_add(&lines, "%s %.1f °C", type ? type : "zone", (double)milli / 1000);
		free(type);
	}
	fact_lines(f, "temperature", &lines, "no thermal zone in /sys");
}

static const char no_cpufreq[] = "no cpufreq driver: the kernel neither "
				 "changes nor knows the clock";

void facts_of_cpu_now(struct facts *f)
{
	add_per_cpu(f, "khz_now", "cpufreq/scaling_cur_freq", no_cpufreq);
	add_temperature(f);
}

void facts_of_cpu(struct facts *f)
{
	char *cpuinfo = read_whole("/proc/cpuinfo", 65536);

	add_models(f, cpuinfo);
	add_features(f, cpuinfo);
	json_i64(f->json, "online", sysconf(_SC_NPROCESSORS_ONLN));
	add_per_cpu(f, "governor", "cpufreq/scaling_governor", no_cpufreq);
	add_per_cpu(f, "khz_min", "cpufreq/scaling_min_freq", no_cpufreq);
	add_per_cpu(f, "khz_max", "cpufreq/scaling_max_freq", no_cpufreq);
	facts_of_cpu_now(f);
	free(cpuinfo);
}
