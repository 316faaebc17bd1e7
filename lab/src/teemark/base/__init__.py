# SPDX-License-Identifier: BSD-2-Clause
"""Modules that the whole package may use; they use no other part of it."""
