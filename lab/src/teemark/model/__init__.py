# SPDX-License-Identifier: BSD-2-Clause
"""Statistics and models: pure functions of data, no input or output."""
