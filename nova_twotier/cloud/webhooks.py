"""Posts to webhooks, signed as the Standard Webhooks specification says, version 1.0.0."""

import base64
import hashlib
import hmac
import json
import re
import time
from collections.abc import Callable, Iterable, Mapping
from typing import Any
from urllib.parse import urlsplit

import requests

#: What a key begins with, before its base64.
KEY_PREFIX = "whsec_"
#: Bytes that a key may have.
SHORTEST_KEY, LONGEST_KEY = 24, 64
#: A part of a path that a server may take for another one than it looks like.
_CROOKED = re.compile(r"(^|/)\.{1,2}(/|$)|%2e|%2f|%5c|\\", re.IGNORECASE)


class DeliveryError(Exception):
    """An event could not be delivered; the message says why, and names no address."""


class Webhooks:
    """Posts with the options of group `[job_events]`.

    :param clock: seconds since the epoch.
    """

    def __init__(self, options, clock: Callable[[], float] = time.time):
        self._options, self._clock = options, clock

    def post(self, url: str, key: str, message: str, content: Mapping[str, Any]) -> None:
        """
        :param key: base64, after `KEY_PREFIX`.
        :param message: an id by which the receiver recognises a repeated message.
        :raises DeliveryError: unless the receiver accepts it.
        """
        if not allowed(url, self._options.allowed_webhooks):
            raise DeliveryError("the operator does not allow this webhook any more")
        body = json.dumps(content).encode()
        at = str(int(self._clock()))
        headers = {
            "Content-Type": "application/json",
            "User-Agent": "nova-twotier",
            "webhook-id": message,
            "webhook-timestamp": at,
            "webhook-signature": signature(key, message, at, body),
        }
        try:
            with requests.post(
                url,
                data=body,
                headers=headers,
                timeout=self._options.timeout,
                allow_redirects=False,
                # The answer's body is of no interest, and may be endless.
                stream=True,
                verify=self._options.cafile or True,
                # Or requests would look for credentials in ~/.netrc.
                auth=lambda request: request,
            ) as answer:
                status = answer.status_code
        except requests.Timeout:
            raise DeliveryError("the webhook did not answer in time") from None
        except requests.RequestException as error:
            # Its text has the whole address, which may be a secret.
            raise DeliveryError(f"the webhook cannot be reached ({type(error).__name__})") from None
        if not 200 <= status < 300:
            raise DeliveryError(f"the webhook answered with HTTP status {status}")


def signature(key: str, message: str, at: str, body: bytes) -> str:
    """The header `webhook-signature`.

    :param at: seconds since the epoch, as in the header `webhook-timestamp`.
    """
    signed = b".".join((message.encode(), at.encode(), body))
    digest = hmac.digest(_bytes(key), signed, hashlib.sha256)
    return f"v1,{base64.b64encode(digest).decode()}"


def check_key(key: str) -> None:
    """:raises ValueError: if it is no key, with what to give."""
    try:
        length = len(_bytes(key))
    except ValueError:
        length = 0
    if not SHORTEST_KEY <= length <= LONGEST_KEY:
        raise ValueError(
            f"give a key of {SHORTEST_KEY} to {LONGEST_KEY} random bytes in base64, as `openssl "
            "rand -base64 32` makes it"
        )


def allowed(url: str, beginnings: Iterable[str]) -> bool:
    """Whether a URL is one of those that begin as the operator allows."""
    asked = _split(url)
    return asked is not None and any(
        ours is not None and asked[:3] == ours[:3] and _leads_to(ours[3], asked[3])
        for ours in map(_split, beginnings)
    )


def _leads_to(beginning: str, path: str) -> bool:
    return path == beginning or path.startswith(beginning.rstrip("/") + "/")


def _split(url: str) -> tuple[str, str | None, int | None, str] | None:
    """Scheme, host, port and path of a URL; None if it is not a plain one of http or https."""
    try:
        parts = urlsplit(url)
        port = parts.port or {"http": 80, "https": 443}[parts.scheme]
    except (ValueError, KeyError):
        return None
    path = parts.path or "/"
    odd = "@" in parts.netloc or parts.fragment or _CROOKED.search(path)
    if odd or not parts.hostname or not url.isascii() or not url.isprintable() or " " in url:
        return None
    return parts.scheme, parts.hostname, port, path


def _bytes(key: str) -> bytes:
    return base64.b64decode(key.removeprefix(KEY_PREFIX), validate=True)
