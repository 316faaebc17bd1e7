#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
PYTHONPATH=${TEEMARK_LIB:-/usr/share/teemark} exec python3 -m teemark "$@"
