package tenants

import (
	"context"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/funnelwork/funnelwork/internal/auth"
	"github.com/funnelwork/funnelwork/internal/billing/plans"
	"github.com/funnelwork/funnelwork/internal/fault"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/wire"
)

// Service reads and changes orgs for operators. It is safe for concurrent use.
type Service struct {
	app, system *postgres.DB
	plans       *plans.Service
}

// New returns a Service. The catalogue must be able to enqueue jobs.
func New(app, system *postgres.DB, c *plans.Catalogue) *Service {
	return &Service{app: app, system: system, plans: plans.NewService(app, c)}
}

// By is the operator who acts, and the reason, for the logs.
type By struct{ Actor, Reason string }

// checkReason returns a fault if there is no reason.
func (b By) checkReason() error {
	if strings.TrimSpace(b.Reason) == "" {
		return fault.Invalid("reason", "required", "A reason is required.")
	}
	return nil
}

// Org is an org as operators see it.
type Org struct {
	ID   id.ID  `json:"id"`
	Name string `json:"name"`
	// Status is one of Statuses.
	Status          string     `json:"status"`
	Plan            string     `json:"plan"`
	Subscription    string     `json:"subscription_status"`
	ParentOrg       *id.ID     `json:"parent_org_id"`
	CreatedAt       wire.Time  `json:"created_at"`
	SuspendedAt     *wire.Time `json:"suspended_at"`
	SuspendedReason string     `json:"suspended_reason"`
}

// Statuses returns the statuses of orgs. A paused org (by its agency) and one whose trial has ended are read-only.
func Statuses() []string { return []string{"active", "suspended", "paused", "trial_ended"} }

const statusSQL = `CASE WHEN o.suspended_at IS NOT NULL THEN 'suspended' WHEN o.paused_at IS NOT NULL THEN 'paused'
	WHEN o.writes_until <= now() THEN 'trial_ended' ELSE 'active' END`

const orgSQL = `SELECT o.id, o.name, ` + statusSQL + `, o.plan, s.status, o.parent_org_id, o.created_at, o.suspended_at,
	o.suspended_reason FROM org o JOIN subscription s ON s.org_id = o.id`

// Filter selects orgs. Empty members select all.
type Filter struct {
	Search string // part of the name, the id, or the mail address of a member
	Status string
	Plan   string
}

// List returns up to limit orgs, newest first. If before is set, it returns only orgs that are older.
func (s *Service) List(ctx context.Context, f Filter, before *id.ID, limit int) (all []Org, err error) {
	err = s.system.ReadTx(ctx, id.ID{}, func(tx *postgres.Tx) error {
		rows, err := tx.Query(ctx, orgSQL+`
			WHERE ($1::uuid IS NULL OR o.id < $1) AND ($2 = '' OR position(lower($2) IN lower(o.name)) > 0
			OR o.id::text = lower($2) OR o.id IN (SELECT m.org_id FROM member m JOIN app_user u ON u.id = m.user_id
			WHERE u.email_folded = $3 AND m.removed_at IS NULL))
			AND ($4 = '' OR `+statusSQL+` = $4) AND ($5 = '' OR o.plan = $5)
			ORDER BY o.id DESC LIMIT $6`, before, f.Search, auth.FoldEmail(f.Search), f.Status, f.Plan, limit)
		if err != nil {
			return err
		}

		all, err = pgx.CollectRows(rows, pgx.RowToStructByPos[Org])

		return err
	})
	if err != nil {
		return nil, fmt.Errorf("list orgs: %w", err)
	}

	return all, nil
}

// Detail is an org with what an operator needs to know next.
type Detail struct {
	Org
	Owners  []string `json:"owners"` // mail addresses
	Members int      `json:"members"`
	Clients int      `json:"client_orgs"`
	Jobs    Jobs     `json:"jobs"`
}

// Jobs is the number of an org's jobs.
type Jobs struct {
	Open int `json:"open"`
	Dead int `json:"dead"`
}

var errNone = fault.New(fault.NotFound, "There is no such organization.")

// Show returns one org, or fault.NotFound.
func (s *Service) Show(ctx context.Context, org id.ID) (*Detail, error) {
	d := Detail{}
	err := s.system.ReadTx(ctx, org, func(tx *postgres.Tx) error {
		rows, err := tx.Query(ctx, orgSQL+` WHERE o.id = $1`, org)
		if err != nil {
			return err
		}
		if d.Org, err = pgx.CollectExactlyOneRow(rows, pgx.RowToStructByPos[Org]); err != nil {
			return err
		}

		return tx.QueryRow(ctx, `SELECT
			(SELECT coalesce(array_agg(u.email ORDER BY u.email), '{}')
				FROM member m JOIN app_user u ON u.id = m.user_id
				WHERE m.org_id = $1 AND m.removed_at IS NULL AND m.role = 'owner'),
			(SELECT count(*) FROM member WHERE org_id = $1 AND removed_at IS NULL),
			(SELECT count(*) FROM org WHERE parent_org_id = $1),
			(SELECT count(*) FROM job WHERE org_id = $1 AND state = 'ready'),
			(SELECT count(*) FROM job WHERE org_id = $1 AND state = 'dead')`, []any{org}, &d.Owners, &d.Members,
			&d.Clients, &d.Jobs.Open, &d.Jobs.Dead)
	})
	if postgres.None(err) {
		return nil, errNone
	}
	if err != nil {
		return nil, fmt.Errorf("show org: %w", err)
	}

	return &d, nil
}
