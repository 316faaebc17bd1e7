# SPDX-License-Identifier: BSD-2-Clause
"""Plans, and the cases they ask for."""
