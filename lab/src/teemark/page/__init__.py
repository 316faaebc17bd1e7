# SPDX-License-Identifier: BSD-2-Clause
"""How anything is shown: blocks, charts and numbers, as HTML, Markdown and on a terminal."""
