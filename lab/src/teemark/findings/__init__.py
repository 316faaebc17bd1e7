# SPDX-License-Identifier: BSD-2-Clause
"""Rules that turn figures into findings, and the words of these findings."""
