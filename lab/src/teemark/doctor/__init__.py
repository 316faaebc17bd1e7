# SPDX-License-Identifier: BSD-2-Clause
"""The doctor says what is wrong with a board, by what is known, and what to do about it."""
