# SPDX-License-Identifier: BSD-2-Clause
"""How a kernel gets what it lacks: a module loaded, or an option built."""

from __future__ import annotations

from teemark.doctor.patient import Patient


def lacking(patient: Patient, option: str, module: str) -> tuple[str, str, str]:
    """Returns the evidence, the cause and the remedy of a module that the kernel lacks: loading it
    where it is there, else building it, with Yocto's and Buildroot's lines."""
    value, there = patient.option(option), patient.there(module)
    unknown = f"CONFIG_{option} isn't known ({patient.why_not('kernel.options')})"
    known = {None: unknown, "n": f"CONFIG_{option} is not set"}
    evidence = known.get(value, f"CONFIG_{option}={value}")
    if patient.loaded(module):
        evidence += f"; module {module} is loaded"
    elif there is None:
        evidence += "; which modules there are isn't known"
    else:
        evidence += f"; module {module} is {'there, not loaded' if there else 'not there'}"

    cause = f"the kernel lacks {module}: it isn't loaded, or CONFIG_{option} isn't built"
    if there:
        cause = f"the kernel's module {module} isn't loaded"
    elif value == "n":
        cause = f"the kernel was built without CONFIG_{option}"

    load = f"modprobe {module}   # at each boot: echo {module} > /etc/modules-load.d/{module}.conf"
    build = (
        f"CONFIG_{option}=m   # in a fragment of the kernel's configuration, teemark.cfg",
        'Yocto, linux-%.bbappend:  SRC_URI += "file://teemark.cfg"',
        f'Yocto, machine:  KERNEL_MODULE_AUTOLOAD += "{module}"',
        'Buildroot:  BR2_LINUX_KERNEL_CONFIG_FRAGMENT_FILES="board/teemark.cfg"',
        load,
    )
    return evidence, cause, load if there or value == "m" else "\n".join(build)
