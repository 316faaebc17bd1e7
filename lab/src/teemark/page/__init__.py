# SPDX-License-Identifier: BSD-2-Clause
"""This room shows blocks, charts and numbers as HTML, as Markdown and on a terminal."""
