package billing_test

import (
	"context"
	"encoding/json"
	"errors"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	gosync "sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/funnelwork/funnelwork/internal/billing"
	"github.com/funnelwork/funnelwork/internal/billing/change"
	"github.com/funnelwork/funnelwork/internal/billing/connect"
	"github.com/funnelwork/funnelwork/internal/billing/plans"
	"github.com/funnelwork/funnelwork/internal/billing/sync"
	"github.com/funnelwork/funnelwork/internal/fault"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/queue"
	"github.com/funnelwork/funnelwork/internal/sandbox/stripe"
	"github.com/funnelwork/funnelwork/internal/testkit"
	"github.com/funnelwork/funnelwork/internal/testkit/stripememory"
)

// world is a test's own database and Stripe sandbox, with a clock that the test advances.
type world struct {
	testing.TB
	*testkit.Database
	box     *stripe.Sandbox
	billing *process
	sql     *pgx.Conn // superuser
	secret  string    // of the platform's webhook
	connect string    // of the connected accounts' webhook

	mu     gosync.Mutex
	at     time.Time
	crash  func(point string) error // nil: no crash
	hooks  []string                 // ids of events with an enqueued job
	audits []billing.Act
}

// settle stands for the kind of jobs/entitlementsync.
var settle = queue.Define[plans.SettleArgs]("plan.settle", queue.Options{})

var errCrash = errors.New("the process died")

// noon is the start time of every world: in a month of 31 days that is neither the first nor the last of its quarter.
var noon = time.Date(2026, 8, 3, 12, 0, 0, 0, time.UTC)

// hookURL and connectURL are the sandbox's webhook URLs; the tests deliver the events themselves.
const (
	hookURL    = "http://funnelwork.test/billing/stripe/webhook"
	connectURL = "http://funnelwork.test/billing/stripe/connect-webhook"
)

func begin(t testing.TB) *world {
	t.Helper()
	w := &world{TB: t, Database: testkit.DB(t), at: noon}
	w.sql = testkit.Pgx(t, w.URL)
	w.box = stripe.New(stripe.Options{Store: stripememory.New(), Log: testkit.Log(t), Now: w.now})
	t.Cleanup(w.box.Close)
	var err error
	if w.secret, err = w.box.Ensure(t.Context(), hookURL, false); err != nil {
		t.Fatal(err)
	}
	if w.connect, err = w.box.Ensure(t.Context(), connectURL, true); err != nil {
		t.Fatal(err)
	}
	w.billing = w.service(nil)
	if _, err := w.billing.Publish(t.Context(), false); err != nil {
		t.Fatal(err)
	}
	return w
}

// The services of a process, by names under which process can embed them.
type (
	changeService  = change.Service
	syncService    = sync.Service
	connectService = connect.Service
)

// process has the services of billing in one process.
type process struct {
	*billing.Service
	*changeService
	*syncService
	*connectService
}

// newProcess returns the services of another process.
func newProcess(o billing.Options) *process {
	s := billing.New(o)
	return &process{s, change.New(s), sync.New(s), connect.New(s)}
}

// service returns the services of another process on the world's database and Stripe.
func (w *world) service(change func(*billing.Options)) *process {
	o := billing.Options{
		App: w.App, System: w.System, Catalogue: plans.Standard().Enqueuing(settle.Add),
		Secret: w.secret, ConnectSecret: w.connect,
		Log: testkit.Log(w.TB),
		Account: billing.Account{
			Key: "sk_test_world", URL: "http://stripe.test",
			HTTP: &http.Client{Transport: w.box.Transport()}, Log: testkit.Log(w.TB),
		},
		Remind: func(context.Context, *postgres.Tx, id.ID) error { return nil },
		Arrived: func(_ context.Context, _ *postgres.Tx, event string) error {
			w.mu.Lock()
			defer w.mu.Unlock()
			w.hooks = append(w.hooks, event)
			return nil
		},
		Audit: func(_ context.Context, _ *postgres.Tx, act billing.Act) {
			w.mu.Lock()
			defer w.mu.Unlock()
			w.audits = append(w.audits, act)
		},
		Now: w.now, Wall: w.now,
		At: func(_ context.Context, point string) error {
			w.mu.Lock()
			defer w.mu.Unlock()
			if w.crash == nil {
				return nil
			}
			return w.crash(point)
		},
	}
	if change != nil {
		change(&o)
	}
	return newProcess(o)
}

func (w *world) now() time.Time {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.at
}

// pass advances the clock, here and at Stripe, and runs everything that becomes due.
func (w *world) pass(d time.Duration) {
	w.Helper()
	w.mu.Lock()
	w.at = w.at.Add(d)
	w.mu.Unlock()
	if err := w.box.Tick(w.Context()); err != nil {
		w.Fatal(err)
	}
}

// dies makes the process die at a point, once.
func (w *world) dies(at string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.crash = func(point string) error {
		if point != at {
			return nil
		}
		w.crash = nil
		return errCrash
	}
}

