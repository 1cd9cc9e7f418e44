-- Runs that are to be learned from no more, whatever is in the journal.
CREATE TABLE IF NOT EXISTS forgotten (run TEXT PRIMARY KEY) STRICT;
-- What people did with suggestions, and what taking one changed.
CREATE TABLE IF NOT EXISTS answers (
    number INTEGER PRIMARY KEY,
    suggestion TEXT NOT NULL UNIQUE,
    json TEXT NOT NULL,
    file TEXT,
    before TEXT,
    after TEXT
) STRICT;
-- All that follows is made from the journal, and made anew by another version.
CREATE TABLE read (run TEXT PRIMARY KEY, ended INTEGER NOT NULL) STRICT;
CREATE TABLE runs (
    id INTEGER PRIMARY KEY,
    run TEXT NOT NULL UNIQUE,
    workspace TEXT NOT NULL,
    goal TEXT NOT NULL,
    began INTEGER NOT NULL,
    ended INTEGER NOT NULL,
    outcome TEXT NOT NULL,
    private INTEGER NOT NULL,
    outline TEXT NOT NULL,
    tokens INTEGER NOT NULL,
    cost REAL
) STRICT;
CREATE VIRTUAL TABLE requests USING fts5 (request, tokenize = 'porter unicode61 remove_diacritics 2');
INSERT INTO requests (requests, rank) VALUES ('secure-delete', 1);
-- Where runs were in their estimates.
CREATE TABLE scores (run INTEGER NOT NULL, at INTEGER NOT NULL, measure TEXT NOT NULL, place REAL NOT NULL, inside INTEGER NOT NULL) STRICT;
CREATE INDEX scores_by_run ON scores (run);
CREATE INDEX scores_by_time ON scores (measure, at);
-- What tells attempts apart: rows name it by its number, so that they are summed up fast. What is not known is empty.
CREATE TABLE works (
    id INTEGER PRIMARY KEY,
    sort TEXT NOT NULL,
    worker TEXT NOT NULL,
    asked TEXT NOT NULL,
    model TEXT NOT NULL,
    goal TEXT NOT NULL,
    UNIQUE (sort, worker, asked, model, goal)
) STRICT;
CREATE TABLE attempts (
    run INTEGER NOT NULL,
    node TEXT NOT NULL,
    generation INTEGER NOT NULL,
    work INTEGER NOT NULL,
    outcome TEXT NOT NULL,
    ended INTEGER NOT NULL,
    took_ms INTEGER NOT NULL,
    calls INTEGER NOT NULL,
    prompt INTEGER NOT NULL,
    completion INTEGER NOT NULL,
    cost REAL,
    estimated INTEGER NOT NULL,
    input INTEGER NOT NULL,
    result INTEGER NOT NULL
) STRICT;
CREATE INDEX attempts_by_run ON attempts (run);
CREATE INDEX attempts_by_work ON attempts (work, ended);
CREATE TABLE tools (run INTEGER NOT NULL, work INTEGER NOT NULL, tool TEXT NOT NULL, calls INTEGER NOT NULL) STRICT;
CREATE INDEX tools_by_run ON tools (run);
CREATE INDEX tools_by_work ON tools (work, tool, calls);
CREATE TABLE follows (run INTEGER NOT NULL, before TEXT NOT NULL, after TEXT NOT NULL) STRICT;
CREATE INDEX follows_by_run ON follows (run);
