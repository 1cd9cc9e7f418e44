-- Runs and their events.
CREATE TABLE runs (
    id TEXT PRIMARY KEY,
    workspace TEXT NOT NULL,
    goal TEXT NOT NULL,
    created INTEGER NOT NULL,
    finished INTEGER,
    outcome TEXT,
    nodes INTEGER NOT NULL
) STRICT;
CREATE INDEX runs_by_workspace ON runs (workspace, created);
CREATE TABLE events (
    run TEXT NOT NULL REFERENCES runs (id),
    seq INTEGER NOT NULL,
    at INTEGER NOT NULL,
    kind TEXT NOT NULL,
    json TEXT NOT NULL,
    PRIMARY KEY (run, seq)
) STRICT;
CREATE INDEX gate_events ON events (run, seq) WHERE kind IN ('approval_required', 'gate_decided', 'gate_voided');
