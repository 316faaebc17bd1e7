# SPDX-License-Identifier: BSD-2-Clause
"""How a kernel gets what it lacks: a module loaded, or an option built."""

from __future__ import annotations

from teemark.doctor.patient import Patient


def _state(patient: Patient, option: str, module: str) -> str:
    """Returns what is known of an option and its module, as evidence."""
    value = patient.option(option)
    known = {
        None: f"CONFIG_{option} isn't known ({patient.why_not('kernel.options')})",
        "n": f"CONFIG_{option} is not set",
    }.get(value, f"CONFIG_{option}={value}")
    if patient.loaded(module):
        return f"{known}; module {module} is loaded"
    there = patient.there(module)
    if there is None:
        return f"{known}; which modules there are isn't known"
    return f"{known}; module {module} is {'there, not loaded' if there else 'not there'}"


def _remedy(patient: Patient, option: str, module: str) -> str:
    """Load it where it is there; else build it: the fragment, and Yocto's and Buildroot's lines."""
    load = f"modprobe {module}   # at each boot: echo {module} > /etc/modules-load.d/{module}.conf"
    if patient.there(module) or patient.option(option) == "m":
        return load
    return "\n".join(
        (
            f"CONFIG_{option}=m   # in a fragment of the kernel's configuration, teemark.cfg",
            'Yocto, linux-%.bbappend:  SRC_URI += "file://teemark.cfg"',
            f'Yocto, machine:  KERNEL_MODULE_AUTOLOAD += "{module}"',
            'Buildroot:  BR2_LINUX_KERNEL_CONFIG_FRAGMENT_FILES="board/teemark.cfg"',
            load,
        )
    )


def _cause(patient: Patient, option: str, module: str) -> str:
    if patient.there(module):
        return f"the kernel's module {module} isn't loaded"
    if patient.option(option) == "n":
        return f"the kernel was built without CONFIG_{option}"
    return f"the kernel lacks {module}: it isn't loaded, or CONFIG_{option} isn't built"


def lacking(patient: Patient, option: str, module: str) -> tuple[str, str, str]:
    """Returns the evidence, the cause and the remedy of a module that the kernel lacks."""
    about = (patient, option, module)
    return _state(*about), _cause(*about), _remedy(*about)
