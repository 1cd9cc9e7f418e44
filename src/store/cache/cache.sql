-- Results that later runs may take, each with what it was made of.
CREATE TABLE results (
    key TEXT PRIMARY KEY,
    workspace TEXT NOT NULL,
    worker TEXT NOT NULL,
    run TEXT NOT NULL,
    node TEXT NOT NULL,
    made INTEGER NOT NULL,
    used INTEGER NOT NULL,
    uses INTEGER NOT NULL,
    bytes INTEGER NOT NULL,
    parts TEXT NOT NULL,
    json TEXT NOT NULL
) STRICT;
CREATE INDEX results_by_worker ON results (workspace, worker, made);
CREATE INDEX results_by_run ON results (run);
CREATE INDEX results_by_use ON results (used);
-- How much all of them take.
CREATE TABLE room (bytes INTEGER NOT NULL) STRICT;
INSERT INTO room VALUES (0);
CREATE TRIGGER kept AFTER INSERT ON results BEGIN UPDATE room SET bytes = bytes + new.bytes; END;
CREATE TRIGGER dropped AFTER DELETE ON results BEGIN UPDATE room SET bytes = bytes - old.bytes; END;
-- What came of looking: the newest only.
CREATE TABLE looks (
    number INTEGER PRIMARY KEY,
    run TEXT NOT NULL,
    node TEXT NOT NULL,
    at INTEGER NOT NULL,
    hit INTEGER NOT NULL,
    why TEXT NOT NULL
) STRICT;
CREATE INDEX looks_by_run ON looks (run);
