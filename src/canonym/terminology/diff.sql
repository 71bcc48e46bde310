-- Changes between two versions of a terminology, see canonym.terminology.diff.
--
-- Both files are attached, as "old" and "new". The table "successors" (id, target) holds the
-- concepts deprecated in the new file and the ordinal of their successor. What follows fills the
-- table "changes".

-- "kept" maps concepts of the old file to the new one. Its states: 0 same id, 1 merged into the new
-- concept, 2 same id although merged. Names and parents are compared along it, so that a merge is
-- reported once, and not again for each of its names and children.
CREATE TABLE kept (old INTEGER, new INTEGER, state INTEGER NOT NULL, PRIMARY KEY (old, new))
    WITHOUT ROWID;
INSERT INTO kept SELECT o.ordinal, s.target, 1 FROM old.concepts o
    JOIN successors s ON s.id = o.id WHERE NOT o.deprecated;
INSERT INTO kept SELECT o.ordinal, n.ordinal,
    CASE WHEN o.ordinal IN (SELECT old FROM kept) THEN 2 ELSE 0 END
    FROM old.concepts o JOIN new.concepts n ON n.id = o.id;
INSERT INTO kept SELECT o.ordinal, MIN(t.ordinal), 1 FROM old.concepts o
    JOIN new.xrefs x ON x.target = o.id AND x.kind = 'alternative'
    JOIN new.concepts t ON t.id = x.concept_id
    WHERE o.ordinal NOT IN (SELECT old FROM kept) GROUP BY o.ordinal;
CREATE INDEX kept_by_new ON kept (new, old, state);

-- Concepts.
CREATE TABLE changes (
    kind TEXT NOT NULL, id TEXT NOT NULL, label TEXT NOT NULL, name TEXT NOT NULL,
    before TEXT NOT NULL, after TEXT NOT NULL);
INSERT INTO changes SELECT 'added', n.id, n.label, '', '', '' FROM new.concepts n
    WHERE n.id NOT IN (SELECT id FROM old.concepts) ORDER BY n.ordinal;
INSERT INTO changes SELECT 'retired', o.id, o.label, '', '', 'absent' FROM old.concepts o
    WHERE o.ordinal NOT IN (SELECT old FROM kept) ORDER BY o.ordinal;
INSERT INTO changes SELECT 'retired', n.id, n.label, '', '', 'deprecated'
    FROM kept k JOIN old.concepts o ON o.ordinal = k.old JOIN new.concepts n ON n.ordinal = k.new
    WHERE k.state = 0 AND n.deprecated AND NOT o.deprecated ORDER BY n.ordinal;
INSERT INTO changes SELECT 'restored', n.id, n.label, '', '', ''
    FROM kept k JOIN old.concepts o ON o.ordinal = k.old JOIN new.concepts n ON n.ordinal = k.new
    WHERE k.state = 0 AND o.deprecated AND NOT n.deprecated ORDER BY n.ordinal;
INSERT INTO changes SELECT 'merged', o.id, o.label, '', o.id, n.id
    FROM kept k JOIN old.concepts o ON o.ordinal = k.old JOIN new.concepts n ON n.ordinal = k.new
    WHERE k.state = 1 ORDER BY o.ordinal;
INSERT INTO changes SELECT 'renamed', n.id, n.label, '', o.label, n.label
    FROM kept k JOIN old.concepts o ON o.ordinal = k.old JOIN new.concepts n ON n.ordinal = k.new
    WHERE k.state = 0 AND o.label != n.label ORDER BY n.ordinal;

-- Names.
CREATE TABLE lost AS SELECT MIN(o.row) AS row, o.concept, o.text FROM old.names o
    WHERE NOT EXISTS (SELECT 1 FROM kept k JOIN new.names n ON n.concept = k.new
                      AND n.text = o.text WHERE k.old = o.concept)
    GROUP BY o.concept, o.text;
CREATE TABLE gained AS SELECT MIN(n.row) AS row, n.concept, n.text FROM new.names n
    WHERE NOT EXISTS (SELECT 1 FROM kept k JOIN old.names o ON o.concept = k.old
                      AND o.text = n.text WHERE k.new = n.concept)
    GROUP BY n.concept, n.text;
