# SPDX-License-Identifier: BSD-2-Clause
"""Rules on asymmetric keys: a signature, a TLS handshake, a key that is imported each time."""

from teemark.base.finding import Finding, Share, Status
from teemark.base.work import (
    DECAPSULATE,
    DERIVE,
    EMPTY_CALL,
    KEY_STEPS,
    KEYGEN,
    SAME_CODE,
    SHM,
    SIGN,
    Work,
)
from teemark.findings.ground import SAME, Ground, not_checked, sure
from teemark.model.decide import above, within
from teemark.model.stats import added
from teemark.wording import fmt

PLAN = "teemark run --plan asymmetric"
SIGNATURES = (
    ("ecdsa-p256", "none"),
    ("rsa-2048", "crt"),
    ("ed25519", "none"),
    ("ecdsa-p384", "none"),
    ("rsa-3072", "crt"),
)
"""Candidates for the signature of the first sentence; the first measured on both sides counts."""
CARRIED = {
    SIGN.key("ml-dsa-65", "openssl"): 1952 + 3309,
    SIGN.key("ml-dsa-44", "openssl"): 1312 + 2420,
    DECAPSULATE.key("ml-kem-1024", "openssl"): 1568 + 1568,
    DECAPSULATE.key("ml-kem-768", "openssl"): 1184 + 1088,
}
"""Bytes of a public key with a signature or ciphertext (FIPS 203, table 3; FIPS 204, table 2)."""
MEMORY = 0.1  # Share of a PKCS #11 call above which sharing memory is a cause
WAY = 0.01  # Below this share for the way into the TEE, a call is all computing


def signature_cost(ground: Ground) -> Finding | None:
    """Says what a signature costs, and how much of it is the way into the TEE."""
    case = ground.models.case
    pairs = (
        (case(SIGN.key(name, "tee", key)), case(SIGN.key(name, "openssl", key)))
        for name, key in SIGNATURES
    )
    inside, outside = next((pair for pair in pairs if all(pair)), (None, None))
    if inside is None or outside is None or outside.estimate.value <= 0:
        return None
    empty, why = case(EMPTY_CALL), ""
    if empty is not None and inside.estimate.value > 0:
        share = empty.estimate.value / inside.estimate.value
        rest = "; the rest is computing there" if share < WAY else ""
        why = f" The way into the TEE is {fmt.percent(share)} of it{rest}."
    ratio = inside.estimate / outside.estimate
    return Finding(
        key="signature",
        topic="answer",
        claim=f"A signature by {ground.run.title(inside.algorithm)} in the TEE costs "
        f"{fmt.cost(ground.run, inside.estimate)}, {ground.times(ratio)} what OpenSSL "
        f"takes on the same board.{why}",
        evidence=f"{ground.both(inside, outside)} (medians of "
        f"{fmt.plural(inside.time.count, 'sample')} and {outside.time.count}).",
        remedy=f"`teemark trace {inside.key} {ground.optee}` takes it apart to the function; the "
        "build of OP-TEE decides most of it (docs/upstream-bugs.md).",
        figures=(ground.figure("tee over openssl", ratio, "times"),),
        sure=sure(inside, outside),
    )


def handshake(ground: Ground) -> Finding | None:
    """Says what a TLS handshake costs. A TLS 1.3 server signs once, makes one key pair and derives
    one secret; only the signature needs the key in the TEE. ECDH key pairs are made like those for
    ECDSA."""
    keys = (
        *(SIGN.key("ecdsa-p256", backend) for backend in ("tee", "openssl")),
        KEYGEN.key("ecdsa-p256", "openssl"),
        DERIVE.key("ecdh-p256", "openssl"),
    )
    parts = [case for key in keys if (case := ground.models.case(key)) is not None]
    if len(parts) < len(keys):
        return None
    common = parts[2].estimate + parts[3].estimate
    inside, outside = parts[0].estimate + common, parts[1].estimate + common
    return Finding(
        key="handshake",
        topic="answer",
        claim="The public-key part of a TLS 1.3 handshake costs a server with an ECDSA P-256 key "
        f"in the TEE {fmt.cost(ground.run, inside)}, with the key outside "
        f"{fmt.cost(ground.run, outside)}.",
        evidence="One signature, and by OpenSSL in both cases one key pair and one key agreement "
        "on P-256.",
        remedy="Session resumption signs nothing: let clients resume.",
        figures=(ground.figure("inside", inside), ground.figure("outside", outside)),
        sure=sure(*parts),
    )


