/* SPDX-License-Identifier: BSD-2-Clause */
/* cmocka wants these before itself. */
#ifndef HARNESS_H
#define HARNESS_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#endif
