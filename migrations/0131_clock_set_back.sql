-- What the clock of Postgres stamped before it was set back would wait until the clock has come that far again. Workers
-- shorten such waits: packages waits and queue/store have the rules, and need to write these columns.

-- +goose Up

-- delayed_at: when run_at was last set as a delay. It tells a delay from a time that was asked for, which stays.
ALTER TABLE job ADD COLUMN delayed_at timestamptz;

-- held_at: when held_until was last set.
ALTER TABLE job_line ADD COLUMN held_at timestamptz;

GRANT UPDATE (made_at) ON tick TO funnelwork_system;
GRANT UPDATE (since, next_at) ON mailbox_silence TO funnelwork_system;
GRANT UPDATE (failing_since, streak_from, opened_at, next_probe_at) ON webhook_health TO funnelwork_system;
GRANT UPDATE (next_check_at) ON domain, sending_domain TO funnelwork_system;
GRANT UPDATE (wake_at) ON send_group TO funnelwork_system;
GRANT UPDATE (due_at) ON segment_entry TO funnelwork_system;
GRANT UPDATE (check_at) ON variant_comparison TO funnelwork_system;
GRANT UPDATE (counted_at, whole_at, late_at, rest_until, due_at, read_at, look_at) ON overview_state
    TO funnelwork_system;

-- Conditions of enrolments that wait are decided again.
CALL system('enrolment', 'SELECT');
GRANT UPDATE (due_at) ON enrolment TO funnelwork_system;
