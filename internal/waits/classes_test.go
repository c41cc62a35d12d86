package waits_test

import (
	"maps"
	"regexp"
	"slices"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/funnelwork/funnelwork/internal/testkit"
	"github.com/funnelwork/funnelwork/internal/waits"
)

// records are columns whose names say that they record what has happened.
var records = regexp.MustCompile(`\.(created|updated|archived|completed|started|received|sent|verified|revoked|used|` +
	`last_used|undone|undo|detached|checked|connected|disconnected|discarded|closed|removed|promoted|retired|added|` +
	`activated|confirmed|delivered|complained|replied|refused|soft_bounced|dated|lifted|scored|trained|recorded|` +
	`built|announced|granted|failed|suspended|degraded|lost|proven|routed|ended|paused|paid|worked|keyed|synced|` +
	`noticed|done|disabled|last_event|last_message|anonymized|sealed|rebuilt)_at$`)

// What the other columns of times are.
const (
	wait     = "a wait, in columns"
	job      = "a wait, in package queue/store"
	bounded  = "bounded where it is read"
	planned  = "set by a person or a plan"
	expiry   = "an expiry, which may come later"
	record   = "a record"
	schedule = "package scheduler's"
)

// classes has every column of a time that may lie in the future.
var classes = map[string]string{
	"ai_reservation.expires_at":         expiry,
	"billing_preview.expires_at":        expiry,
	"billing_preview.proration_date":    record,
	"broadcast.after_at":                record, // a position in the recipients
	"broadcast.frozen_at":               record,
	"broadcast.send_at":                 planned,
	"broadcast_recipient.due_at":        planned,
	"connect_account.deadline":          planned,
	"connect_account.intended_at":       record,
	"connect_account.state_since":       record,
	"connect_sale.fee_refused_at":       record,
	"consent_request.since":             record,
	"contact_duplicate_search.asked_at": record,
	"contact_export.after_at":           record,
	"contact_export.expires_at":         expiry,
	"contact_score.fades_at":            planned, // by the model, days ahead
	"domain.claimed_at":                 record,
	"domain.next_check_at":              wait,
	"email.due_at":                      planned,
	"email.marked_at":                   record,
	"email.scheduled_at":                planned,
	"email_fact.at":                     record,
	"email_hit.at":                      bounded,
	"enrolment.due_at":                  wait, // of conditions; delays are planned
	"enrolment.kept_due_at":             planned,
	"enrolment.resume_at":               planned,
	"enrolment.state_at":                record,
	"enrolment.until_at":                planned,
	"enrolment_batch.after_at":          record,
	"enrolment_history.at":              record,
	"invitation.expires_at":             expiry,
	"job.delayed_at":                    record,
	"job.lease_until":                   job,
	"job.run_at":                        job,
	"job.wake_at":                       job,
	"job_floor.at":                      bounded,
	"job_act.at":                        record,
	"job_death.died_at":                 record,
	"job_lane.full_until":               job,
	"job_line.held_at":                  record,
	"job_line.held_until":               job,
	"job_line.next_at":                  bounded,
	"job_redrive.stepped_at":            bounded,
	"mailbox.check_requested_at":        record,
	"mailbox.domain_checked_at":         wait,
	"mailbox.health_at":                 wait,
	"mailbox.health_since":              record,
	"mailbox.held_until":                planned,
	"mailbox.next_slot_at":              wait, // and bounded where it is read
	"mailbox.rate_next_at":              bounded,
	"mailbox_folder.next_sync_at":       wait,
	"mailbox_silence.next_at":           wait,
	"mailbox_silence.since":             wait,
	"message.read_at":                   record,
	"oauth_state.expires_at":            expiry,
	"org.writes_until":                  planned,
	"outreach_count.marked_at":          record, // of emails
	"outreach_count.unmarked_at":        record,
	"outreach_delta.marked_at":          record,
	"outreach_delta.unmarked_at":        record,
	"overview_state.counted_at":         wait,
	"overview_state.due_at":             wait,
	"overview_state.late_at":            wait,
	"overview_state.look_at":            wait,
	"overview_state.read_at":            wait,
	"overview_state.rest_until":         wait,
	"overview_state.whole_at":           wait,
	"plan_change.effective_at":          planned,
	"plan_override.expires_at":          planned,
	"process.changed_at":                record,
	"process.seen_at":                   wait,
	"refresh_token.expires_at":          expiry,
	"schedule_zone.closes_at":           planned,
	"schedule_zone.opens_at":            planned,
	"score_model.learned_to":            record,
	"score_snapshot.at":                 record,
	"segment_entry.due_at":              wait,
	"send_group.wake_at":                wait,
	"sending_domain.next_check_at":      wait,
	"signing_key.use_at":                planned, // the key before it signs until then
	"social_budget.claim_at":            wait,
	"social_budget.next_at":             wait,
	"social_grant.access_expires_at":    expiry,
	"social_grant.attempt_at":           record,
	"social_grant.issued_at":            wait,
	"social_grant.refresh_at":           wait,
	"social_grant.refresh_expires_at":   expiry,
	"social_hold.held_until":            wait,
	"social_hold.since":                 wait,
	"social_notice.issued_at":           record,
	"social_pending.expires_at":         expiry,
	"staff_access.expires_at":           expiry,
	"stripe_subscription.pending_until": planned,
	"stripe_subscription.period_end":    planned,
	"stripe_subscription.period_start":  record,
	"stripe_subscription.read_at":       record,
	"subscription.current_period_end":   planned,
	"subscription.current_period_start": record,
	"subscription.past_due_since":       record,
	"subscription.trial_ends_at":        planned,
	"task.due_at":                       planned,
	"task.due_order":                    planned,
	"tick.made_at":                      wait,
	"tick.tick":                         schedule,
	"timeline.at":                       record,
	"user_token.expires_at":             expiry,
	"variant_comparison.check_at":       wait,
	"webhook_delivery.next_attempt_at":  record, // for people; the job has the time
	"webhook_endpoint.failing_since":    record,
	"webhook_endpoint.previous_until":   expiry,
	"webhook_health.failing_since":      wait,
	"webhook_health.next_probe_at":      wait,
	"webhook_health.opened_at":          wait,
	"webhook_health.streak_from":        wait,
	"webhook_replay.from_at":            planned,
	"webhook_replay.to_at":              planned,
}

