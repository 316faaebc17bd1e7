# SPDX-License-Identifier: BSD-2-Clause
"""Boards: how to reach a machine, and everything done over that reach."""
