"""A sequence of links that turns into dicts and tables."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, overload

from canonym.types import Link
from canonym.types.links import links_html

_SHOWN = 20  # rows in a notebook


class Links(Sequence[Link]):
    """Links in the order of their mentions.

    Parameters
    ----------
    links : iterable of Link
        One per mention.
    """

    def __init__(self, links: Iterable[Link]) -> None:
        self._links = tuple(links)

    @overload
    def __getitem__(self, place: int) -> Link: ...

    @overload
    def __getitem__(self, place: slice) -> Links: ...

    def __getitem__(self, place: int | slice) -> Link | Links:
        return Links(self._links[place]) if isinstance(place, slice) else self._links[place]

    def __len__(self) -> int:
        return len(self._links)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Links) and self._links == other._links

    __hash__ = None  # type: ignore[assignment]  # candidates hold dicts

    def __repr__(self) -> str:
        lines = [f"  {link}" for link in self._links[:10]]
        if len(self) > 10:
            lines.append(f"  … {len(self) - 10:,} more")
        return "\n".join([f"<{len(self):,} links>", *lines])

    def _repr_html_(self) -> str:
        more = len(self) - _SHOWN
        below = f"… {more:,} more of {len(self):,} links" if more > 0 else ""
        return links_html(self._links[:_SHOWN], below=below)

    def to_dicts(self) -> list[dict[str, Any]]:
        """Return one nested dict per link, ready for JSON; see `canonym.types.Link.to_dict`."""
        return [link.to_dict() for link in self._links]

    def to_arrow(self) -> Any:
        """Return a flat `pyarrow.Table`, one row per candidate.

        Raises
        ------
        MissingExtra
            Without pyarrow (extra ``arrow``).
        """
        from canonym.export import links_to_arrow

        return links_to_arrow(self._links)

    def to_pandas(self) -> Any:
        """Return the table of `to_arrow` as a `pandas.DataFrame`.

        Raises
        ------
        MissingExtra
            Without pandas (extra ``pandas``).
        """
        from canonym.errors import require

        require("pandas", "a pandas table", "pandas")
        return self.to_arrow().to_pandas()