// org creates an org on the trial.
func (w *world) org() id.ID {
	w.Helper()
	org := id.New()
	if _, err := w.sql.Exec(w.Context(), "INSERT INTO org (id, name) VALUES ($1, 'Test')", org); err != nil {
		w.Fatal(err)
	}
	return org
}

// on creates an org that has paid for a month of a plan.
func (w *world) on(plan string) id.ID {
	w.Helper()
	org := w.org()
	w.change(org, change.Request{Plan: plan, Interval: "month"}, billing.Applied)
	return org
}

// change requests a plan and checks the resulting status.
func (w *world) change(org id.ID, wish change.Request, status string) *change.Answer {
	w.Helper()
	a, err := w.billing.Change(w.Context(), org, wish, change.Call{})
	if err != nil {
		w.Fatalf("change to %s by the %s: %v", wish.Plan, wish.Interval, err)
	}
	if a.Status != status {
		w.Fatalf("change to %s by the %s came to %s, want %s", wish.Plan, wish.Interval, a.Status, status)
	}
	return a
}

// refused requests a plan and checks the fault.
func (w *world) refused(org id.ID, wish change.Request, code fault.Code) {
	w.Helper()
	a, err := w.billing.Change(w.Context(), org, wish, change.Call{})
	if !fault.Is(err, code) {
		w.Fatalf("change to %s: %+v, %v; want %s", wish.Plan, a, err, code)
	}
}

// state describes an org's subscription: plan, interval, status, and pending changes.
func (w *world) state(org id.ID) string {
	w.Helper()
	var s *billing.Subscription
	err := w.App.ReadTx(w.Context(), org, func(tx *postgres.Tx) (err error) {
		s, err = billing.Read(w.Context(), tx)
		return err
	})
	if err != nil {
		w.Fatal(err)
	}
	out := []string{s.Rights.Plan, s.Rights.Interval, string(s.Rights.Status)}
	if s.Rights.CancelAtPeriodEnd {
		out = append(out, "ends")
	}
	if s.Open != nil {
		out = append(out, s.Open.State)
	}
	if s.Scheduled != nil {
		out = append(out, "then "+s.Scheduled.ToPlan)
	}
	return strings.Join(strings.Fields(strings.Join(out, " ")), " ")
}

func (w *world) want(org id.ID, state string) {
	w.Helper()
	if got := w.state(org); got != state {
		w.Errorf("the org is %q, want %q", got, state)
	}
}

// count returns the number that a query selects.
func (w *world) count(sql string, args ...any) (n int64) {
	w.Helper()
	if err := w.sql.QueryRow(w.Context(), sql, args...).Scan(&n); err != nil {
		w.Fatalf("%s: %v", sql, err)
	}
	return n
}

// customer returns the org's customer id at Stripe.
func (w *world) customer(org id.ID) (cus string) {
	w.Helper()
	if err := w.sql.QueryRow(w.Context(), "SELECT stripe_id FROM billing_customer WHERE org_id = $1", org).
		Scan(&cus); err != nil {
		w.Fatal(err)
	}
	return cus
}

// charged returns the total that an org has paid, and the number of charges.
func (w *world) charged(org id.ID) (sum int64, times int) {
	w.Helper()
	all, err := w.box.Ledger(w.Context(), "", w.customer(org))
	if err != nil {
		w.Fatal(err)
	}
	for _, m := range all {
		if m.Kind == "charge" {
			sum, times = sum+m.Amount, times+1
		}
	}
	return sum, times
}

// card changes the behaviour of the org's card.
func (w *world) card(org id.ID, c stripe.Conduct) {
	w.Helper()
	if err := w.box.SetCard(w.Context(), w.customer(org), c); err != nil {
		w.Fatal(err)
	}
}

// recover runs the jobs of changes left in flight.
func (w *world) recover() {
	w.Helper()
	rows, err := w.sql.Query(w.Context(), "SELECT org_id, id FROM plan_change WHERE state = 'in_flight'")
	if err != nil {
		w.Fatal(err)
	}
	open, err := pgx.CollectRows(rows, pgx.RowToStructByPos[struct{ Org, Change id.ID }])
	if err != nil {
		w.Fatal(err)
	}
	for _, c := range open {
		if err := w.billing.Recover(w.Context(), c.Org, c.Change); err != nil {
			w.Fatalf("recover: %v", err)
		}
	}
}

// outbox takes Stripe's undelivered events.
func (w *world) outbox() (all []stripe.Outgoing) {
	w.Helper()
	for {
		some, err := w.box.Outbox(w.Context(), 100)
		if err != nil {
			w.Fatal(err)
		}
		if len(some) == 0 {
			return all
		}
		all = append(all, some...)
		for _, o := range some {
			if err := w.box.Sent(w.Context(), o, 200, ""); err != nil {
				w.Fatal(err)
			}
		}
	}
}

