"""Triplets of named concepts by relation: the classes that CODER's experiment tells apart.

python benchmarks/relation_classes.py
"""

from __future__ import annotations

from collections import Counter

from record import data_folder, parser, save
from reproduce.data import Shelf
from reproduce.files import read_experiment


def main() -> None:
    """Count, and write the counts."""
    shelf = Shelf(data_folder())
    row = next(row for row in read_experiment("coder-train").rows if row.get("task") == "relations")
    terminology = shelf.terminology(row["terminology"])
    named = {concept.id for concept in terminology.iter_concepts() if concept.label}
    relations = dict.fromkeys(shelf.relations(row["relations"], terminology))
    counts = Counter(one.relation for one in relations if {one.head, one.tail} <= named)
    rows = [{"relation": relation, "triplets": n} for relation, n in counts.most_common()]
    sources = [*row["terminology"], *row["relations"]]
    names = dict.fromkeys(one if isinstance(one, str) else one["file"] for one in sources)
    files = [shelf.data / name for name in names if name != "terminology"]
    save("relation_classes", {"rows": rows}, packages=[], data=files)


if __name__ == "__main__":
    parser(__doc__).parse_args()
    main()
