-- The attempt that delivered is kept in the delivery's row, which the outcome updates anyway. webhook_attempt holds failed
-- and interrupted attempts, those sent through an open circuit, and what earlier versions have written.

-- +goose Up

-- All NULL: no attempt is kept here. Its number is attempts, its trigger that of the delivery, its status last_status.
ALTER TABLE webhook_delivery
    ADD COLUMN attempt_id      uuid,
    ADD COLUMN request_headers json,
    ADD COLUMN answer          bytea,       -- its first 16 KiB
    ADD COLUMN answer_cut      boolean,
    ADD COLUMN dns_us          int,
    ADD COLUMN connect_us      int,
    ADD COLUMN tls_us          int,
    ADD COLUMN first_byte_us   int,
    ADD COLUMN total_us        int,
    ADD COLUMN remote_addr     text,        -- operators only
    ADD COLUMN started_at      timestamptz;

-- A list of all deliveries of an endpoint merges those of each status, which webhook_delivery_status has in order. Each
-- delivery wrote two entries here.
DROP INDEX webhook_delivery_list;
