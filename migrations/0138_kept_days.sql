-- Lists of deliveries read their days, newest first, down to the oldest that is kept.

-- +goose Up
GRANT SELECT ON partitioned TO funnelwork_app;
