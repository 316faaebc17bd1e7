/* SPDX-License-Identifier: BSD-2-Clause */
/* cmocka wants these before itself. */
#pragma once

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
