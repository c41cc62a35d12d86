-- The W3C traceparent of the span that added a row. A transaction that is traced sets app.traceparent, so that no statement
-- names the column. An empty setting is that of an earlier transaction of the session.

-- +goose Up
ALTER TABLE job ADD COLUMN traceparent text DEFAULT nullif(current_setting('app.traceparent', true), '');
ALTER TABLE event ADD COLUMN traceparent text DEFAULT nullif(current_setting('app.traceparent', true), '');
ALTER TABLE webhook_delivery ADD COLUMN traceparent text DEFAULT nullif(current_setting('app.traceparent', true), '');
