-- Deliveries that have ended are counted once. Before, each count read all deliveries of today, and every ten minutes those
-- of six days.

-- +goose Up

-- ended_before: at the last count, each delivery with a lower id had ended. ended_deliveries and ended_failures are how
-- many of these are of the day of that id, delivered and failed. NULL before the first count.
ALTER TABLE overview_state
    ADD COLUMN ended_before uuid,
    ADD COLUMN ended_deliveries bigint NOT NULL DEFAULT 0,
    ADD COLUMN ended_failures bigint NOT NULL DEFAULT 0;
