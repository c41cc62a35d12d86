package main

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"net"
	"strconv"
	"time"

	"github.com/funnelwork/funnelwork/internal/emails"
	"github.com/funnelwork/funnelwork/internal/enrolments"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/mailboxes"
	"github.com/funnelwork/funnelwork/internal/outreach/schedule"
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
	host, port, err := net.SplitHostPort(sink)
	if err != nil {
		return err
	}
	number, err := strconv.Atoi(port)
	if err != nil {
		return err
	}
	for i, n := range []int{o.contacts, 10} {
		org := o.orgs[i].org
		o.boxes[i], o.steps[i] = id.New(), id.New()
		for _, s := range []struct {
			sql  string
			args []any
		}{
			{`INSERT INTO mailbox (org_id, id, name, kind, from_email, from_folded, from_domain, smtp_host, smtp_port,
					smtp_tls, status, daily_cap, gap_min, gap_max, created_at, updated_at)
				VALUES ($1, $2, 'Box', 'smtp', 'a@shop.example', 'a@shop.example', 'shop.example', $3, $4,
					'none', 'active',
					NULL, 0, 0, now(), now())`, []any{org, o.boxes[i], host, number}},
			{
				`INSERT INTO plan_override (org_id, feature, value, source) VALUES ($1, 'contacts', 'null',
				'override')`,
				[]any{org},
			},
			{`INSERT INTO contact (org_id, id, email, email_folded, first_name, last_name, last_name_folded, stage,
					created_at, updated_at)
				SELECT $1, uuidv7_at(now()), 'p' || n || '@d' || n % 50000 || '.example', 'p' || n || '@d' || n
					% 50000 ||
					'.example', 'Ada', 'Byron', 'byron', 'lead', now() - interval '1 day' + n * interval '10 ms', now()
				FROM generate_series(1, $2::int) n`, []any{org, n}},
			{`INSERT INTO contact_score (org_id, contact_id, score, probability, version, confidence,
				announced, segments,
					scored_at)
				SELECT org_id, id, 0, 0, 'bench', 'prior', 0, '{}', now() FROM contact WHERE org_id = $1`, []any{org}},
		} {
			if _, err := o.admin.Exec(ctx, s.sql, s.args...); err != nil {
				return fmt.Errorf("%s: %w", s.sql, err)
			}
		}
		if err := o.sequence(ctx, i); err != nil {
			return err
		}
	}
	o.segment = id.New()
	for i := range o.orgs[2:] {
		if err := o.reader(ctx, &o.orgs[2+i]); err != nil {
			return err
		}
	}
	for _, sql := range []string{
		`INSERT INTO segment (org_id, id, key, name, kind, status, created_at, updated_at)
			VALUES ($1, $2, 'tenth', 'Tenth', 'static', 'ready', now(), now())`,
		`INSERT INTO segment_member (org_id, segment_id, archived, created_at, contact_id)
			SELECT org_id, $2, false, created_at, id FROM contact WHERE org_id = $1 AND hashtext(email) % 10 = 0`,
	} {
		if _, err := o.admin.Exec(ctx, sql, o.orgs[0].org, o.segment); err != nil {
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

// sequence inserts the sequence of an org: two emails, of which the first is due a day after the enrolment.
func (o *outreach) sequence(ctx context.Context, i int) error {
	list := make([]steps.Step, 2)
	for n := range list {
		list[n] = steps.Step{
			Key: fmt.Sprint("mail-", n+1), Kind: steps.KindEmail, Delay: schedule.Delay{Value: 1, Unit: schedule.Days},
			Email: &steps.Email{Subject: "Hello", Text: "Good day {{ contact.first_name }}", Thread: steps.NewThread},
		}
	}
	steps.Complete(list)
	s, err := json.Marshal(sequences.Settings{
		MailboxIDs: []id.ID{o.boxes[i]}, Rotation: "sticky", LateAfterHours: 24,
		Schedule: sequences.Schedule{
			TimeZone: "UTC", Days: []string{"mon", "tue", "wed", "thu", "fri", "sat", "sun"}, From: "00:00",
			To:       "24:00",
			Holidays: []string{},
		},
	})
	if err != nil {
		return err
	}
	org := o.orgs[i].org
	if _, err := o.admin.Exec(ctx, `INSERT INTO sequence (org_id, id, name, name_folded, status, version, latest,
		created_at, updated_at) VALUES ($1, $2, 'S', 's', 'active', 1, 1, now(), now())`, org, o.steps[i]); err != nil {
		return err
	}
	if _, err := o.admin.Exec(ctx, `INSERT INTO sequence_version (org_id, sequence_id, number, settings, created_at,
		activated_at) VALUES ($1, $2, 1, $3, now(), now())`, org, o.steps[i], string(s)); err != nil {
		return err
	}
	for n, step := range list {
		body, err := json.Marshal(step)
		if err != nil {
			return err
		}
		if _, err := o.admin.Exec(ctx, `INSERT INTO sequence_step (org_id, sequence_id, version, position, key,
			kind, body)
			VALUES ($1, $2, 1, $3, $4, 'email', $5)`, org, o.steps[i], n, step.Key, string(body)); err != nil {
			return err
		}
	}
	return nil
}

// fill enrols the rest of the contacts of both orgs, by statements.
func (o *outreach) fill(ctx context.Context) error {
	for i := range o.orgs[:2] {
		if _, err := o.admin.Exec(ctx, `
			INSERT INTO send_group (org_id, id, sequence_id, mailbox_id, schedule, zone)
			SELECT $1, 7, $2, $3, g.schedule, 'UTC' FROM send_group g LIMIT 1 ON CONFLICT DO NOTHING`, o.orgs[i].org,
			o.steps[i], o.boxes[i]); err != nil {
			return err
		}
		if _, err := o.admin.Exec(ctx, `INSERT INTO schedule_zone (org_id, schedule, zone, body, opens_at, closes_at)
			SELECT $1, schedule, zone, body, opens_at, closes_at FROM schedule_zone LIMIT 1 ON CONFLICT DO NOTHING`,
			o.orgs[i].org); err != nil {
			return err
		}
		if _, err := o.admin.Exec(ctx, `
			INSERT INTO enrolment (org_id, id, sequence_id, version, contact_id, state, step, due_at, grp,
				mailbox_id, zone,
				created_at, state_at)
			SELECT $1, uuidv7_at(now()), $2, 1, c.id, 'active', 'mail-1', now() + interval '1 day', 7, $3,
				'UTC', now(), now()
			FROM contact c WHERE c.org_id = $1
				AND NOT EXISTS (SELECT FROM enrolment e WHERE e.org_id = $1 AND e.contact_id = c.id)`, o.orgs[i].org,
			o.steps[i], o.boxes[i]); err != nil {
			return err
		}
	}
	_, err := o.admin.Exec(ctx, `VACUUM ANALYZE enrolment`)
	return err
}

// openWindows runs a statement that makes steps of an org due, and wakes its groups.
func (o *outreach) openWindows(ctx context.Context, i int, sql string) error {
	if _, err := o.admin.Exec(ctx, sql); err != nil {
		return err
	}
	_, err := o.admin.Exec(ctx, `UPDATE send_group SET wake_at = clock_timestamp() WHERE org_id = $1`, o.orgs[i].org)
	return err
}

// closeWindows spreads the enrolments of the large org over 800 groups whose windows open tomorrow, and makes a tenth
// of those that wait due.
func (o *outreach) closeWindows(ctx context.Context) (groups, due int, err error) {
	for _, sql := range []string{
		`DELETE FROM send_group WHERE org_id = $1`,
		`UPDATE schedule_zone SET opens_at = now() + interval '1 day', closes_at = now() + interval '2 days'
			WHERE org_id = $1`,
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
		if _, err := o.admin.Exec(ctx, sql, o.orgs[0].org); err != nil {
			return 0, 0, err
		}
	}
	if _, err := o.admin.Exec(ctx, `VACUUM ANALYZE enrolment`); err != nil {
		return 0, 0, err
	}
	err = o.admin.QueryRow(ctx, `SELECT (SELECT count(*) FROM send_group WHERE org_id = $1), (SELECT count(*)
		FROM enrolment WHERE org_id = $1 AND due_at < now())`, o.orgs[0].org).Scan(&groups, &due)
	return groups, due, err
}

// fingerprint changes if any enrolment of the large org is rewritten.
func (o *outreach) fingerprint(ctx context.Context) (s string, err error) {
	err = o.admin.QueryRow(ctx, `SELECT md5(string_agg(ctid::text || xmin::text, ' ' ORDER BY id)) FROM enrolment
		WHERE org_id = $1`, o.orgs[0].org).Scan(&s)
	return s, err
}
