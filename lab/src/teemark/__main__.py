# SPDX-License-Identifier: BSD-2-Clause
"""`python -m teemark` is `teemark`."""

from teemark.cli.main import main

if __name__ == "__main__":
    main()
