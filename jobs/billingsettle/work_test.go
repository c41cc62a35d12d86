package billingsettle_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"os/exec"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/funnelwork/funnelwork/internal/billing"
	"github.com/funnelwork/funnelwork/internal/billing/plans"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/queue"
	"github.com/funnelwork/funnelwork/internal/sandbox/stripe"
	"github.com/funnelwork/funnelwork/internal/testkit"
	"github.com/funnelwork/funnelwork/jobs/billingsettle"
)

// victim is set in the environment of a process that will be killed in the middle of a change, to where.
const victim = "FUNNELWORK_TEST_DIES"

func TestMain(m *testing.M) {
	if at := os.Getenv(victim); at != "" {
		die(at)
	}
	os.Exit(m.Run())
}

// office is billing on a database, with a Stripe in the same database that outlives every process.
func office(app, system *postgres.DB, at func(context.Context, string) error) (*billing.Service, *stripe.Sandbox) {
	box := stripe.New(stripe.Options{Store: stripe.Postgres{System: system}})
	return billing.New(billing.Options{
		App: app, System: system, Catalogue: plans.Standard(),
		Account: billing.Account{Key: "sk_test_settle", URL: "http://stripe.test", HTTP: &http.Client{Transport: box.Transport()}},
		Remind: func(ctx context.Context, tx *postgres.Tx, change id.ID) error {
			return billingsettle.Kind.Add(ctx, tx, billingsettle.Args{Change: change}, queue.At(time.Now().Add(billingsettle.After)))
		},
		Arrived: func(context.Context, *postgres.Tx, string) error { return nil },
		Audit:   func(context.Context, *postgres.Tx, billing.Act) {},
		Log:     slog.New(slog.DiscardHandler), At: at,
	}), box
}

// die upgrades an org and is killed on the way. It never returns.
func die(at string) {
	ctx := context.Background()
	kill := func() {
		_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
		<-make(chan struct{})
	}
	open := func(role string) *postgres.DB {
		db, err := postgres.Open(ctx, postgres.Options{URL: os.Getenv("DB"), Role: role, Name: "victim"})
		if err != nil {
			fatal(err)
		}
		return db
	}
	org, err := id.Parse(os.Getenv("ORG"))
	if err != nil {
		fatal(err)
	}
	s, box := office(open(postgres.App), open(postgres.System), func(_ context.Context, point string) error {
		if point == at {
			kill()
		}
		return nil
	})
	if at == "acted" {
		box.Break(stripe.Fault{Kind: stripe.CutAfter, Method: http.MethodPost, Path: "/v1/subscriptions", Struck: kill})
	}
	a, err := s.Change(ctx, org, billing.Wish{Plan: os.Getenv("PLAN"), Interval: "month"}, billing.Call{})
	fatal(fmt.Errorf("lived on: %+v, %w", a, err))
}

func fatal(err error) {
	_, _ = fmt.Fprintln(os.Stderr, err)
	os.Exit(3)
}

// TestAKilledChangeIsBroughtToItsEnd kills the process at each step of a first subscription and of an upgrade: before
// Stripe is asked, when Stripe has acted and the answer is on its way, before and within the second transaction, and
// after it. The job that was written with the change brings the rest, and nothing is charged twice.
func TestAKilledChangeIsBroughtToItsEnd(t *testing.T) {
	t.Parallel()
	for _, at := range []string{"begun", "acted", "asked", "closing", "closed"} {
		for _, first := range []bool{true, false} {
			t.Run(fmt.Sprintf("%s first %v", at, first), func(t *testing.T) {
				t.Parallel()
				db, ctx := testkit.DB(t), t.Context()
				s, box := office(db.App, db.System, nil)
				if _, err := s.Publish(ctx, false); err != nil {
					t.Fatal(err)
				}
				sql, org := testkit.Pgx(t, db.URL), id.New()
				if _, err := sql.Exec(ctx, "INSERT INTO org (id, name) VALUES ($1, 'Test')", org); err != nil {
					t.Fatal(err)
				}
				wish, charges := "solo_pro", 1
				if !first {
					if _, err := s.Change(ctx, org, billing.Wish{Plan: "solo_starter", Interval: "month"}, billing.Call{}); err != nil {
						t.Fatal(err)
					}
					wish, charges = "agency_growth", 2
				}
				self, err := os.Executable()
				if err != nil {
					t.Fatal(err)
				}
				cmd := exec.CommandContext(ctx, self, "-test.run=^$")
				cmd.Env = append(os.Environ(), victim+"="+at, "DB="+db.URL, "ORG="+org.String(), "PLAN="+wish)
				out, err := cmd.CombinedOutput()
				var exit *exec.ExitError
				if !errors.As(err, &exit) || exit.Sys().(syscall.WaitStatus).Signal() != syscall.SIGKILL {
					t.Fatalf("the process was not killed: %v %s", err, out)
				}

				var soon bool
				if err := sql.QueryRow(ctx, "SELECT bool_and(run_at < now() + interval '40 s') FROM job WHERE org_id = $1 AND kind = 'billing.settle'", org).Scan(&soon); err != nil || !soon {
					t.Fatalf("no job will look after the change within a minute: %v", err)
				}
				rows, err := sql.Query(ctx, "UPDATE job SET run_at = now(), wake_at = now() WHERE kind = 'billing.settle' RETURNING id") // its time has come
				if err != nil {
					t.Fatal(err)
				}
				due, err := pgx.CollectRows(rows, pgx.RowTo[id.ID])
				if err != nil {
					t.Fatal(err)
				}
				handler := billingsettle.Kind.Handle(billingsettle.Job{Billing: s}.Work)
				ledger := queue.NewLedger(db.App, db.System)
				for _, job := range due {
					run, err := ledger.Claim(ctx, org, job)
					if err != nil {
						t.Fatal(err)
					}
					if err := handler.Call(ctx, run); err != nil {
						t.Fatal(err)
					}
				}

				var plan, state string
				if err := sql.QueryRow(ctx, `SELECT s.plan, (SELECT string_agg(state, ' ' ORDER BY c.id) FROM plan_change c WHERE c.org_id = s.org_id) FROM subscription s WHERE org_id = $1`, org).Scan(&plan, &state); err != nil {
					t.Fatal(err)
				}
				all, err := box.Ledger(ctx, "", "")
				if err != nil {
					t.Fatal(err)
				}
				paid := 0
				for _, m := range all {
					if m.Kind == "charge" {
						paid++
					}
				}
				want := "applied"
				if !first {
					want = "applied applied"
				}
				var told, live int
				if err := sql.QueryRow(ctx, "SELECT count(*) FROM event WHERE org_id = $1 AND type = 'plan.changed'", org).Scan(&told); err != nil {
					t.Fatal(err)
				}
				if err := sql.QueryRow(ctx, "SELECT count(*) FROM stripe_subscription WHERE org_id = $1 AND live", org).Scan(&live); err != nil {
					t.Fatal(err)
				}
				if plan != wish || state != want || paid != charges || told != charges || live != 1 {
					t.Errorf("plan %s, changes %s, %d charges, %d plan.changed, %d live; want %s, %s, %d of each, 1", plan, state, paid, told, live, wish, want, charges)
				}
			})
		}
	}
}
