-- Which events are one step. What waits in a run is read from the whole of it, as taking verbs back changes that too.
ALTER TABLE events ADD COLUMN more INTEGER NOT NULL DEFAULT 0;
DROP INDEX gate_events;
