/* SPDX-License-Identifier: BSD-2-Clause */
/* The list of workloads. */
#pragma once

#include "workload.h"

/* All workloads in the order of --list; NULL ends them. */
extern const struct workload *const workloads[];
const struct workload *workload_by_name(const char *name);
