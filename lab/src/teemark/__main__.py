# SPDX-License-Identifier: BSD-2-Clause
"""`python -m teemark` is `teemark`."""

import signal

if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
    # Until the program takes its signals: Ctrl-C in the midst of an import is no traceback.
    signal.signal(signal.SIGINT, signal.SIG_DFL)

from teemark.cli.main import main

if __name__ == "__main__":
    main()
