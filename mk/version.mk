# SPDX-License-Identifier: BSD-2-Clause
# The version of all programs: that of the Python package, which has it in one
# line. TOP is the repository.
TEEMARK_VERSION := $(shell sed -n 's/^__version__ = "\(.*\)"$$/\1/p' \
	$(TOP)/lab/src/teemark/version.py)
ifeq ($(TEEMARK_VERSION),)
$(error no __version__ in $(TOP)/lab/src/teemark/version.py)
endif
VERSION_FLAGS := -DTEEMARK_VERSION=\"$(TEEMARK_VERSION)\"