// deliver passes events to the intake.
func (w *world) deliver(all ...stripe.Outgoing) {
	w.Helper()
	for _, o := range all {
		secret, connect := w.secret, o.URL == connectURL
		if connect {
			secret = w.connect
		}
		if err := w.billing.Intake(w.Context(), o.Body, stripe.Sign(secret, w.now(), o.Body), connect); err != nil {
			w.Fatalf("%s: %v", o.Type, err)
		}
	}
}

// work runs the jobs of the events that have arrived.
func (w *world) work() {
	w.Helper()
	w.mu.Lock()
	todo := w.hooks
	w.hooks = nil
	w.mu.Unlock()
	for _, event := range todo {
		var org id.ID
		if err := w.sql.QueryRow(w.Context(), "SELECT org_id FROM stripe_event WHERE id = $1", event).
			Scan(&org); err != nil {
			w.Fatal(err)
		}
		if err := w.billing.Work(w.Context(), org, event); err != nil {
			w.Fatalf("work %s: %v", event, err)
		}
	}
}

// told delivers and processes all of Stripe's events, in order.
func (w *world) told() {
	w.Helper()
	w.deliver(w.outbox()...)
	w.work()
}

// acts returns the audited actions.
func (w *world) acts() (out []string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, a := range w.audits {
		out = append(out, a.Action)
	}
	return slices.Clone(out)
}

// planChanged returns how often plan.changed was announced for an org.
func (w *world) planChanged(org id.ID) int64 {
	w.Helper()
	return w.count("SELECT count(*) FROM event WHERE org_id = $1 AND type = 'plan.changed'", org)
}

const day = 24 * time.Hour

// post sends a request to Stripe that the product never makes.
func (w *world) post(path, form string) (body map[string]any) {
	w.Helper()
	req, err := http.NewRequestWithContext(w.Context(), http.MethodPost, "http://stripe.test"+path,
		strings.NewReader(form))
	if err != nil {
		w.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	return w.ask(req)
}

// get reads an object from Stripe.
func (w *world) get(path string) (body map[string]any) {
	w.Helper()
	req, err := http.NewRequestWithContext(w.Context(), http.MethodGet, "http://stripe.test"+path, nil)
	if err != nil {
		w.Fatal(err)
	}
	return w.ask(req)
}

func (w *world) ask(req *http.Request) (body map[string]any) {
	w.Helper()
	req.Header.Set("Authorization", "Bearer sk_test_world")
	res, err := (&http.Client{Transport: w.box.Transport()}).Do(req)
	if err != nil {
		w.Fatal(err)
	}
	defer func() { _ = res.Body.Close() }()
	if err := json.NewDecoder(res.Body).Decode(&body); err != nil || res.StatusCode != http.StatusOK {
		w.Fatalf("%s %s: %d %v %v", req.Method, req.URL.Path, res.StatusCode, body, err)
	}
	return body
}

// credit returns the org's credit balance at Stripe.
func (w *world) credit(org id.ID) int64 {
	w.Helper()
	balance, _ := w.get("/v1/customers/" + w.customer(org))["balance"].(float64)
	return -int64(balance)
}

// elsewhere returns another database with the same Stripe, which knows only the customer of an org.
func (w *world) elsewhere(org id.ID) *world {
	w.Helper()
	o := w.twin()
	o.meets(org, w.customer(org))
	return o
}

// twin returns another database with the same Stripe, without an org.
func (w *world) twin() *world {
	w.Helper()
	o := &world{TB: w.TB, Database: testkit.DB(w.TB), at: w.now(), box: w.box, secret: w.secret, connect: w.connect}
	o.sql = testkit.Pgx(w.TB, o.URL)
	o.billing = o.service(nil)
	if _, err := o.billing.Publish(w.Context(), false); err != nil {
		w.Fatal(err)
	}
	return o
}

// meets creates an org with its customer id in w, and nothing else.
func (w *world) meets(org id.ID, customer string) {
	w.Helper()
	for _, sql := range []string{
		"INSERT INTO org (id, name) VALUES ($1, $2)",
		"INSERT INTO billing_customer (org_id, stripe_id, stripe_key, keyed_at) VALUES ($1, $2, 'cus:x', now())",
	} {
		if _, err := w.sql.Exec(w.Context(), sql, org, customer); err != nil {
			w.Fatal(err)
		}
	}
}

// shuffled returns four fifths of the events in another order, some of them twice.
func shuffled(seed uint64, events []stripe.Outgoing) (out []stripe.Outgoing) {
	r := rand.New(rand.NewPCG(seed, 11))
	for _, e := range events {
		switch r.IntN(10) {
		case 0, 1:
		case 2:
			out = append(out, e, e)
		default:
			out = append(out, e)
		}
	}
	r.Shuffle(len(out), func(i, j int) { out[i], out[j] = out[j], out[i] })
	return out
}
