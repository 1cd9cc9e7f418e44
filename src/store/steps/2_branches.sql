-- Runs that branched off others, and runs that were read from a file.
ALTER TABLE runs ADD COLUMN parent TEXT;
ALTER TABLE runs ADD COLUMN parent_seq INTEGER;
ALTER TABLE runs ADD COLUMN imported INTEGER;
