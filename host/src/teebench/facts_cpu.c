/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cpu.h"
#include "facts.h"

enum { CPUS_MAX = 256 };
#define CPU_DIR "/sys/devices/system/cpu"

/* Adds the lines of /proc/cpuinfo, of its first CPU, that say what that is. */
static void add_cpuinfo(struct facts *f)
{
	static const char *const names[] = { "CPU implementer", "CPU variant", "CPU part",
					     "CPU revision",    "model name",  "flags" };
	char *cpuinfo = read_whole("/proc/cpuinfo", 65536);
	struct lines lines = { 0 };
	char value[4096];

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (line_value(cpuinfo, names[i], value, sizeof(value)))
			lines_add(&lines, "%s: %s", names[i], value);
	fact_lines(f, "cpuinfo", &lines, NULL);
	free(cpuinfo);
}

static void add_features(struct facts *f)
{
	struct lines have = { 0 };

	for (int i = 0; i < CPU_FEATURES; i++)
		if (cpu_has((enum cpu_feature)i))
			lines_add(&have, "%s", cpu_feature_name((enum cpu_feature)i));
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
	add_per_cpu(f, "midr", "regs/identification/midr_el1", "no midr_el1 in /sys");
	add_cpuinfo(f);
	add_features(f);
	json_i64(f->json, "online", sysconf(_SC_NPROCESSORS_ONLN));
	add_per_cpu(f, "governor", "cpufreq/scaling_governor", no_cpufreq);
	add_per_cpu(f, "khz_min", "cpufreq/scaling_min_freq", no_cpufreq);
	add_per_cpu(f, "khz_max", "cpufreq/scaling_max_freq", no_cpufreq);
	facts_of_cpu_now(f);
}
