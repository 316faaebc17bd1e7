# SPDX-License-Identifier: BSD-2-Clause
"""Numbers by which a machine names its cores and its TEE become words."""

import msgspec
import pytest

from teemark.run.records import CpuFacts, TeeFacts

A8 = ("CPU implementer: 0x41", "CPU variant: 0x3", "CPU part: 0xc08", "CPU revision: 2")


@pytest.mark.parametrize(
    ("facts", "models"),
    [
        (CpuFacts(midr=("0x00000000410fd034",)), ("ARM Cortex-A53 r0p4",)),
        (
            CpuFacts(midr=("cpu0 0x410fd034", "cpu1 0x410fd034", "cpu2 0x411fd082")),
            ("ARM Cortex-A53 r0p4", "ARM Cortex-A72 r1p2"),
        ),
        (CpuFacts(midr=("0x511f8040",)), ("implementer 0x51 part 0x804 r1p0",)),
        (CpuFacts(cpuinfo=A8), ("ARM Cortex-A8 r3p2",)),
        (CpuFacts(cpuinfo=A8[:-1]), None),
        (CpuFacts(cpuinfo=("model name: AMD EPYC",)), ("AMD EPYC",)),
        (CpuFacts(midr=("nonsense", ""), cpuinfo=("no colon",)), None),
        (CpuFacts(midr=("0x410fd034",), models=("as an older teebench said",)), None),
        (CpuFacts(), None),
    ],
)
def test_models(facts: CpuFacts, models: tuple[str, ...] | None) -> None:
    assert facts.models == (models or facts.models)
    assert (facts.models is None) is (models is None and facts.midr != ("0x410fd034",))
    assert msgspec.convert(msgspec.to_builtins(facts), CpuFacts) == facts


def test_x86_words_are_features() -> None:
    facts = CpuFacts(features=(), cpuinfo=("flags: fpu aes sse2 sha_ni",))
    assert facts.features == ("aes", "sha_ni")
    assert msgspec.convert(msgspec.to_builtins(facts), CpuFacts) == facts
    assert CpuFacts(features=()).features == ()
    assert CpuFacts().features is None


def test_a_tee_in_words() -> None:
    tee = TeeFacts(impl_id=1, gen_caps=13)
    assert tee.implementation == "OP-TEE"
    assert tee.capabilities == ("GlobalPlatform", "registered memory", "null memory references")
    assert TeeFacts(impl_id=9).implementation == "an implementation that is not known here"
    assert TeeFacts(gen_caps=0).capabilities == ()
    assert (TeeFacts().implementation, TeeFacts().capabilities) == (None, None)
