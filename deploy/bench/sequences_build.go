package main

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/funnelwork/funnelwork/internal/emails"
	"github.com/funnelwork/funnelwork/internal/enrolments"
	"github.com/funnelwork/funnelwork/internal/enrolments/states"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/mailboxes"
	"github.com/funnelwork/funnelwork/internal/outreach/schedule"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/secret"
	"github.com/funnelwork/funnelwork/internal/sequences"
	"github.com/funnelwork/funnelwork/internal/sequences/steps"
	"github.com/funnelwork/funnelwork/internal/suppression"
	"github.com/funnelwork/funnelwork/internal/templates"
)

func newEngine(box *secret.Sealer) *enrolments.Engine {
	return &enrolments.Engine{
		Emails: &emails.Service{
			Box: box, Mailboxes: &mailboxes.Service{Box: box}, Suppressions: &suppression.Service{Box: box},
		},
		Templates: &templates.Service{Box: box}, Log: slog.New(slog.DiscardHandler),
	}
}

// build inserts the contacts, the mailboxes and the sequences. Nothing is due for a day.
func (o *outreach) build(ctx context.Context) error {
	began := time.Now()
	sink, err := o.startSink(ctx)
	if err != nil {
		return err
	}
	for i, n := range []int{o.contacts, 10} {
		org := o.world.orgs[i].org
		if o.boxes[i], err = o.mailbox(ctx, org, sink); err != nil {
			return err
		}
		for _, s := range []struct {
			sql  string
			args []any
		}{
			{
				`INSERT INTO plan_override (org_id, feature, value, source) VALUES ($1, 'contacts', 'null',
				'override')`,
				[]any{org},
			},
			{
				`INSERT INTO contact (org_id, id, email, email_folded, first_name, last_name, last_name_folded, stage,
					created_at, updated_at)
				SELECT $1, uuidv7_at(at), email, email, 'Ada', 'Byron', 'byron', 'lead', at, now()
				FROM (SELECT now() - interval '1 day' + n * interval '10 ms' AS at,
					'p' || n || '@d' || n % 50000 || '.example' AS email FROM generate_series(1, $2::int) n) x`,
				[]any{org, n},
			},
			{`INSERT INTO contact_score (org_id, contact_id, score, probability, version, confidence,
				announced, segments,
					scored_at)
				SELECT org_id, id, 0, 0, 'bench', 'prior', 0, '{}', now() FROM contact WHERE org_id = $1`, []any{org}},
		} {
			if _, err := o.admin.Exec(ctx, s.sql, s.args...); err != nil {
				return fmt.Errorf("%s: %w", s.sql, err)
			}
		}
		list := mailSteps(2, schedule.Delay{Value: 1, Unit: schedule.Days})
		if o.steps[i], err = o.sequence(ctx, org, o.boxes[i], list); err != nil {
			return err
		}
	}
	o.segment = id.New()
	for i := range o.world.orgs[2:] {
		if err := o.reader(ctx, &o.world.orgs[2+i]); err != nil {
			return err
		}
	}
	for _, sql := range []string{
		`INSERT INTO segment (org_id, id, key, name, kind, status, created_at, updated_at)
			VALUES ($1, $2, 'tenth', 'Tenth', 'static', 'ready', now(), now())`,
		`INSERT INTO segment_member (org_id, segment_id, archived, created_at, contact_id)
			SELECT org_id, $2, false, created_at, id FROM contact WHERE org_id = $1 AND hashtext(email) % 10 = 0`,
	} {
		if _, err := o.admin.Exec(ctx, sql, o.world.orgs[0].org, o.segment); err != nil {
			return err
		}
	}
	_, err = o.admin.Exec(ctx, `VACUUM ANALYZE`)
	fmt.Printf("%d contacts built in %s\n", o.contacts, time.Since(began).Round(time.Second))
	return err
}