CREATE INDEX gained_by_text ON gained (text);
CREATE TABLE moved AS SELECT l.row AS old_row, l.concept AS old, g.row AS new_row, g.concept AS new,
    l.text FROM lost l CROSS JOIN gained g ON g.text = l.text;
INSERT INTO changes SELECT 'name added', n.id, n.label, g.text, '', '' FROM gained g
    JOIN new.concepts n ON n.ordinal = g.concept
    WHERE g.concept IN (SELECT new FROM kept WHERE state = 0)
    AND g.row NOT IN (SELECT new_row FROM moved) ORDER BY n.ordinal, g.row;
INSERT INTO changes SELECT 'name removed', n.id, n.label, l.text, o.id, '' FROM lost l
    JOIN old.concepts o ON o.ordinal = l.concept JOIN kept k ON k.old = l.concept
    JOIN new.concepts n ON n.ordinal = k.new
    WHERE k.state < 2 AND l.row NOT IN (SELECT old_row FROM moved) ORDER BY n.ordinal, l.row;
INSERT INTO changes SELECT 'name moved', n.id, n.label, m.text, o.id, n.id FROM moved m
    JOIN old.concepts o ON o.ordinal = m.old JOIN new.concepts n ON n.ordinal = m.new
    ORDER BY m.new_row, m.old_row;

-- Parents: the concept that has the id of a parent, even as an alternative id.
CREATE TABLE was (child INTEGER, parent TEXT, now TEXT, PRIMARY KEY (child, now, parent))
    WITHOUT ROWID;
INSERT OR IGNORE INTO was SELECT k.new, p.id, COALESCE(n.id, p.id) FROM (
        SELECT o.ordinal AS child, COALESCE((SELECT id FROM old.concepts WHERE id = r.tail),
            (SELECT c.id FROM old.xrefs x JOIN old.concepts c ON c.id = x.concept_id
             WHERE x.target = r.tail AND x.kind = 'alternative' ORDER BY c.ordinal LIMIT 1),
            r.tail) AS id
        FROM old.relations r JOIN old.concepts o ON o.id = r.head WHERE r.relation = 'is_a') p
    JOIN kept k ON k.old = p.child AND k.state = 0
    LEFT JOIN old.concepts c ON c.id = p.id LEFT JOIN kept q ON q.old = c.ordinal
    LEFT JOIN new.concepts n ON n.ordinal = q.new
    WHERE COALESCE(q.new, -1) != k.new OR c.ordinal = p.child;
CREATE TABLE is_now (child INTEGER, parent TEXT, PRIMARY KEY (child, parent)) WITHOUT ROWID;
INSERT OR IGNORE INTO is_now SELECT n.ordinal,
        COALESCE((SELECT id FROM new.concepts WHERE id = r.tail),
            (SELECT c.id FROM new.xrefs x JOIN new.concepts c ON c.id = x.concept_id
             WHERE x.target = r.tail AND x.kind = 'alternative' ORDER BY c.ordinal LIMIT 1),
            r.tail)
    FROM new.relations r JOIN new.concepts n ON n.id = r.head WHERE r.relation = 'is_a'
    AND n.ordinal IN (SELECT new FROM kept WHERE state = 0);
INSERT INTO changes SELECT 'parent added', n.id, n.label, '', '', i.parent FROM is_now i
    JOIN new.concepts n ON n.ordinal = i.child
    WHERE NOT EXISTS (SELECT 1 FROM was w WHERE w.child = i.child AND w.now = i.parent)
    ORDER BY i.child, i.parent;
INSERT INTO changes SELECT 'parent removed', n.id, n.label, '', w.parent, '' FROM (
        SELECT w.child, w.parent, MAX(i.parent IS NOT NULL) AS still FROM was w
        LEFT JOIN is_now i ON i.child = w.child AND i.parent = w.now GROUP BY w.child, w.parent) w
    JOIN new.concepts n ON n.ordinal = w.child WHERE NOT w.still ORDER BY w.child, w.parent;
CREATE INDEX changes_by_kind ON changes (kind);
