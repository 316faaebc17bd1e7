# SPDX-License-Identifier: BSD-2-Clause
"""Calls into the TEE, instruction by instruction: from the windows that QEMU's plugin writes to
names, call trees, tables and flame graphs."""
