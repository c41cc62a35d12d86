package platformretention

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/funnelwork/funnelwork/internal/archive"
	"github.com/funnelwork/funnelwork/internal/auth"
	"github.com/funnelwork/funnelwork/internal/billing/plans"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/mail"
	"github.com/funnelwork/funnelwork/internal/org"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/queue"
)

// ahead is how many days in advance the partitions of big tables are created.
const ahead = 7

// batch is how many rows one transaction deletes.
const batch = 5000

// archiveTime is how long a run writes to the archive. It leaves time to read back what was written.
const archiveTime = 15 * time.Minute

// Job has the dependencies of the work.
type Job struct {
	System *postgres.DB
	Log    *slog.Logger
	Keep   Keep
	Plans  *plans.Catalogue // of the plans in Keep; nil: the standard one
	// Archive takes expired days before they are dropped. nil: they are dropped at once.
	Archive  archive.Objects
	Archived *archive.Metrics // may be nil
}

// Handler returns the kind's handler.
func (j Job) Handler() queue.Handler { return Kind.Handle(j.Work) }

// rules is the tables with rows that expire by age and that belong to no other package. Each statement deletes or
// clears at most $1 rows.
var rules = []struct{ table, sql string }{
	{
		"idempotency_key",
		`DELETE FROM idempotency_key WHERE ctid = ANY (ARRAY(SELECT ctid FROM idempotency_key
			WHERE created_at < now() - interval '24 hours' LIMIT $1))`,
	},
	// The rule for tick, below, keeps the latest tick of each entry: a scheduler derives the missed ticks from it.
	{
		"contact_merge",
		`UPDATE contact_merge SET undo = NULL WHERE ctid = ANY (ARRAY(SELECT ctid FROM contact_merge
			WHERE undo IS NOT NULL AND created_at < now() - interval '30 days' LIMIT $1))`,
	},
	{
		"contact_bulk",
		`DELETE FROM contact_bulk WHERE ctid = ANY (ARRAY(SELECT ctid FROM contact_bulk
			WHERE completed_at < now() - interval '30 days' LIMIT $1))`,
	},
	{
		"billing_preview",
		`DELETE FROM billing_preview WHERE ctid = ANY (ARRAY(SELECT ctid FROM billing_preview
			WHERE expires_at < now() - interval '1 day' LIMIT $1))`,
	},
	{
		"oauth_state",
		`DELETE FROM oauth_state WHERE ctid = ANY (ARRAY(SELECT ctid FROM oauth_state
			WHERE expires_at < now() - interval '1 hour' LIMIT $1))`,
	},
	{
		"social_notice",
		`DELETE FROM social_notice WHERE ctid = ANY (ARRAY(SELECT ctid FROM social_notice
			WHERE done_at < now() - interval '365 days' LIMIT $1))`,
	},
	{
		"stripe_event",
		`DELETE FROM stripe_event WHERE ctid = ANY (ARRAY(SELECT ctid FROM stripe_event
			WHERE received_at < now() - interval '90 days' LIMIT $1))`,
	},
	{"tick", `DELETE FROM tick WHERE ctid = ANY (ARRAY(SELECT ctid FROM tick WHERE tick < now() - interval '7 days'
		AND EXISTS (SELECT FROM tick AS later WHERE later.entry = tick.entry AND later.tick > tick.tick) LIMIT $1))`},
	// An import's data about contacts, needed for its undo, are deleted after 30 days; its result after a year.
	// Interrupted uploads are deleted first.
	{
		"contact_import_block",
		`DELETE FROM contact_import_block WHERE ctid = ANY (ARRAY(SELECT b.ctid FROM contact_import i
			JOIN contact_import_block b ON b.org_id = i.org_id AND b.import_id = i.id
		WHERE i.created_at < now() - interval '30 days' OR i.status = 'uploading'
		AND i.created_at < now() - interval '2 hours' LIMIT $1))`,
	},
	{
		"contact_import_effect",
		`DELETE FROM contact_import_effect WHERE ctid = ANY (ARRAY(SELECT e.ctid FROM contact_import i
			JOIN contact_import_effect e ON e.org_id = i.org_id AND e.import_id = i.id
		WHERE i.created_at < now() - interval '30 days' LIMIT $1))`,
	},
	{
		"contact_import_error",
		`DELETE FROM contact_import_error WHERE ctid = ANY (ARRAY(SELECT e.ctid FROM contact_import i
			JOIN contact_import_error e ON e.org_id = i.org_id AND e.import_id = i.id
		WHERE i.created_at < now() - interval '30 days' LIMIT $1))`,
	},
	{
		"contact_import_warning",
		`DELETE FROM contact_import_warning WHERE ctid = ANY (ARRAY(SELECT e.ctid FROM contact_import i
			JOIN contact_import_warning e ON e.org_id = i.org_id AND e.import_id = i.id
		WHERE i.created_at < now() - interval '30 days' LIMIT $1))`,
	},
	{"contact_import", `DELETE FROM contact_import WHERE ctid = ANY (ARRAY(SELECT ctid FROM contact_import
		WHERE created_at < now() - interval '365 days' OR status = 'uploading'
		AND created_at < now() - interval '2 hours' LIMIT $1))`},
	{
		"suppression_import_block",
		`DELETE FROM suppression_import_block WHERE ctid = ANY (ARRAY(SELECT b.ctid FROM suppression_import i
			JOIN suppression_import_block b ON b.org_id = i.org_id AND b.import_id = i.id
		WHERE i.created_at < now() - interval '30 days' OR i.status = 'uploading'
		AND i.created_at < now() - interval '2 hours' LIMIT $1))`,
	},
	{
		"suppression_import_error",
		`DELETE FROM suppression_import_error WHERE ctid = ANY (ARRAY(SELECT e.ctid FROM suppression_import i
			JOIN suppression_import_error e ON e.org_id = i.org_id AND e.import_id = i.id
		WHERE i.created_at < now() - interval '30 days' LIMIT $1))`,
	},
	{
		"suppression_import_warning",
		`DELETE FROM suppression_import_warning WHERE ctid = ANY (ARRAY(SELECT e.ctid FROM suppression_import i
			JOIN suppression_import_warning e ON e.org_id = i.org_id AND e.import_id = i.id
		WHERE i.created_at < now() - interval '30 days' LIMIT $1))`,
	},
	{"suppression_import", `DELETE FROM suppression_import WHERE ctid = ANY (ARRAY(SELECT ctid FROM suppression_import
		WHERE created_at < now() - interval '365 days' OR status = 'uploading'
		AND created_at < now() - interval '2 hours' LIMIT $1))`},
	{
		"consent_request",
		`DELETE FROM consent_request WHERE ctid = ANY (ARRAY(SELECT ctid FROM consent_request
			WHERE since < now() - interval '24 hours' LIMIT $1))`,
	},
	{
		"contact_export_part",
		`DELETE FROM contact_export_part WHERE ctid = ANY (ARRAY(SELECT p.ctid FROM contact_export e
			JOIN contact_export_part p ON p.org_id = e.org_id AND p.export_id = e.id
		WHERE e.expires_at < now() AND e.status <> 'expired' LIMIT $1))`,
	},
	{
		"contact_export",
		`UPDATE contact_export SET status = 'expired', computed = computed + 1 WHERE ctid = ANY (ARRAY(SELECT ctid
			FROM contact_export WHERE expires_at < now() AND status <> 'expired' LIMIT $1))`,
	},
	{
		"contact_export",
		`DELETE FROM contact_export WHERE ctid = ANY (ARRAY(SELECT ctid FROM contact_export
			WHERE created_at < now() - interval '365 days' LIMIT $1))`,
	},
	{
		"email_month",
		`DELETE FROM email_month WHERE ctid = ANY (ARRAY(SELECT ctid FROM email_month
			WHERE period < now() - interval '400 days' LIMIT $1))`,
	},
	{
		"provider_event", // provider.Remembered
		`DELETE FROM provider_event WHERE ctid = ANY (ARRAY(SELECT ctid FROM provider_event
			WHERE received_at < now() - interval '30 days' LIMIT $1))`,
	},
	{
		"broadcast_recipient",
		`DELETE FROM broadcast_recipient WHERE ctid = ANY (ARRAY(SELECT ctid FROM broadcast_recipient
			WHERE created_at < now() - interval '400 days' LIMIT $1))`,
	},
	{
		"enrolment_result",
		`DELETE FROM enrolment_result WHERE ctid = ANY (ARRAY(SELECT ctid FROM enrolment_result
			WHERE created_at < now() - interval '30 days' LIMIT $1))`,
	},
	// Entries of sequences without a mailbox.
	{
		"segment_entry",
		`DELETE FROM segment_entry WHERE ctid = ANY (ARRAY(SELECT ctid FROM segment_entry
			WHERE created_at < now() - interval '7 days' LIMIT $1))`,
	},
	{
		"enrolment_batch",
		`DELETE FROM enrolment_batch WHERE ctid = ANY (ARRAY(SELECT ctid FROM enrolment_batch
			WHERE completed_at < now() - interval '365 days' LIMIT $1))`,
	},
	{
		"enrolment_move",
		`DELETE FROM enrolment_move WHERE ctid = ANY (ARRAY(SELECT ctid FROM enrolment_move
			WHERE completed_at < now() - interval '365 days' LIMIT $1))`,
	},
	// Hits that were judged. An org's next run deletes them, too.
	{
		"email_hit",
		`DELETE FROM email_hit WHERE ctid = ANY (ARRAY(SELECT ctid FROM email_hit
			WHERE judged AND at < now() - interval '1 hour' LIMIT $1))`,
	},
	{
		"sandbox_email",
		`DELETE FROM sandbox_email WHERE ctid = ANY (ARRAY(SELECT ctid FROM sandbox_email
			WHERE received_at < now() - interval '30 days' LIMIT $1))`,
	},
	{
		"webhook_replay",
		`DELETE FROM webhook_replay WHERE ctid = ANY (ARRAY(SELECT ctid FROM webhook_replay
			WHERE created_at < now() - interval '31 days' LIMIT $1))`,
	},
}

