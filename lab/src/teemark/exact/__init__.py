# SPDX-License-Identifier: BSD-2-Clause
"""The board that counts instructions: traces recorded, the gate, builds compared."""
