# SPDX-License-Identifier: BSD-2-Clause
"""What numbers mean: rules and the words they are said in."""