// Work applies every rule, deletes expired tokens, creates partitions, drops expired ones, applies what single plans
// keep for a shorter time, and archives expired partitions.
func (j Job) Work(ctx context.Context, _ *queue.Run[Args]) error {
	for _, r := range rules {
		if err := j.deleteExpired(ctx, r.table, r.sql, batch); err != nil {
			return err
		}
	}

	for _, r := range mailRules {
		if err := j.deleteExpired(ctx, r.table, r.sql, batch, j.Keep.Mail.longest(usualMail)); err != nil {
			return err
		}
	}

	if err := j.rotateTables(ctx); err != nil {
		return err
	}
	if err := j.applyPlans(ctx); err != nil {
		return err
	}
	if j.Archive == nil {
		return nil
	}

	days := archive.Days{System: j.System, Objects: j.Archive, Log: j.Log, Metrics: j.Archived}
	return days.Run(ctx, archiveTime)
}

// deleteExpired executes the statement of a rule until it finds no full batch.
func (j Job) deleteExpired(ctx context.Context, table, sql string, args ...any) error {
	total := int64(0)
	for more := true; more; {
		err := j.System.Tx(ctx, id.ID{}, func(tx *postgres.Tx) error {
			n, err := tx.Exec(ctx, sql, args...)
			total, more = total+n, n == batch
			return err
		})
		if err != nil {
			return fmt.Errorf("delete expired rows of %s: %w", table, err)
		}
	}

	if total > 0 {
		j.Log.DebugContext(ctx, "expired rows deleted", "table", table, "rows", total)
	}

	return nil
}

