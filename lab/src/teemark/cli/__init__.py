# SPDX-License-Identifier: BSD-2-Clause
"""The command line: one file a subcommand, listed in main.py."""
