# SPDX-License-Identifier: BSD-2-Clause
"""Published figures as data."""
