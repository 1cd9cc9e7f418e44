-- Who allowed, refused and changed what, and which calls ran: kept when runs are deleted. Each hash covers the one before it.
CREATE TABLE audit (
    number INTEGER PRIMARY KEY,
    json TEXT NOT NULL,
    hash TEXT NOT NULL
) STRICT;
