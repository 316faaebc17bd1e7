# SPDX-License-Identifier: BSD-2-Clause
"""Sends an export to a server that keeps figures: a Prometheus push gateway, or Bencher."""

import json
import os
from base64 import urlsafe_b64encode
from http.client import HTTPException
from typing import Any
from urllib.error import HTTPError
from urllib.parse import urlsplit
from urllib.request import HTTPRedirectHandler, Request, build_opener

from teemark.base.errors import DataError, UsageMistake
from teemark.run.reader import RunData


def to_gateway(text: str, run: RunData, address: str) -> None:
    """Replaces all figures that a push gateway has of this board and plan by `text`, which is
    OpenMetrics. Raises DataError if the gateway can't be reached, or refuses the text."""
    board, of = (urlsafe_b64encode(name.encode()).decode() or "=" for name in (run.name, run.plan))
    place = f"{address.rstrip('/')}/metrics/job/teemark/board@base64/{board}/plan@base64/{of}"
    request = _request(place, text.encode(), "text/plain; version=0.0.4", "PUT")
    _send(address, request)


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
    request = _request(f"{server}/v0/run", data, "application/json", "POST")
    if key := os.environ.get("BENCHER_API_KEY"):
        request.add_unredirected_header("Authorization", f"Bearer {key}")
    _send(address, request)


class _Stays(HTTPRedirectHandler):
    """Refuses redirects: urllib would go there without the figures, and the key stays here."""

    def redirect_request(self, *words: Any, **_more: Any) -> None:
        _, _, code, _, _, place = words
        raise DataError(
            f"the server sends us to {place} ({code})", hint=f"if that is right: --push {place}"
        )


def _request(place: str, data: bytes, kind: str, method: str) -> Request:
    try:
        if not urlsplit(place).hostname:
            raise ValueError("it has no host")
        return Request(place, data, {"Content-Type": kind}, method=method)
    except ValueError as error:
        raise UsageMistake(f"{place} is no address: {error}", hint="http://HOST:9091") from None


def _send(address: str, request: Request) -> None:
    try:
        build_opener(_Stays).open(request, timeout=30).close()
    except HTTPError as error:
        answer = error.read(300).decode(errors="replace").strip() or error.reason
        raise DataError(f"{address} takes no metrics: {error.code}, {answer}") from None
    except (OSError, ValueError, HTTPException) as error:
        raise DataError(f"{address} can't be reached: {error}") from None
