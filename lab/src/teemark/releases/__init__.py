# SPDX-License-Identifier: BSD-2-Clause
"""OP-TEE's versions beside each other: what a call costs in each, which commit made it dearer, and
a site that shows it."""
