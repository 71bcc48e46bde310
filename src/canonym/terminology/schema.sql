-- The tables of a terminology file, see canonym.terminology.sqlite_file.
CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE concepts (
    ordinal INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, label TEXT NOT NULL,
    definition TEXT NOT NULL, types TEXT NOT NULL, source TEXT NOT NULL, version TEXT NOT NULL,
    deprecated INTEGER NOT NULL, replaced_by TEXT NOT NULL);
CREATE TABLE names (
    row INTEGER PRIMARY KEY, concept INTEGER NOT NULL, text TEXT NOT NULL, scope INTEGER NOT NULL,
    language TEXT NOT NULL, source TEXT NOT NULL, UNIQUE (concept, text, language));
CREATE TABLE relations (
    head TEXT NOT NULL, relation TEXT NOT NULL, tail TEXT NOT NULL,
    PRIMARY KEY (head, relation, tail)) WITHOUT ROWID;
CREATE TABLE xrefs (
    concept_id TEXT NOT NULL, target TEXT NOT NULL, kind TEXT NOT NULL,
    PRIMARY KEY (concept_id, kind, target)) WITHOUT ROWID;
CREATE TABLE types (
    type TEXT NOT NULL, concept INTEGER NOT NULL, PRIMARY KEY (type, concept)) WITHOUT ROWID;
