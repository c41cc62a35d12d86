package plans

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/queue"
	"github.com/funnelwork/funnelwork/internal/wire"
)

// SettleArgs say where to continue among an agency's clients; zero starts with the org itself.
type SettleArgs struct {
	After id.ID `json:"after,omitzero"`
	// the time of the clock's change that the job waits for
	Until wire.Time `json:"until,omitzero"`
}

// Enqueue adds the job that settles tx's org with the arguments: when the clock changes its rights, after a new
// catalogue, and for each client org after its agency.
type Enqueue func(ctx context.Context, tx *postgres.Tx, args SettleArgs, how ...queue.Adding) error

// Enqueuing returns a copy of the catalogue that enqueues jobs by add. A catalogue needs it to change plans.
func (c *Catalogue) Enqueuing(add Enqueue) *Catalogue {
	out := *c
	out.enqueue = add
	return &out
}

const (
	lockSQL = `SELECT 1 FROM subscription WHERE org_id = $1 FOR UPDATE`

	factsSQL = `
SELECT s.plan, s.status, s.trial_ends_at, s.past_due_since, s.entitlement_version, coalesce(o.parent_org_id,
'00000000-0000-0000-0000-000000000000'),
	clock_timestamp()
FROM subscription s JOIN org o ON o.id = s.org_id WHERE s.org_id = $1`
	addOnsSQL    = `SELECT feature, coalesce(amount, 9223372036854775807) FROM plan_addon WHERE org_id = $1`
	overridesSQL = `SELECT feature, value, source, expires_at FROM plan_override WHERE org_id = $1`
)

// found holds an org's facts as read.
type found struct {
	Facts
	version int64
	parent  id.ID
	agency  int64 // the agency's version
	at      time.Time
}

// readRights reads the facts of tx's org at the database's current time and computes its rights.
func (c *Catalogue) readRights(ctx context.Context, tx *postgres.Tx) (Rights, *found, error) {
	f, err := c.readFacts(ctx, tx)
	if err != nil {
		return Rights{}, nil, err
	}
	if !f.parent.IsZero() {
		err = tx.In(ctx, f.parent, func() error {
			agency, err := c.readFacts(ctx, tx)
			if err != nil {
				return err
			}

			r := c.Effective(agency.Facts, agency.at)
			f.Agency = &r
			f.agency = agency.version
			return nil
		})
	}
	if err != nil {
		return Rights{}, nil, err
	}

	return c.Effective(f.Facts, f.at), f, nil
}

func (c *Catalogue) readFacts(ctx context.Context, tx *postgres.Tx) (*found, error) {
	f := &found{}
	tx.Queue(addOnsSQL, tx.Org()).Query(func(rows pgx.Rows) (err error) {
		f.AddOns, err = pgx.CollectRows(rows, pgx.RowToStructByPos[AddOn])
		return err
	})
	tx.Queue(overridesSQL, tx.Org()).Query(func(rows pgx.Rows) (err error) {
		f.Overrides, err = pgx.CollectRows(rows, c.scanOverride)
		return err
	})
	var trial, since *wire.Time
	err := tx.QueryRow(ctx, factsSQL, []any{tx.Org()}, &f.Plan, &f.Status, &trial, &since, &f.version, &f.parent, &f.at)
	if err != nil {
		return nil, fmt.Errorf("read subscription facts: %w", err)
	}

	f.TrialEnds, f.PastDueSince = timeOrNil(trial), timeOrNil(since)
	f.Overrides = slices.DeleteFunc(f.Overrides, func(o Override) bool { return o.Value.Type == "" })

	return f, nil
}

// scanOverride reads a row. A row of an unknown feature, or with a value of another type than the feature now has,
// returns an Override without a value, which readFacts drops.
func (c *Catalogue) scanOverride(row pgx.CollectableRow) (o Override, err error) {
	var (
		raw []byte
		end *wire.Time
	)

	if err := row.Scan(&o.Feature, &raw, &o.Source, &end); err != nil {
		return o, err
	}

	o.Expires = timeOrNil(end)
	if v, err := ParseValue(c.types[o.Feature], raw); err == nil {
		o.Value = v
	}

	return o, nil
}

