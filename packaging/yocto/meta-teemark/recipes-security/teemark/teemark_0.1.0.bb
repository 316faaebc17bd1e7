# SPDX-License-Identifier: BSD-2-Clause
SUMMARY = "What trusted execution and hardware crypto cost on a board"
DESCRIPTION = "teebench measures calls into OP-TEE, crypto and storage; teehash hashes files \
inside the TEE. Each result is verified before it is timed."
SECTION = "security"
LICENSE = "BSD-2-Clause"
LIC_FILES_CHKSUM = "file://LICENSE;md5=8c564cfada5dee966334bc81e1622c2d"

# The sources are a checkout on this machine (EXTERNALSRC).
SRC_URI = ""

DEPENDS = "optee-client optee-os-tadevkit python3-cryptography-native"

inherit externalsrc python3native

# The checkout that this layer is in; set it in local.conf to another.
TEEMARK_SRC ?= "${@os.path.realpath(os.path.join(d.getVar('FILE_DIRNAME'), '../../../../..'))}"
EXTERNALSRC = "${TEEMARK_SRC}"

B = "${WORKDIR}/build"

COMPATIBLE_HOST = "(aarch64|arm).*-linux"

EXTRA_OEMAKE = "BUILD='${B}'"
TEEMARK_TA_MAKE = "TA_DEV_KIT_DIR='${STAGING_INCDIR}/optee/export-user_ta' \
    CROSS_COMPILE='${HOST_PREFIX}' OUT='${B}/ta' \
    LIBGCC_LOCATE_CFLAGS='--sysroot=${STAGING_DIR_HOST}'"

do_configure[noexec] = "1"

do_compile() {
    oe_runmake -C ${S}/host ARCH=native
    # The kit has flags of its own.
    unset CFLAGS CPPFLAGS LDFLAGS
    oe_runmake -C ${S}/ta ${TEEMARK_TA_MAKE}
}

do_install() {
    oe_runmake -C ${S}/host install ARCH=native PREFIX=${prefix} DESTDIR=${D}
    unset CFLAGS CPPFLAGS LDFLAGS
    oe_runmake -C ${S}/ta install ${TEEMARK_TA_MAKE} DESTDIR=${D} SET=all \
        TADIR=${nonarch_base_libdir}/optee_armtz
}

PACKAGES =+ "${PN}-tas-teehash ${PN}-tas-teebench ${PN}-tas-broker ${PN}-teehash \
    ${PN}-bash-completion"
TAS = "${nonarch_base_libdir}/optee_armtz"
FILES:${PN}-tas-teehash += "${TAS}/5e5b2f0c-* ${TAS}/8d1f60c7-*"
FILES:${PN}-tas-teebench += "${TAS}/0b7c9a52-* ${TAS}/6c1f9d34-*"
FILES:${PN}-tas-broker += "${TAS}/3d8e61f7-*"
FILES:${PN}-teehash += "${bindir}/teehash"
FILES:${PN}-bash-completion += "${datadir}/bash-completion"

RDEPENDS:${PN} = "optee-client ${PN}-teehash"
RDEPENDS:${PN}-teehash = "optee-client"
RDEPENDS:${PN}-tas-teebench = "${PN}-tas-teehash"
RRECOMMENDS:${PN} = "${PN}-tas-teebench"
RRECOMMENDS:${PN}-teehash = "${PN}-tas-teehash"
