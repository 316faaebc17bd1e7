# SPDX-License-Identifier: BSD-2-Clause
"""teemark: what trusted execution and hardware crypto really cost on a board."""

__version__ = "0.1.0"
