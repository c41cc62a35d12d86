-- Use of the month's AI tokens is told at 80 and at 100 percent, as that of other limits is.

-- +goose Up

ALTER TABLE ai_quota ADD COLUMN told smallint NOT NULL DEFAULT 0 CHECK (told IN (0, 80, 100)); -- the percentage that was last announced
ALTER TABLE ai_reservation ADD COLUMN cap bigint; -- the month's limit when it was made; NULL: none
