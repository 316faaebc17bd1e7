# SPDX-License-Identifier: BSD-2-Clause
"""One file a subcommand; the table is in teemark/cli.py."""
