# SPDX-License-Identifier: BSD-2-Clause
"""Reports. Sections are pure functions; html.py and markdown.py render the same sections."""
