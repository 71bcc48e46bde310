"""Addresses of clusters, tried before anything waits for them."""

from __future__ import annotations

import socket

from canonym.errors import InvalidInput

_SECONDS = 5.0


def check_reachable(address: str, expected: str) -> None:
    """Refuse an address with a port where nothing answers; `expected` is an example of one.

    Addresses without a port, such as ``auto`` and ``yarn``, are left to the engine.
    """
    problem = None
    for place in address.partition("://")[2 if "://" in address else 0].split(","):
        host, colon, port = place.partition("/")[0].rpartition(":")
        if not colon or not port.isdigit():
            return
        try:
            socket.create_connection((host.strip("[]"), int(port)), timeout=_SECONDS).close()
        except (OSError, OverflowError) as error:
            problem = error
        else:
            return
    raise InvalidInput(
        f"nothing answers at the address {address} ({problem}); expected one such as {expected} of "
        "a cluster that runs and that this machine can reach"
    )
