"""The look of a linker, in a console and in a notebook."""

from __future__ import annotations

from typing import Any

from canonym.terminology import Terminology
from canonym.types.html import html_table


class Displayed:
    """Shows what ``info()`` says: terminology, concepts, names, encoders and order."""

    terminology: Terminology

    def info(self) -> dict[str, Any]:
        """Describe the linker."""
        raise NotImplementedError

    def __repr__(self) -> str:
        facts = [f"{name}: {value}" for name, value in self._facts().items()]
        return f"<{type(self).__name__}, {', '.join(facts)}>"

    def _repr_html_(self) -> str:
        return html_table(self._facts().items())

    def _facts(self) -> dict[str, str]:
        info = self.info()
        sources = info["terminology"]["sources"]
        return {
            "terminology": " + ".join(sources) or info["folder"],
            "concepts": f"{self.terminology.n_concepts:,}",
            "names": f"{self.terminology.n_names:,}",
            "encoders": " + ".join(one["name"] for one in info["encoders"]) or "none",
            "order": info["order"],
        }
