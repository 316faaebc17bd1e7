# SPDX-License-Identifier: BSD-2-Clause
# In the form of optee_examples for Android: the programs, as optee_example_teemark (which is
# teebench) and optee_example_teemark_hash (teehash), and by ta/Android.mk the TAs. The programs open
# libteec when they run. The folder stands in its checkout, or is a link that leads there.
LOCAL_PATH := $(call my-dir)/../../..

TOP_OF_TEEMARK := $(LOCAL_PATH)
include $(TOP_OF_TEEMARK)/common/sources.mk
TEEMARK_VERSION := $(shell sed -n 's/^__version__ = "\(.*\)"$$/\1/p' \
	$(TOP_OF_TEEMARK)/lab/src/teemark/version.py)

teemark-sources = $(patsubst $(TOP_OF_TEEMARK)/%,%,$(wildcard $(TOP_OF_TEEMARK)/host/src/$(1)/*.c))
teemark-cflags := -std=c11 -D_GNU_SOURCE -D_FILE_OFFSET_BITS=64 -DTEEMARK_VERSION=\"$(TEEMARK_VERSION)\" \
	-Wno-unused-parameter $(COMMON_CFLAGS)
teemark-includes := $(TOP_OF_TEEMARK)/host/include $(TOP_OF_TEEMARK)/common/include

# What only a CPU with crypto instructions may run.
include $(CLEAR_VARS)
LOCAL_MODULE := libteemark_ce
LOCAL_VENDOR_MODULE := true
LOCAL_SRC_FILES := $(addprefix common/src/,$(COMMON_CE_SRCS))
LOCAL_C_INCLUDES := $(teemark-includes)
LOCAL_CFLAGS := $(teemark-cflags)
LOCAL_CFLAGS_arm64 := $(COMMON_CE_CFLAGS)
include $(BUILD_STATIC_LIBRARY)

include $(CLEAR_VARS)
LOCAL_MODULE := libteemark
LOCAL_VENDOR_MODULE := true
LOCAL_SRC_FILES := $(call teemark-sources,lib) $(call teemark-sources,backends) \
	$(addprefix common/src/,$(COMMON_SRCS))
LOCAL_C_INCLUDES := $(teemark-includes)
LOCAL_CFLAGS := $(teemark-cflags)
include $(BUILD_STATIC_LIBRARY)

include $(CLEAR_VARS)
LOCAL_MODULE := optee_example_teemark
LOCAL_VENDOR_MODULE := true
LOCAL_MODULE_TAGS := optional
LOCAL_SRC_FILES := $(call teemark-sources,teebench)
LOCAL_C_INCLUDES := $(teemark-includes)
LOCAL_CFLAGS := $(teemark-cflags)
LOCAL_STATIC_LIBRARIES := libteemark libteemark_ce
LOCAL_LDFLAGS := -Wl,--dynamic-list=$(TOP_OF_TEEMARK)/host/src/teebench/pkcs11_layers.list
LOCAL_LDLIBS := -ldl -lm
include $(BUILD_EXECUTABLE)

include $(CLEAR_VARS)
LOCAL_MODULE := optee_example_teemark_hash
LOCAL_VENDOR_MODULE := true
LOCAL_MODULE_TAGS := optional
LOCAL_SRC_FILES := $(call teemark-sources,teehash)
LOCAL_C_INCLUDES := $(teemark-includes)
LOCAL_CFLAGS := $(teemark-cflags)
LOCAL_STATIC_LIBRARIES := libteemark libteemark_ce
LOCAL_LDLIBS := -ldl -lm
include $(BUILD_EXECUTABLE)

include $(TOP_OF_TEEMARK)/packaging/optee_examples/teemark/ta/Android.mk
