/* SPDX-License-Identifier: BSD-2-Clause */
/* cmocka wants these before itself. */
#pragma once

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

/*
 * Seconds that a test waits for anything at most: minutes, which a machine that was stopped for a
 * while meets too. What a test began ends by itself later than that.
 */
enum { PATIENCE_S = 300, ORPHAN_S = 2 * PATIENCE_S };