def key_kept(ground: Ground) -> Finding | None:
    """Says what importing a key for each use adds to the use."""
    for algorithm, key in SIGNATURES:
        use = ground.models.case(SIGN.key(algorithm, "tee", key))
        steps = ("allocate", "import", "prepare")
        keys = (KEY_STEPS.key(algorithm, "tee", "sign", step) for step in steps)
        measured = [case for one in keys if (case := ground.models.case(one)) is not None]
        if use is None or len(measured) < len(steps) or use.estimate.value <= 0:
            continue
        extra = sum((case.estimate for case in measured[1:]), measured[0].estimate)
        each = [f"{one.work.words[-1]}: {fmt.cost(ground.run, one.estimate)}" for one in measured]
        return Finding(
            key="key-kept",
            topic="choice",
            claim=f"Keeping a key of {ground.run.title(algorithm)} in the TEE prepared pays from "
            f"the second signature on: importing it each time adds "
            f"{fmt.cost(ground.run, extra)}, {fmt.percent(extra.value / use.estimate.value)} "
            "of a signature.",
            evidence=f"{'; '.join(each)}.",
            figures=(ground.figure("importing", extra),),
            sure=sure(use, *measured),
        )
    return None


def rsa_of_any_size(ground: Ground) -> Finding | None:
    """Finds RSA that costs the same for any key size: it computes with numbers of one size."""
    large, small, plain = (
        ground.models.case(SIGN.key(algorithm, "tee", key))
        for algorithm, key in (("rsa-4096", "crt"), ("rsa-2048", "crt"), ("rsa-2048", "plain"))
    )
    key = "rsa-of-any-size"
    if small is None:
        return None
    if large is None:
        return not_checked(key, "RSA signatures of 2048 and 4096 bits in the TEE", PLAN)
    same = within(large.estimate / small.estimate, 1 / SAME, SAME)
    evidence = f"4096 and 2048 bits: {ground.both(large, small)}"
    if same != "yes":
        status: Status = "ruled out" if same == "no" else "undecided"
        return Finding(key=key, topic="cause", status=status, evidence=evidence)
    if plain is not None and above(small.estimate / plain.estimate, SAME) == "yes":
        evidence += (
            "; and with the parts for the Chinese remainder theorem, which should make it cheaper, "
            f"dearer than without: {ground.both(small, plain)}"
        )
    outside, costs = ground.models.case(SIGN.key("rsa-2048", "openssl", "crt")), None
    if outside is not None and outside.estimate.value < small.estimate.value:
        more = (small.estimate - outside.estimate).value / small.estimate.value
        costs = Share(more, ground.run.words(small.key), at_most=True)
    return Finding(
        key=key,
        topic="cause",
        claim="RSA in the TEE costs the same for keys of 2048 and 4096 bits: it seems to compute "
        "with numbers of the largest size (CFG_CORE_BIGNUM_MAX_BITS) for every key.",
        evidence=f"{evidence}.",
        remedy="Build OP-TEE with the patch of 18 lines in docs/upstream-bugs.md (OP-TEE 4.10: 30 "
        "times cheaper), or with CFG_CRYPTOLIB_NAME=mbedtls, whose numbers have the key's size; "
        f"`teemark what-if {small.key} --patch FILE` says what that saves.",
        costs=costs,
        sure=sure(large, small),
    )


