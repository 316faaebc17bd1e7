# SPDX-License-Identifier: BSD-2-Clause
"""Numbers, costs and lists as text. Every other room may use this one."""
