# SPDX-License-Identifier: BSD-2-Clause
"""Figures that documents published, as data."""
