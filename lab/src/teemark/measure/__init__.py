# SPDX-License-Identifier: BSD-2-Clause
"""Running a plan on a board, and its progress."""
