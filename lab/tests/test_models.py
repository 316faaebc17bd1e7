# SPDX-License-Identifier: BSD-2-Clause
"""What is fitted over sizes: cases whose key ends with their size."""

from __future__ import annotations

import pytest

from teemark.model.models import by_size
from teemark.run.records import Case


def case(key: str, size: int | None) -> Case:
    workload, algorithm, backend, parameters = key.split("/", 3)
    return Case(
        case=key,
        workload=workload,
        algorithm=algorithm,
        backend=backend,
        parameters=parameters,
        bytes=size,
        verified=True,
        samples=1,
        repeat=(1,),
        loops=(1,),
    )


@pytest.mark.parametrize(
    ("key", "size", "name"),
    [
        ("oneshot/sha256/tee/4096", 4096, "oneshot"),
        ("cipher/aes-128-cbc/tee/enc/4096", 4096, "cipher enc"),
        ("shm/temporary/tee/inout/64", 64, "shm inout"),
        ("stream/sha256/tee/1048576/4096", 1048576, None),
        ("cipher-steps/aes-128-cbc/tee/enc/4096/set-iv/all", 4096, None),
        ("invoke/none/tee/none", None, None),
    ],
)
def test_by_size(key: str, size: int | None, name: str | None) -> None:
    assert by_size(case(key, size)) == name
