-- The order of deals in a stage of the board.

-- +goose Up

-- place is the position that a move gave to the deal; NULL: the newest deal is first. Then the position is the id with
-- each hexadecimal digit d replaced by 15 - d, which is unique and falls with time. The closing i leaves room below it.
ALTER TABLE deal
    ADD COLUMN place    text COLLATE "C",
    ADD COLUMN position text COLLATE "C" NOT NULL GENERATED ALWAYS AS (coalesce(place,
        translate(replace(id::text, '-', ''), '0123456789abcdef', 'fedcba9876543210') || 'i') COLLATE "C") STORED;
-- Counts and sums of a stage are read from the index alone.
CREATE INDEX deal_board ON deal (org_id, stage_id, position, id) INCLUDE (currency, amount) WHERE archived_at IS NULL;
