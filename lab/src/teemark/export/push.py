# SPDX-License-Identifier: BSD-2-Clause
"""Sends an export to a server that keeps figures: a Prometheus push gateway, or Bencher."""

import json
import os
from base64 import urlsafe_b64encode
from http.client import HTTPException
from urllib.error import HTTPError
from urllib.request import Request, urlopen

from teemark.base.errors import DataError, UsageMistake
from teemark.run.reader import RunData


def to_gateway(text: str, run: RunData, address: str) -> None:
    """Replaces all figures that a push gateway has of this board and plan by `text`, which is
    OpenMetrics. Raises DataError if the gateway can't be reached, or refuses the text."""
    board, of = (urlsafe_b64encode(name.encode()).decode() or "=" for name in (run.name, run.plan))
    place = f"{address.rstrip('/')}/metrics/job/teemark/board@base64/{board}/plan@base64/{of}"
    kind = {"Content-Type": "text/plain; version=0.0.4"}
    _send(address, Request(place, text.encode(), kind, method="PUT"))


def to_bencher(text: str, run: RunData, address: str) -> None:
    """Adds `text`, which is BMF, to the Bencher project that `address` ends with; the testbed is
    the board's name. Only that server gets BENCHER_API_KEY. Raises UsageMistake if no project is
    named, DataError if the server can't be reached or refuses the text."""
    server, _, project = address.rstrip("/").rpartition("/")
    if server.endswith("/") or run.header is None:
        raise UsageMistake(f"{address} names no project", hint="--push https://HOST/PROJECT")
    when = run.header.started
    body = {"project": project, "testbed": run.name, "start_time": when, "end_time": when}
    names = {"commit": "hash", "branch": "branch"}
    body |= {names[key]: value for key, value in run.origin.items() if key in names}
    data = json.dumps(body | {"results": [text], "settings": {"adapter": "json"}}).encode()
    request = Request(f"{server}/v0/run", data, {"Content-Type": "application/json"})
    if key := os.environ.get("BENCHER_API_KEY"):
        request.add_unredirected_header("Authorization", f"Bearer {key}")
    _send(address, request)


def _send(address: str, request: Request) -> None:
    try:
        urlopen(request, timeout=30).close()
    except HTTPError as error:
        answer = error.read(300).decode(errors="replace").strip() or error.reason
        raise DataError(f"{address} takes no metrics: {error.code}, {answer}") from None
    except (OSError, ValueError, HTTPException) as error:
        raise DataError(f"{address} can't be reached: {error}") from None
