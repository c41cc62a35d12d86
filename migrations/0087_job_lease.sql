-- A claim writes nothing that an index covers, so that it is a HOT update.

-- +goose Up

-- lease_until: the end of a run's lease; NULL: no run holds the job. A lease ends at the later of it and wake_at. The
-- relay moves wake_at to it when it looks at the row of a run that goes on, which most runs are too short for.
--
-- Half of each page is left for the new version of a claimed row. The table keeps the size of its busiest time: rows
-- come and go by the thousand, and plans that were made while it was small would suit it no longer.
ALTER TABLE job ADD COLUMN lease_until timestamptz;
ALTER TABLE job SET (fillfactor = 50, vacuum_truncate = off, autovacuum_vacuum_cost_delay = 0);

-- Searches of dead jobs go by job_death, and the newest of a lane are found by job_dead_newest.
DROP INDEX job_dead;
