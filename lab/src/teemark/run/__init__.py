# SPDX-License-Identifier: BSD-2-Clause
"""A run: the records of one execution on one board, and how they are read and written."""
