# SPDX-License-Identifier: BSD-2-Clause
"""Published figures as data (`data`), and what is wrong with them (`audit`)."""
