# SPDX-License-Identifier: BSD-2-Clause
"""Rules about what numbers mean, and the words they are said in."""
