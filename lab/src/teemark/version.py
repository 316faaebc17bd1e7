# SPDX-License-Identifier: BSD-2-Clause
"""teemark's version."""

__version__ = "0.1.0"
