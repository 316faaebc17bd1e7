/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef VERSION_H
#define VERSION_H

#define RECORDS_SCHEMA 1 /* of the records, docs/run-format.md */
#ifndef TEEMARK_VERSION
#define TEEMARK_VERSION "0.1.0"
#endif

#endif
