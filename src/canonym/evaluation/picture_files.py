"""Pictures as SVG and PNG files; needs matplotlib. The same picture gives the same bytes."""

from __future__ import annotations

import textwrap
from pathlib import Path
from typing import Any

from canonym.errors import InvalidInput, require
from canonym.evaluation.pictures import Picture
from canonym.files import write_file

__all__ = ["FORMATS", "write_picture"]

FORMATS: tuple[str, ...] = ("svg", "png")
"""What can be written, by the suffix of the file."""

# Ten colours that stay apart for most eyes, and markers for the groups beyond them.
_COLOURS = (
    *("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#7a6a00"),
    *("#56b4e9", "#8b4513", "#5e3c99", "#666666", "#e69f00"),
)
_MARKERS = ("o", "s", "^", "D", "v", "P", "X", "*")
_LISTED = 24
_WIDTH = 34


def write_picture(picture: Picture, path: str | Path, *, title: str = "") -> None:
    """Draw a picture into a file.

    Parameters
    ----------
    picture : Picture
        Of `canonym.evaluation.pictures.make_picture`.
    path : str or Path
        The file, ``*.svg`` or ``*.png``; it appears whole or not at all. In an SVG every point has
        a title with its name, which browsers show.
    title : str
        What stands above it.

    Raises
    ------
    InvalidInput
        If the suffix is of no format.
    MissingExtra
        If matplotlib is not installed.
    """
    format = Path(path).suffix.lower().lstrip(".")
    if format not in FORMATS:
        raise InvalidInput(f"{path}: the name of the file has to end in .{' or .'.join(FORMATS)}")
    matplotlib = require("matplotlib", "drawing a picture", "pictures")
    # Text stays text; ids inside the SVG come from its content and not from chance.
    settings = {"svg.fonttype": "none", "svg.hashsalt": "canonym", "font.family": "sans-serif"}
    metadata = {"Date": None, "Creator": None} if format == "svg" else {"Software": None}
    with matplotlib.rc_context(settings):
        figure = _drawn(picture, title)
        with write_file(path) as partial:
            figure.savefig(partial, format=format, dpi=150, metadata=metadata)
            if format == "svg":
                _add_names(partial, picture)


def _drawn(picture: Picture, title: str) -> Any:
    figures = require("matplotlib.figure", "drawing a picture", "pictures")
    figure = figures.Figure(figsize=(9.6, 6.4), layout="constrained")
    axes = figure.add_subplot()
    groups = picture.groups
    handles = []
    for number, group in enumerate(groups):
        rows = [i for i, one in enumerate(picture.shown) if one.group == group]
        marker = _MARKERS[number // len(_COLOURS) % len(_MARKERS)]
        points = axes.scatter(
            picture.points[rows, 0],
            picture.points[rows, 1],
            s=26 if len(picture.shown) < 400 else 12,
            c=_COLOURS[number % len(_COLOURS)],
            marker=marker,
            linewidths=0.3,
            edgecolors="white",
            label=textwrap.shorten(group, _WIDTH, placeholder="…"),
            gid=f"group-{number}",
        )
        handles.append(points)
    axes.set_xticks([])
    axes.set_yticks([])
    for side in axes.spines.values():
        side.set_color("#bbbbbb")
    if title:
        axes.set_title(title, loc="left", fontsize=11)
    kind = {"concept": "Names by concept", "type": "Concepts by type"}[picture.by]
    more = len(groups) - _LISTED
    if more > 0:
        kind += f", {_LISTED} of {len(groups)}"
    figure.legend(
        handles=handles[:_LISTED],
        loc="outside right upper",
        title=kind,
        fontsize=8,
        title_fontsize=8,
        alignment="left",
        frameon=False,
        handletextpad=0.2,
    )
    return figure


def _add_names(path: Path, picture: Picture) -> None:
    """Give every point of an SVG its name as a title."""
    import xml.etree.ElementTree as ET

    svg = "http://www.w3.org/2000/svg"
    ET.register_namespace("", svg)
    ET.register_namespace("xlink", "http://www.w3.org/1999/xlink")
    tree = ET.parse(path)
    for number, group in enumerate(picture.groups):
        shown = [one for one in picture.shown if one.group == group]
        place = tree.find(f".//{{{svg}}}g[@id='group-{number}']")
        points = [] if place is None else place.findall(f".//{{{svg}}}use")
        for point, one in zip(points, shown, strict=True):
            ET.SubElement(point, f"{{{svg}}}title").text = f"{one.name} ({one.concept})"
    tree.write(path, encoding="utf-8", xml_declaration=True)