// reader inserts the contact that an org reads.
func (o *outreach) reader(ctx context.Context, c *caller) error {
	c.contact = id.New()
	if _, err := o.admin.Exec(ctx, `INSERT INTO contact (org_id, id, email, email_folded, first_name, last_name,
			last_name_folded, stage, created_at, updated_at)
		VALUES ($1, $2, 'a@b.example', 'a@b.example', 'Ada', 'Byron', 'byron', 'lead', now(), now())`, c.org,
		c.contact); err != nil {
		return err
	}
	_, err := o.admin.Exec(ctx, `INSERT INTO contact_score (org_id, contact_id, score, probability, version, confidence,
		announced, segments, scored_at) VALUES ($1, $2, 0, 0, 'bench', 'prior', 0, '{}', now())`, c.org, c.contact)
	return err
}

// mailSteps returns n emails, the given delay apart.
func mailSteps(n int, apart schedule.Delay) []steps.Step {
	list := make([]steps.Step, n)
	for i := range list {
		list[i] = steps.Step{
			Key: fmt.Sprint("mail-", i+1), Kind: steps.KindEmail, Delay: apart,
			Email: &steps.Email{Subject: "Hello", Text: "Good day {{ contact.first_name }}", Thread: steps.NewThread},
		}
	}
	steps.Complete(list)
	return list
}

// sequence inserts an active sequence of an org whose window never closes.
func (w *world) sequence(ctx context.Context, org, box id.ID, list []steps.Step) (sequence id.ID, err error) {
	sequence = id.New()
	s, err := json.Marshal(sequences.Settings{
		MailboxIDs: []id.ID{box}, Rotation: "sticky", LateAfterHours: 24,
		Schedule: sequences.Schedule{
			TimeZone: "UTC", Days: []string{"mon", "tue", "wed", "thu", "fri", "sat", "sun"}, From: "00:00",
			To:       "24:00",
			Holidays: []string{},
		},
	})
	if err != nil {
		return sequence, err
	}
	if _, err := w.admin.Exec(ctx, `INSERT INTO sequence (org_id, id, name, name_folded, status, version, latest,
		created_at, updated_at) VALUES ($1, $2, 'S', 's', 'active', 1, 1, now(), now())`, org, sequence); err != nil {
		return sequence, err
	}
	if _, err := w.admin.Exec(ctx, `INSERT INTO sequence_version (org_id, sequence_id, number, settings, created_at,
		activated_at) VALUES ($1, $2, 1, $3, now(), now())`, org, sequence, string(s)); err != nil {
		return sequence, err
	}
	for n, step := range list {
		body, err := json.Marshal(step)
		if err != nil {
			return sequence, err
		}
		if _, err := w.admin.Exec(ctx, `INSERT INTO sequence_step (org_id, sequence_id, version, position, key,
			kind, body)
			VALUES ($1, $2, 1, $3, $4, 'email', $5)`, org, sequence, n, step.Key, string(body)); err != nil {
			return sequence, err
		}
	}
	return sequence, nil
}

// fill enrols the rest of the contacts of both orgs: the first of each as a request does, the others by statements.
func (o *outreach) fill(ctx context.Context) error {
	if o.whole {
		return nil
	}
	service := &enrolments.Service{Suppressions: &suppression.Service{Box: o.box}}
	for i := range o.world.orgs[:2] {
		org := o.world.orgs[i].org
		rows, _ := o.admin.Query(ctx, `SELECT id FROM contact WHERE org_id = $1 LIMIT 1`, org)
		first, err := pgx.CollectRows(rows, pgx.RowTo[id.ID])
		if err != nil {
			return err
		}
		if err := o.app.Tx(ctx, org, func(tx *postgres.Tx) error {
			_, err := service.Enrol(ctx, tx, &enrolments.Request{Sequence: o.steps[i]}, first)
			return err
		}); err != nil {
			return err
		}
		if _, err := o.admin.Exec(ctx, `
			INSERT INTO enrolment (org_id, id, sequence_id, version, contact_id, state, step, due_at, grp,
				mailbox_id, zone, created_at, state_at)
			SELECT $1, uuidv7_at(now()), $2, 1, c.id, 'active', 'mail-1', now() + interval '1 day', g.id, $3, 'UTC',
				now(), now()
			FROM contact c, (SELECT id FROM send_group WHERE org_id = $1 LIMIT 1) g WHERE c.org_id = $1
				AND NOT EXISTS (SELECT FROM enrolment e WHERE e.org_id = $1 AND e.contact_id = c.id)`, org,
			o.steps[i], o.boxes[i]); err != nil {
			return err
		}
	}
	o.whole = true
	_, err := o.admin.Exec(ctx, `VACUUM ANALYZE enrolment`)
	return err
}