// Settle writes the consequences of the subscription of tx's org to where they are read: the limits on row counts, the
// org's plan, rate and last day of writing. It increments the entitlement_version. Jobs settle an agency's client orgs;
// their rights are computed when read and therefore change at once.
func (c *Catalogue) Settle(ctx context.Context, tx *postgres.Tx) error {
	tx.Queue(lockSQL, tx.Org())
	r, f, err := c.readRights(ctx, tx)
	if err != nil {
		return err
	}
	if _, ok := c.byKey[f.Plan]; !ok && f.Plan != Client {
		return fmt.Errorf("settle plan %s: %w", f.Plan, errNoPlan)
	}

	var ends *time.Time
	if f.Plan == c.trials.Key && f.Status == Trialing {
		ends = f.TrialEnds
	}

	var rate *int64
	if n := r.Features[RequestRate].Value.Max; n != defaultRate {
		rate = &n
	}

	tx.Queue(`UPDATE org SET plan = $2, rate_per_minute = $3, writes_until = $4, computed = computed + 1
		WHERE id = $1 AND (plan, rate_per_minute, writes_until) IS DISTINCT FROM ($2, $3, $4)`, tx.Org(), f.Plan,
		rate, ends)
	var (
		features []string
		caps     []int64
		overages []bool
	)

	for _, name := range c.limitedFeatures() {
		if most := r.Features[name].Value.Max; most != Unlimited {
			features = append(features, name)
			caps = append(caps, most)
			overages = append(overages, (name == Clients || name == EmailsMonth) && r.Overage)
		}
	}

	tx.Queue(`SELECT quota_settle($1, $2, $3, $4)`, tx.Org(), features, caps, overages)
	tx.Queue(
		`UPDATE subscription SET plan_version = $2, entitlement_version = entitlement_version + 1 WHERE org_id = $1`,
		tx.Org(), c.Version)
	if !r.Until.IsZero() {
		if err := c.enqueueSettle(ctx, tx, SettleArgs{Until: wire.At(r.Until)}, queue.At(r.Until),
			queue.Dedupe("plan.settle@"+wire.At(r.Until).String())); err != nil {
			return err
		}
	}

	var agency bool
	if err := tx.QueryRow(ctx, `SELECT EXISTS (SELECT FROM client_org WHERE org_id = $1 AND detached_at IS NULL)`,
		[]any{tx.Org()}, &agency); err != nil || !agency {
		return err
	}

	return c.enqueueSettle(ctx, tx, SettleArgs{After: first})
}

// errNoQueue reports a change of plans by a catalogue that Enqueuing has not returned.
var errNoQueue = errors.New("the catalogue cannot enqueue jobs")

func (c *Catalogue) enqueueSettle(ctx context.Context, tx *postgres.Tx, args SettleArgs, how ...queue.Adding) error {
	if c.enqueue == nil {
		return errNoQueue
	}
	return c.enqueue(ctx, tx, args, how...)
}

// Lapse is a plan that is no longer in effect because its time is over: a trial, or the grace period of an unpaid
// renewal.
type Lapse struct {
	Plan, Interval string
	Before, After  Status
	At             time.Time
}

// Elapse settles tx's org when the time of a job enqueued by Settle has come, and returns the plan that lapsed. It
// returns nil if no plan lapsed because it continues, was extended or paid, or belongs to the agency. There is one job
// per moment, so each lapse is returned once.
func (c *Catalogue) Elapse(ctx context.Context, tx *postgres.Tx, moment time.Time) (*Lapse, error) {
	was, err := readState(ctx, tx, stateSQL+` FOR UPDATE OF s`)
	if err != nil {
		return nil, err
	}

	now, f, err := c.readRights(ctx, tx)
	if err != nil {
		return nil, err
	}
	if err := c.Settle(ctx, tx); err != nil || now.Open || f.Plan == Client {
		return nil, err
	}

	before := c.Effective(f.Facts, moment.Add(-time.Microsecond))
	if !before.Open {
		return nil, nil //nolint:nilnil // nothing has lapsed
	}

	return &Lapse{Plan: was.Plan, Interval: was.Interval, Before: before.Status, After: now.Status, At: moment}, nil
}

// clientsAtOnce is the number of client orgs that one transaction settles.
const clientsAtOnce = 20

// SettleClients settles the next client orgs of tx's org, an agency, and enqueues a job for the remaining ones.
func (c *Catalogue) SettleClients(ctx context.Context, tx *postgres.Tx, after id.ID) error {
	rows, err := tx.Query(ctx,
		`SELECT id FROM client_org WHERE org_id = $1 AND id > $2 AND detached_at IS NULL ORDER BY id LIMIT $3`,
		tx.Org(), after, clientsAtOnce)
	if err != nil {
		return fmt.Errorf("read clients: %w", err)
	}

	clients, err := pgx.CollectRows(rows, pgx.RowTo[id.ID])
	if err != nil {
		return fmt.Errorf("read clients: %w", err)
	}

	for _, client := range clients {
		if err := tx.In(ctx, client, func() error { return c.Settle(ctx, tx) }); err != nil {
			return err
		}
	}

	if len(clients) < clientsAtOnce {
		return nil
	}

	return c.enqueueSettle(ctx, tx, SettleArgs{After: clients[len(clients)-1]})
}

// defaultRate is the requests per minute of an org without its own rate.
const defaultRate = 100

// first sorts before every org's id except the zero one.
var first = id.ID{15: 1}

// limitedFeatures returns the features that are limits, in a fixed order.
func (c *Catalogue) limitedFeatures() []string {
	all := []string{Clients}
	for _, f := range c.Features {
		if f.Type == Limit {
			all = append(all, f.Key)
		}
	}
	return all
}
