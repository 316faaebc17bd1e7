# SPDX-License-Identifier: BSD-2-Clause
"""Leaves that everything else may use."""
