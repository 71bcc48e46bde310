"""A set of ids that forgets nothing and may remember too much."""

from __future__ import annotations

import zlib

__all__ = ["Seen"]


class Seen:
    """Which ids may have been met: sure of what is new, and nearly sure of what is not.

    Spares a look into the database for nearly every new concept, at 16 MiB whatever their number.
    """

    def __init__(self) -> None:
        self._bits = bytearray(1 << 24)

    def add(self, id_: str) -> bool:
        """Note an id; return False if it was surely never noted before."""
        # Not `hash`, which differs between runs, and with it the order of pages in the file.
        place = zlib.crc32(id_.encode("utf-8", "surrogatepass"))
        byte, bit = place >> 3 & 0xFFFFFF, 1 << (place & 7)
        if self._bits[byte] & bit:
            return True
        self._bits[byte] |= bit
        return False