const timesSQL = `
SELECT format('%s.%s', c.relname, a.attname) FROM pg_class c
JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
WHERE c.relnamespace = 'public'::regnamespace AND c.relkind IN ('r', 'p') AND NOT c.relispartition
	AND c.relname !~ '^goose' AND a.atttypid IN ('timestamptz'::regtype, 'timestamp'::regtype) ORDER BY 1`

// A clock that is set back must be thought of for each column that may lie in the future.
func TestEveryColumnOfATimeHasAClass(t *testing.T) {
	t.Parallel()
	rows, err := testkit.Pgx(t, testkit.DB(t).URL).Query(t.Context(), timesSQL)
	if err != nil {
		t.Fatal(err)
	}
	all, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		t.Fatal(err)
	}
	for _, column := range all {
		if classes[column] == "" && !records.MatchString(column) {
			t.Errorf("%s has no class: may a clock that is set back make something wait for it?", column)
		}
	}
	for _, column := range slices.Sorted(maps.Keys(classes)) {
		if !slices.Contains(all, column) {
			t.Errorf("%s does not exist", column)
		}
	}
}

func TestTheWaitsOfTheClassesAreThoseThatEnd(t *testing.T) {
	t.Parallel()
	ended := map[string]bool{}
	for _, column := range waits.Columns() {
		ended[column] = true
		if classes[column] != wait {
			t.Errorf("%s ends, and is classified as %q", column, classes[column])
		}
	}
	for column, class := range classes {
		if class == wait && !ended[column] {
			t.Errorf("%s is classified as a wait, and does not end", column)
		}
	}
}