// openWindows runs a statement that makes steps of an org due, and wakes its groups.
func (o *outreach) openWindows(ctx context.Context, i int, sql string) error {
	if _, err := o.admin.Exec(ctx, sql, o.world.orgs[i].org); err != nil {
		return err
	}
	_, err := o.admin.Exec(ctx, `UPDATE send_group SET wake_at = clock_timestamp() WHERE org_id = $1`,
		o.world.orgs[i].org)
	return err
}

// closeWindows spreads the enrolments of the large org over 400 groups whose windows close now and open on the day
// after tomorrow, and makes a tenth of them due.
func (o *outreach) closeWindows(ctx context.Context) (groups, due int, err error) {
	w := states.Window{From: 9 * 60, To: 17 * 60, Holidays: []string{}}
	w.Days[(time.Now().UTC().Weekday()+2)%7] = true
	body, _, err := w.Key()
	if err != nil {
		return 0, 0, err
	}
	if _, err := o.admin.Exec(ctx, `UPDATE schedule_zone SET body = $2, opens_at = now() - interval '8 hours',
		closes_at = now() WHERE org_id = $1`, o.world.orgs[0].org, body); err != nil {
		return 0, 0, err
	}
	for _, sql := range []string{
		`DELETE FROM send_group WHERE org_id = $1`,
		`INSERT INTO send_group (org_id, id, sequence_id, mailbox_id, schedule, zone)
			SELECT $1, n, q.id, m.id, z.schedule, 'UTC' FROM generate_series(0, 399) n, mailbox m, sequence q,
				schedule_zone z
			WHERE m.org_id = $1 AND q.org_id = $1 AND z.org_id = $1`,
		`DELETE FROM enrolment WHERE org_id = $1`,
		`INSERT INTO enrolment (org_id, id, sequence_id, version, contact_id, state, step, due_at, grp,
			mailbox_id, zone,
				created_at, state_at)
			SELECT $1, uuidv7_at(now()), q.id, 1, c.id, 'active', 'mail-1', now() + CASE WHEN hashtext(c.email) % 10 = 0
				THEN interval '-1 hour' ELSE interval '3 days' END, abs(hashtext(c.email)) % 400, m.id, 'UTC',
					now(), now()
			FROM contact c, mailbox m, sequence q WHERE c.org_id = $1 AND m.org_id = $1 AND q.org_id = $1`,
	} {
		if _, err := o.admin.Exec(ctx, sql, o.world.orgs[0].org); err != nil {
			return 0, 0, err
		}
	}
	if _, err := o.admin.Exec(ctx, `VACUUM ANALYZE enrolment`); err != nil {
		return 0, 0, err
	}
	err = o.admin.QueryRow(ctx, `SELECT (SELECT count(*) FROM send_group WHERE org_id = $1), (SELECT count(*)
		FROM enrolment WHERE org_id = $1 AND due_at < now())`, o.world.orgs[0].org).Scan(&groups, &due)
	return groups, due, err
}

// fingerprint changes if any enrolment of the large org is rewritten.
func (o *outreach) fingerprint(ctx context.Context) (s string, err error) {
	err = o.admin.QueryRow(ctx, `SELECT md5(string_agg(ctid::text || xmin::text, ' ' ORDER BY id)) FROM enrolment
		WHERE org_id = $1`, o.world.orgs[0].org).Scan(&s)
	return s, err
}

// wal returns how many bytes the WAL has had so far.
func (o *outreach) wal(ctx context.Context) (bytes float64) {
	_ = o.admin.QueryRow(ctx, "SELECT pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '0/0')::float8").Scan(&bytes)
	return bytes
}

// blocks returns how many blocks of the tables and indexes of enrolments, groups and zones were looked at so far.
func (o *outreach) blocks(ctx context.Context) (n int) {
	_ = o.admin.QueryRow(ctx, `SELECT sum(heap_blks_read + heap_blks_hit + idx_blks_read + idx_blks_hit)::int8
		FROM pg_statio_user_tables WHERE relname IN ('enrolment', 'send_group', 'schedule_zone')`).Scan(&n)
	return n
}