def post_quantum(ground: Ground) -> Finding | None:
    """Says what a TEE would pay for carrying post-quantum keys: no TEE computes with them yet."""
    use = next((case for key in CARRIED if (case := ground.models.case(key)) is not None), None)
    rows = ((SHM, "allocated", "tee"), (SAME_CODE, "memcpy", "ta-c"))
    sizes = [list(ground.by_size(*row).items()) for row in rows]
    if use is None:
        return None
    if min(map(len, sizes)) < 2:
        return not_checked("post-quantum", "buffers of two sizes, mapped and copied in a TA", PLAN)
    a_byte = added((b.estimate - a.estimate).scaled(1 / (n - m)) for (m, a), *_, (n, b) in sizes)
    carried = a_byte.scaled(CARRIED[use.work.key])
    ratio, whole = carried / use.estimate, fmt.count(CARRIED[use.work.key])
    return Finding(
        key="post-quantum",
        topic="choice",
        claim=f"Carrying the {whole} bytes of {ground.run.title(use.algorithm)} to a TEE would "
        f"add {fmt.percent(ratio.value)}{ground.interval_in_brackets(ratio, fmt.percent)} to what "
        f"libcrypto takes to {use.work.workload}.",
        evidence=f"A byte mapped, and copied in a TA: {fmt.cost(ground.run, a_byte)}; all: "
        f"{fmt.cost(ground.run, carried)}, beside {fmt.cost(ground.run, use.estimate)} "
        "outside. GlobalPlatform's API for TAs has no post-quantum algorithm.",
        figures=(ground.figure("carried over computed", ratio, "share"),),
        sure=sure(use, ratio),
    )


def says_and_does(ground: Ground) -> Finding | None:
    """Compares the algorithms that the TEE says it has with those that worked."""
    run = ground.run
    denied = {case.work.algorithm for case in run.sound if case.record.tee_says is False}
    ended = {Work.of(skip.case).algorithm for skip in run.skips if skip.code == "ta-ended"}
    if not denied and not ended:
        return None
    sentences = []
    if denied:
        names = ", ".join(run.title(algorithm) for algorithm in sorted(denied - ended))
        sentences.append(f"The TEE says that it hasn't {names}, but they work.")
    if ended:
        names = ", ".join(run.title(algorithm) for algorithm in sorted(ended))
        sentences.append(f"Using {names} ends the TA.")
    return Finding(
        key="says-and-does",
        topic="trust",
        claim=" ".join(sentences),
        evidence="TEE_IsAlgorithmSupported, and the operations themselves, in a session that is "
        "thrown away when its TA ends.",
        remedy="Try an algorithm on the board before relying on it.",
    )


def pkcs11_memory(ground: Ground) -> Finding | None:
    """Finds a PKCS #11 library that shares memory anew in each call; names the worst call."""
    layered = ((case.work, case.record.layers) for case in ground.run.sound)
    shares = {
        work: layers.memory_ns / layers.total_ns
        for work, layers in layered
        if layers is not None and layers.invokes and layers.total_ns
    }
    if not shares:
        return None
    worst, best = (choose(shares, key=lambda work: shares[work]) for choose in (max, min))
    key, share, name = "pkcs11-memory", shares[worst], worst.algorithm
    evidence = "Time in TEEC_AllocateSharedMemory, TEEC_RegisterSharedMemory and "
    evidence += f"TEEC_ReleaseSharedMemory: {fmt.percent(share)} of {worst.key}."
    if share <= MEMORY:
        return Finding(key=key, topic="cause", status="ruled out", evidence=evidence)
    return Finding(
        key=key,
        topic="answer",
        claim="The PKCS #11 library allocates memory to share with the TEE anew in each call: "
        f"{fmt.percent(share)} of {name}, {fmt.percent(shares[best])} of {best.algorithm}.",
        evidence=evidence,
        remedy="Send larger pieces; a library that keeps its buffers would save all of it.",
        costs=Share(share, f"a call of {name}"),
    )
