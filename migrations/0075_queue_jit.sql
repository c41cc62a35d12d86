-- Planning without some plan types goes with jit off.

-- +goose Up

-- With plan types turned off a plan's cost may pass jit_above_cost by far; a server with default settings would compile it.
ALTER FUNCTION job_wake(uuid, text, text, uuid, timestamptz) SET jit = off;
