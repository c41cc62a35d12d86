-- Searches of dead jobs read no rows that they do not show.

-- +goose Up

-- Each index answers for all that a search may be narrowed by but the text: what does not fit is passed over in the
-- index, and a lane in which nothing is dead costs no walk over the rows of all others.
DROP INDEX job_death_newest, job_death_kind, job_death_org, job_death_org_kind;
CREATE INDEX job_death_newest ON job_death (died_at, id) INCLUDE (org_id, kind, lane);
CREATE INDEX job_death_lane ON job_death (lane, died_at, id) INCLUDE (org_id, kind);
CREATE INDEX job_death_kind ON job_death (kind, died_at, id) INCLUDE (org_id, lane);
CREATE INDEX job_death_org ON job_death (org_id, died_at, id) INCLUDE (kind, lane);
CREATE INDEX job_death_org_kind ON job_death (org_id, kind, died_at, id) INCLUDE (lane);
