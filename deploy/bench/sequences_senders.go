package main

import (
	"context"
	"fmt"
	"net"
	"strconv"

	"github.com/funnelwork/funnelwork/internal/enrolments"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/outreach/schedule"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/secret"
	"github.com/funnelwork/funnelwork/internal/suppression"
)

func (k *killing) listmonk() *sender {
	return &sender{
		name: "listmonk's rule",
		load: func(ctx context.Context, to []string) error {
			_, err := k.admin.Exec(ctx, `WITH c AS (INSERT INTO model.campaign (status, last_subscriber_id)
				SELECT 'running', coalesce(max(id), 0) FROM model.subscriber)
				INSERT INTO model.subscriber (email) SELECT unnest($1::text[])`, to)
			return err
		},
		start:  func(ctx context.Context) (*process, error) { return k.child(ctx, "listmonk") },
		locked: "model.campaign", later: `SELECT`,
		over:  `SELECT count(*) = 0 FROM model.campaign WHERE status = 'running'`,
		state: `SELECT status FROM model.campaign ORDER BY last_subscriber_id DESC LIMIT 1`,
		shown: `SELECT email FROM model.subscriber WHERE false`,
	}
}

func (k *killing) notifuse() *sender {
	return &sender{
		name: "Notifuse's rule",
		load: func(ctx context.Context, to []string) error {
			_, err := k.admin.Exec(ctx, `INSERT INTO model.email_queue (email) SELECT unnest($1::text[])`, to)
			return err
		},
		start:  func(ctx context.Context) (*process, error) { return k.child(ctx, "notifuse") },
		locked: "model.email_queue",
		later: `UPDATE model.email_queue SET updated_at = updated_at - interval '3 minutes',
			next_retry_at = next_retry_at - interval '3 minutes'`,
		over: fmt.Sprintf(`SELECT count(*) = 0 FROM model.email_queue WHERE status <> 'failed' OR attempts < %d`,
			notifuseTries),
		state: `SELECT string_agg(DISTINCT concat_ws(' ', status, attempts), ', ') FROM model.email_queue`,
		shown: `SELECT email FROM model.email_queue`,
	}
}

// ours is the built worker, which executes a sequence of one email and sends it.
func (k *killing) ours(ctx context.Context) (*sender, error) {
	org := k.orgs[0].org
	box, err := k.mailbox(ctx, org, k.sink.address)
	if err != nil {
		return nil, err
	}
	sequence, err := k.sequence(ctx, org, box, mailSteps(1, schedule.Delay{Value: 0, Unit: schedule.Days}))
	if err != nil {
		return nil, err
	}
	keys, err := secret.Generate()
	if err != nil {
		return nil, err
	}
	sealer, err := secret.Parse(keys)
	if err != nil {
		return nil, err
	}
	return &sender{
		name: "Funnelwork",
		load: func(ctx context.Context, to []string) error {
			return k.enrol(ctx, &enrolments.Service{Suppressions: &suppression.Service{Box: sealer}}, sequence, to)
		},
		start: func(ctx context.Context) (*process, error) {
			return k.spawn(ctx, "worker", mailSetting, "FUNNELWORK_KEYSET="+keys)
		},
		locked: "event",
		later: `UPDATE job SET lease_until = lease_until - interval '3 minutes', wake_at = wake_at - interval
			'3 minutes', run_at = run_at - interval '3 minutes'`,
		over: `SELECT NOT EXISTS (SELECT FROM enrolment WHERE state IN ('pending', 'active'))
			AND NOT EXISTS (SELECT FROM email WHERE status IN ('planned', 'transmitting'))`,
		state: `SELECT concat_ws('; ', (SELECT string_agg(DISTINCT concat_ws(' ', status, status_reason), ', ')
				FROM email),
			(SELECT string_agg(DISTINCT state, ', ') FROM enrolment),
			(SELECT string_agg(concat_ws(' ', kind, state, attempt, owner IS NULL, due, wake_at - now(), run_at - now(),
				lease_until - now(), last_error), ', ') FROM (SELECT * FROM job LIMIT 5) j))`,
		shown: `SELECT to_email FROM email WHERE status <> 'sent'`,
	}, nil
}

// enrol inserts a contact for each address and enrols them.
func (k *killing) enrol(ctx context.Context, s *enrolments.Service, sequence id.ID, to []string) error {
	org, contacts := k.orgs[0].org, make([]id.ID, len(to))
	for i := range contacts {
		contacts[i] = id.New()
	}
	for _, sql := range []string{
		`INSERT INTO contact (org_id, id, email, email_folded, first_name, last_name, last_name_folded, stage,
			created_at, updated_at)
		SELECT $1, u.id, u.email, u.email, 'Ada', 'Byron', 'byron', 'lead', now(), now()
		FROM unnest($2::uuid[], $3::text[]) AS u (id, email)`,
		`INSERT INTO contact_score (org_id, contact_id, score, probability, version, confidence, announced, segments,
			scored_at)
		SELECT $1, u.id, 0, 0, 'bench', 'prior', 0, '{}', now() FROM unnest($2::uuid[], $3::text[]) AS u (id, email)`,
	} {
		if _, err := k.admin.Exec(ctx, sql, org, contacts, to); err != nil {
			return err
		}
	}
	db, err := postgres.Open(ctx, postgres.Options{URL: k.postgres.URL, Role: postgres.App, MaxConns: 1})
	if err != nil {
		return err
	}
	defer db.Close()
	return db.Tx(ctx, org, func(tx *postgres.Tx) error {
		_, err := s.Enrol(ctx, tx, &enrolments.Request{Sequence: sequence}, contacts)
		return err
	})
}

// mailbox inserts a mailbox on the server at an address, without limits.
func (w *world) mailbox(ctx context.Context, org id.ID, address string) (box id.ID, err error) {
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return box, err
	}
	number, err := strconv.Atoi(port)
	if err != nil {
		return box, err
	}
	box = id.New()
	from := "a" + port + "@shop.example"
	_, err = w.admin.Exec(ctx, `INSERT INTO mailbox (org_id, id, name, kind, from_email, from_folded, from_domain,
			smtp_host, smtp_port, smtp_tls, status, daily_cap, gap_min, gap_max, created_at, updated_at)
		VALUES ($1, $2, 'Box', 'smtp', $5, $5, 'shop.example', $3, $4, 'none', 'active', NULL, 0, 0, now(), now())`,
		org, box, host, number, from)
	return box, err
}