// rotateTables deletes expired tokens, creates partitions, and drops the expired ones that no archive takes.
func (j Job) rotateTables(ctx context.Context) error {
	waiting := 0
	err := j.System.Tx(ctx, id.ID{}, func(tx *postgres.Tx) error {
		j.Keep.queueDays(tx)
		auth.Sweep(tx)
		mail.Sweep(tx)
		org.Sweep(tx)
		if j.Archive == nil {
			tx.Queue("SELECT count(*) FROM archive_day").QueryRow(func(r pgx.Row) error { return r.Scan(&waiting) })
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("sweep tokens: %w", err)
	}
	if waiting > 0 {
		j.Log.WarnContext(ctx, "days wait for the archive, which this worker does not have", "days", waiting,
			"setting", "FUNNELWORK_ARCHIVE_URL")
	}
	if err := j.makePartitions(ctx); err != nil {
		return fmt.Errorf("create partitions: %w", err)
	}
	drop := "SELECT drop_partitions()"
	if j.Archive != nil {
		drop = "SELECT drop_unarchived()"
	}
	if err := j.dropPartitions(ctx, drop); err != nil {
		return fmt.Errorf("drop partitions: %w", err)
	}

	return nil
}

// makePartitions creates the partitions of the coming days. Tables in use are left to the next run.
func (j Job) makePartitions(ctx context.Context) error {
	made := 0
	done, err := j.System.RetryLocks(ctx, j.Log, func(tx *postgres.Tx) error {
		tx.Queue("SELECT set_config('lock_timeout', '100ms', true)")
		return tx.QueryRow(ctx, "SELECT make_partitions($1)", []any{ahead}, &made)
	})
	if err == nil && !done {
		j.Log.WarnContext(ctx, "partitions not created, their tables are in use", "days_ahead", ahead)
	}
	if made > 0 {
		j.Log.DebugContext(ctx, "partitions created", "partitions", made)
	}
	return err
}

// dropPartitions drops expired partitions with the statement drop, each in a transaction of its own. Tables in use are
// left to the next run.
func (j Job) dropPartitions(ctx context.Context, drop string) error {
	total := 0
	for dropped := 1; dropped > 0; total += dropped {
		done, err := j.System.RetryLocks(ctx, j.Log, func(tx *postgres.Tx) error {
			return tx.QueryRow(ctx, drop, nil, &dropped)
		})
		if err != nil {
			return err
		}
		if !done {
			j.Log.WarnContext(ctx, "expired partitions not dropped, their tables are in use")
			break
		}
	}

	if total > 0 {
		j.Log.DebugContext(ctx, "partitions dropped", "partitions", total)
	}

	return nil
}
