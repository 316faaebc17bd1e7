# SPDX-License-Identifier: BSD-2-Clause
"""The doctor finds what is wrong with a board, and tells how to mend it."""
