package demo_test

import (
	"context"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/funnelwork/funnelwork/internal/auth"
	"github.com/funnelwork/funnelwork/internal/billing/plans"
	"github.com/funnelwork/funnelwork/internal/command/demo"
	"github.com/funnelwork/funnelwork/internal/fault"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/mailboxes"
	"github.com/funnelwork/funnelwork/internal/org"
	"github.com/funnelwork/funnelwork/internal/outbound"
	"github.com/funnelwork/funnelwork/internal/overview"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/scoring"
	"github.com/funnelwork/funnelwork/internal/scoring/models"
	"github.com/funnelwork/funnelwork/internal/testkit"
	"github.com/funnelwork/funnelwork/internal/webhooks"
)

const inboxURL = "http://127.0.0.1:9090/sandbox/inbox/"

type place struct {
	testing.TB
	db *testkit.Database
	demo.Options
}

// open returns an empty org with an owner and the options to fill it.
func open(t *testing.T) *place {
	t.Helper()
	db := testkit.DB(t)
	catalogue, err := plans.Load("")
	if err != nil {
		t.Fatal(err)
	}
	p := &place{TB: t, db: db, Options: demo.Options{
		App: db.App, Plans: catalogue, Model: models.NewBook(db.App, testkit.Log(t)).In, Inbox: inboxURL,
		Hooks:     &webhooks.Service{Box: testkit.Box(t), Policy: outbound.Policy{Inbox: inboxURL}},
		Mailboxes: &mailboxes.Service{Box: testkit.Box(t)},
		Org:       id.New(), Seed: 7, Contacts: 300,
	}}
	user := id.New()
	if err := db.System.Tx(t.Context(), p.Org, func(tx *postgres.Tx) error {
		auth.AddUser(tx, auth.NewUser{
			ID: user, Email: "ada@example.com", PasswordHash: "none", FirstName: "Ada", LastName: "Lovelace",
			LastOrg: p.Org, Verified: true,
		})
		org.Create(tx, "Shop", user)
		plans.Begin(tx, 0)
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	return p
}

func (p *place) fill(ctx context.Context) demo.Result {
	p.Helper()
	r, err := demo.Fill(ctx, p.Options)
	if err != nil {
		if f := fault.Of(err); f != nil {
			p.Fatalf("%v %+v", err, f.Fields)
		}
		p.Fatal(err)
	}
	return r
}

// count returns the result of a query for one number; $1 is the org.
func (p *place) count(sql string) (n int) {
	p.Helper()
	if err := p.App.ReadTx(p.Context(), p.Org, func(tx *postgres.Tx) error {
		return tx.QueryRow(p.Context(), sql, []any{p.Org}, &n)
	}); err != nil {
		p.Fatal(err)
	}
	return n
}

func TestAnOrgGetsABelievableHalfYear(t *testing.T) {
	t.Parallel()
	p := open(t)
	p.Contacts = 1200 // few deals are won in the outage of the warehouse
	r := p.fill(t.Context())
	if diff := cmp.Diff(p.Contacts, p.count(`SELECT count(*) FROM contact WHERE org_id = $1`)); diff != "" {
		t.Error("contacts:", diff)
	}
	for what, sql := range map[string]string{
		"old contacts":       `SELECT count(*) FROM contact WHERE org_id = $1 AND created_at < now() - '90d'::interval`,
		"scores":             `SELECT count(DISTINCT score) FROM contact_score WHERE org_id = $1`,
		"won deals":          `SELECT count(*) FROM deal WHERE org_id = $1 AND status = 'won'`,
		"lost deals":         `SELECT count(*) FROM deal WHERE org_id = $1 AND status = 'lost' AND lost_reason > ''`,
		"open deals":         `SELECT count(*) FROM deal WHERE org_id = $1 AND status = 'open'`,
		"outcomes":           `SELECT count(*) FROM score_snapshot WHERE org_id = $1`,
		"notes":              `SELECT count(*) FROM note WHERE org_id = $1`,
		"done tasks":         `SELECT count(*) FROM task WHERE org_id = $1 AND status = 'done'`,
		"open tasks":         `SELECT count(*) FROM task WHERE org_id = $1 AND status = 'open'`,
		"old entries":        `SELECT count(*) FROM timeline WHERE org_id = $1 AND at < now() - interval '90 days'`,
		"events":             `SELECT count(*) FROM event WHERE org_id = $1`,
		"delivered":          `SELECT count(*) FROM webhook_delivery WHERE org_id = $1 AND status = 'delivered'`,
		"exhausted":          `SELECT count(*) FROM webhook_delivery WHERE org_id = $1 AND status = 'exhausted'`,
		"repeated attempts":  `SELECT count(*) FROM webhook_attempt WHERE org_id = $1 AND number > 1`,
		"members of segment": `SELECT count(*) FROM segment_member WHERE org_id = $1`,
	} {
		if n := p.count(sql); n == 0 {
			t.Errorf("%s: none", what)
		}
	}
	if r.Already {
		t.Error("a first call reports that the data was there")
	}
}

func TestNothingOfTheHistoryIsOlderThanItsObjectsOrLiesAhead(t *testing.T) {
	t.Parallel()
	p := open(t)
	p.fill(t.Context())
	for what, sql := range map[string]string{
		"deals before their contacts": `SELECT count(*) FROM deal d JOIN contact c USING (org_id) WHERE org_id = $1
			AND c.id = d.contact_id AND d.created_at < c.created_at`,
		"contacts before their companies": `SELECT count(*) FROM contact c JOIN company o USING (org_id)
			WHERE org_id = $1 AND o.id = c.company_id AND c.created_at < o.created_at`,
		"contacts without their company": `SELECT count(*) FROM contact c WHERE org_id = $1 AND company_id IS NOT NULL
			AND NOT EXISTS (SELECT FROM company o WHERE o.org_id = $1 AND o.id = c.company_id)`,
		"deals closed before they began": `SELECT count(*) FROM deal WHERE org_id = $1 AND closed_at < created_at`,
		"entries ahead":                  `SELECT count(*) FROM timeline WHERE org_id = $1 AND at > now()`,
		"attempts ahead": `SELECT count(*) FROM webhook_attempt a WHERE org_id = $1
			AND started_at > now()`,
		"entries before their contact": `SELECT count(*) FROM timeline e JOIN contact c USING (org_id) WHERE org_id = $1
			AND c.id = e.contact_id AND e.at < c.created_at`,
		"events out of order": `SELECT count(*) FROM (SELECT created_at, lag(created_at) OVER (ORDER BY seq) AS before
			FROM event WHERE org_id = $1) e WHERE created_at < before`,
		"events and ids that differ": `SELECT count(*) FROM event WHERE org_id = $1
			AND created_at < now() - interval '1 hour' -- live events have their ids from another clock
			AND id NOT BETWEEN uuid_floor(created_at) AND uuid_floor(created_at + interval '2 ms')`,
		"events that the feed has dropped": `SELECT count(*) FROM event WHERE org_id = $1
			AND created_at < now() - interval '31 days'`,
		"deliveries of no event": `SELECT count(*) FROM webhook_delivery d WHERE org_id = $1
			AND NOT EXISTS (SELECT FROM event e WHERE e.org_id = $1 AND e.id = d.event_id)`,
		"addresses of real people": `SELECT count(*) FROM contact WHERE org_id = $1
			AND email !~ '^[a-z0-9.-]+@([a-z-]+\.)?example\.(com|org)$'`,
	} {
		if n := p.count(sql); n != 0 {
			t.Errorf("%s: %d", what, n)
		}
	}
}

func TestOnlyTheLastStepSendsAnything(t *testing.T) {
	t.Parallel()
	p := open(t)
	p.fill(t.Context())
	waiting := p.count(`SELECT count(*) FROM job WHERE org_id = $1 AND kind = 'webhook.deliver'`)
	if waiting == 0 || waiting > 20 {
		t.Errorf("%d deliveries wait", waiting)
	}
	if n := p.count(`SELECT count(*) FROM job WHERE org_id = $1 AND kind = 'score.train'`); n != 1 {
		t.Errorf("%d trainings wait", n)
	}
}

func TestASecondCallChangesNothing(t *testing.T) {
	t.Parallel()
	p := open(t)
	p.fill(t.Context())
	before := p.count(`SELECT count(*) FROM timeline WHERE org_id = $1`)
	if r := p.fill(t.Context()); !r.Already {
		t.Error("the second call does not report that the data is there")
	}
	if after := p.count(`SELECT count(*) FROM timeline WHERE org_id = $1`); after != before {
		t.Errorf("%d entries became %d", before, after)
	}
}

// fingerprint is what two fills with equal arguments have in common, except times.
const fingerprint = `SELECT ('x' || substr(md5(string_agg(
	c.email || c.stage || c.first_name || array_to_string(c.tags, ',')
	|| (SELECT count(*) FROM timeline t WHERE t.org_id = $1 AND t.contact_id = c.id)
	|| coalesce((SELECT string_agg(d.status || d.amount || d.name, ';' ORDER BY d.id) FROM deal d WHERE d.org_id = $1
		AND d.contact_id = c.id), ''), '/' ORDER BY c.email)), 1, 7))::bit(28)::int FROM contact c WHERE c.org_id = $1`

func TestAnInterruptedCallIsContinuedToTheSameResult(t *testing.T) {
	t.Parallel()
	whole, cut := open(t), open(t)
	whole.fill(t.Context())
	resumed := false
	for tries := 0; ; tries++ {
		ctx, stop := context.WithCancel(t.Context())
		cut.Options.Model = interrupting(cut.Options, stop, 2)
		r, err := demo.Fill(ctx, cut.Options)
		stop()
		resumed = resumed || r.Resumed
		if err == nil {
			break
		}
		if tries > 50 {
			t.Fatal(err)
		}
	}
	if !resumed {
		t.Error("no call continued another one")
	}
	if a, b := whole.count(fingerprint), cut.count(fingerprint); a != b {
		t.Errorf("the results differ: %d, %d", a, b)
	}
}

func TestAnOrgWithDataOfItsOwnIsLeftAlone(t *testing.T) {
	t.Parallel()
	p := open(t)
	if err := p.App.Tx(t.Context(), p.Org, func(tx *postgres.Tx) error {
		tx.Queue(`INSERT INTO company (org_id, id, name, name_folded, created_at, updated_at)
			VALUES ($1, $2, 'Own', 'own', now(), now())`, p.Org, id.New())
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	if _, err := demo.Fill(t.Context(), p.Options); err == nil || err.Error() != demo.ErrNotEmpty.Error() {
		t.Errorf("got %v", err)
	}
	p.Force = true
	p.fill(t.Context())
}

func TestAnotherPlanDoesNotContinueAnInterruptedOne(t *testing.T) {
	t.Parallel()
	p := open(t)
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	p.Options.Model = interrupting(p.Options, stop, 1)
	if _, err := demo.Fill(ctx, p.Options); err == nil {
		t.Fatal("the call was not interrupted")
	}
	p.Seed++
	_, err := demo.Fill(t.Context(), p.Options)
	want := "an earlier call is not completed: continue it with --seed 7 --contacts 300"
	if err == nil || err.Error() != want {
		t.Errorf("got %v", err)
	}
}

// interrupting returns o.Model, which ends a context at its n'th call.
func interrupting(o demo.Options, stop context.CancelFunc, n int) modelOf {
	return func(ctx context.Context, tx *postgres.Tx) (*scoring.Model, error) {
		if n--; n < 0 {
			stop()
		}
		return o.Model(ctx, tx)
	}
}

type modelOf = func(context.Context, *postgres.Tx) (*scoring.Model, error)

// Counts run beside the fill, as the scheduler asks for them. The home page then shows all of the half year.
func TestTheOverviewCountsTheWholeHistory(t *testing.T) {
	t.Parallel()
	p := open(t)
	count := func() {
		t.Helper()
		if err := p.App.Tx(t.Context(), p.Org, func(tx *postgres.Tx) error {
			return overview.Count(t.Context(), tx)
		}); err != nil {
			t.Fatal(err)
		}
	}
	due := func() int {
		t.Helper()
		found, err := overview.Due(t.Context(), p.db.System, "none")
		if err != nil {
			t.Fatal(err)
		}
		return len(found)
	}
	count()
	p.fill(t.Context())
	if due() != 1 {
		t.Error("no count is due after the fill")
	}
	count()
	var o *overview.Overview
	today := time.Now().UTC().Truncate(24 * time.Hour)
	if err := p.App.ReadTx(t.Context(), p.Org, func(tx *postgres.Tx) (err error) {
		o, err = overview.Read(t.Context(), tx, today.AddDate(0, 0, -29), today)
		return err
	}); err != nil {
		t.Fatal(err)
	}
	contacts := p.count(`SELECT count(*) FROM contact WHERE org_id = $1 AND archived_at IS NULL`)
	open := p.count(`SELECT count(*) FROM deal WHERE org_id = $1 AND status = 'open' AND archived_at IS NULL`)
	sums := 0
	for _, s := range o.Deals.Open {
		sums += int(s.Count)
	}
	deliveries := p.count(`SELECT count(*) FROM webhook_delivery WHERE org_id = $1 AND status = 'delivered'
		AND id >= uuid_floor(date_trunc('day', now() AT TIME ZONE 'UTC') AT TIME ZONE 'UTC' - interval '29 days')`)
	if int(o.Contacts.Total) != contacts || sums != open || int(o.Webhooks.Delivered) != deliveries || deliveries == 0 {
		t.Errorf("%d contacts, %d open deals, %d deliveries; want %d, %d, %d", o.Contacts.Total, sums,
			o.Webhooks.Delivered, contacts, open, deliveries)
	}
}
