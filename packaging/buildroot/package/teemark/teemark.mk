# SPDX-License-Identifier: BSD-2-Clause
################################################################################
#
# teemark
#
################################################################################

# The checkout that this folder is in, or TEEMARK_OVERRIDE_SRCDIR of local.mk.
TEEMARK_VERSION = 0.1.0
TEEMARK_SITE = $(BR2_EXTERNAL_TEEMARK_PATH)/../..
TEEMARK_SITE_METHOD = local
TEEMARK_LICENSE = BSD-2-Clause
TEEMARK_LICENSE_FILES = LICENSE

TEEMARK_HOST_MAKE = \
	$(TARGET_MAKE_ENV) $(TARGET_CONFIGURE_OPTS) \
	$(MAKE) -C $(@D)/host ARCH=native BUILD=$(@D)/build

define TEEMARK_BUILD_CMDS
	$(TEEMARK_HOST_MAKE)
endef

define TEEMARK_INSTALL_TARGET_CMDS
	$(TEEMARK_HOST_MAKE) install PREFIX=/usr DESTDIR=$(TARGET_DIR)
endef

ifeq ($(BR2_TARGET_OPTEE_OS_SDK),y)
TEEMARK_DEPENDENCIES += optee-os host-python-cryptography

TEEMARK_TA_MAKE = \
	$(TARGET_MAKE_ENV) $(MAKE) -C $(@D)/ta \
	TA_DEV_KIT_DIR=$(OPTEE_OS_SDK) CROSS_COMPILE=$(TARGET_CROSS) \
	PYTHON3=$(HOST_DIR)/bin/python3 OUT=$(@D)/build/ta

define TEEMARK_BUILD_TAS
	$(TEEMARK_TA_MAKE) all
endef
TEEMARK_POST_BUILD_HOOKS += TEEMARK_BUILD_TAS

define TEEMARK_INSTALL_TAS
	$(TEEMARK_TA_MAKE) install DESTDIR=$(TARGET_DIR)
endef
TEEMARK_POST_INSTALL_TARGET_HOOKS += TEEMARK_INSTALL_TAS
endif

$(eval $(generic-package))
