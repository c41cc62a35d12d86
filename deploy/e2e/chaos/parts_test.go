package chaos_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"os"
	"os/signal"
	"strconv"
	"syscall"
	"time"

	"github.com/funnelwork/funnelwork/internal/billing"
	"github.com/funnelwork/funnelwork/internal/outbound"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/queue"
	"github.com/funnelwork/funnelwork/internal/queue/dispatch"
	"github.com/funnelwork/funnelwork/internal/redisx"
	"github.com/funnelwork/funnelwork/internal/sandbox/stripe"
	"github.com/funnelwork/funnelwork/internal/secret"
	"github.com/funnelwork/funnelwork/internal/telemetry"
	"github.com/funnelwork/funnelwork/internal/webhooks"
	"github.com/funnelwork/funnelwork/jobs"
	"github.com/funnelwork/funnelwork/jobs/entitlementsync"
	"github.com/funnelwork/funnelwork/scheduler"
	"github.com/funnelwork/funnelwork/worker"
)

// part is the environment variable with the role that the test binary runs as a separate process: a worker or a
// scheduler of the product, with the test's kinds in addition and an entry with a short interval. The API is the
// product's binary.
const part = "FUNNELWORK_CHAOS_PART"

type args struct {
	Ms int    `json:"ms"`           // duration of the work
	To string `json:"to,omitempty"` // target of the call
}

// The test's kinds.
var (
	mark = queue.Define[args]("chaos.mark", queue.Options{}) // has row effects
	// has an external call, and ignores its context
	call = queue.Define[args]("chaos.call", queue.Options{Timeout: 10 * time.Minute})
	beat = queue.Define[args]("chaos.beat", queue.Options{}) // kind of the test's entry
)

func play(role string) {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	err := playing(ctx, role)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, role+":", err)
		os.Exit(1)
	}
}

func playing(ctx context.Context, role string) error {
	log := telemetry.NewLogger(os.Stderr, false, slog.LevelWarn)
	redisx.LogTo(log)
	requests, err := redisx.Open(os.Getenv("REDIS_URL"), redisx.Request)
	if err != nil {
		return err
	}
	pusher := dispatch.NewCommitEnqueuer(dispatch.CommitEnqueuerOptions{Redis: requests, Log: log})
	go func() { _ = pusher.Run(ctx) }()
	pools := map[string]*postgres.DB{}
	for _, name := range []string{postgres.App, postgres.System} {
		if pools[name], err = postgres.Open(ctx,
			postgres.Options{
				URL: os.Getenv("DATABASE_URL"), Role: name, Name: role,
				AfterCommit: pusher.AfterCommit,
			}); err != nil {
			return err
		}
	}
	log.WarnContext(ctx, began)
	if role == "scheduler" {
		return remind(ctx, pools[postgres.System], log)
	}
	return work(ctx, pools[postgres.App], pools[postgres.System], log)
}

func remind(ctx context.Context, system *postgres.DB, log *slog.Logger) error {
	every, err := time.ParseDuration(os.Getenv("EVERY"))
	if err != nil {
		return err
	}
	return scheduler.New(scheduler.Options{System: system, Log: log, Entries: []scheduler.Entry{{
		Name: "beat", Every: every, Missed: scheduler.All,
		Add: func(ctx context.Context, tx *postgres.Tx, dedupe queue.Adding) error {
			return beat.Add(ctx, tx, args{}, dedupe)
		},
	}}}).Run(ctx)
}

func work(ctx context.Context, app, system *postgres.DB, log *slog.Logger) error {
	box, err := secret.Parse(os.Getenv("FUNNELWORK_KEYSET"))
	if err != nil {
		return err
	}
	client, err := redisx.Open(os.Getenv("REDIS_URL"), redisx.Worker)
	if err != nil {
		return err
	}
	slots, err := strconv.Atoi(os.Getenv("SLOTS"))
	if err != nil {
		return err
	}
	hooks := &webhooks.Service{Box: box, Policy: outbound.Policy{AllowPrivate: true}}
	// the API publishes prices to it
	money := stripe.New(stripe.Options{Store: stripe.Postgres{System: system}, Log: log})
	defer money.Close()
	handlers := []queue.Handler{
		mark.HandleTx(func(_ context.Context, _ *postgres.Tx, run *queue.Run[args]) error {
			<-time.After(time.Duration(run.Args.Ms) * time.Millisecond)
			return nil
		}),
		beat.HandleTx(func(context.Context, *postgres.Tx, *queue.Run[args]) error { return nil }),
		call.Handle(callOut),
	}
	handlers = append(handlers, jobs.All(jobs.Deps{
		App: app, System: system, Log: log, Box: box, Hooks: hooks,
		Calls: outbound.New(outbound.Options{Policy: hooks.Policy}),
		Billing: jobs.Billing(billing.Options{
			App: app, System: system, Catalogue: entitlementsync.Standard(), Log: log,
			Account: billing.Account{
				Key: "sk_test_sandbox", URL: "http://stripe.sandbox",
				HTTP: &http.Client{Transport: money.Transport()}, Log: log,
			},
		}),
	})...)
	for i := range handlers {
		handlers[i] = witnessed(handlers[i])
	}
	return worker.New(worker.Options{
		App: app, System: system, Redis: client, Handlers: handlers, Concurrency: slots,
		Log: log,
	}).Run(ctx)
}

// callOut calls under the job's id and ignores its context: the worst behavior of a kind.
func callOut(ctx context.Context, run *queue.Run[args]) error {
	req, err := http.NewRequestWithContext(context.WithoutCancel(ctx), http.MethodPost, run.Args.To, nil)
	if err != nil {
		return err
	}
	req.Header.Set("Idempotency-Key", run.ID.String())
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return err
	}
	return res.Body.Close()
}

// witnessed adds a row to the effects of a run, in the transaction of its own effects and its completion.
func witnessed(h queue.Handler) queue.Handler {
	write := func(tx *postgres.Tx, c *queue.Claimed) {
		tx.Queue("INSERT INTO effect (org_id, job, kind, args, attempt, waited_ms, failed) VALUES ($1, $2, $3, $4, "+
			"$5, $6, (SELECT last_error FROM job WHERE org_id = $1 AND id = $2))",
			c.Org, c.ID, c.Kind, string(c.Raw), c.Attempt, float64(c.Waited.Microseconds())/1000)
	}
	if h.Tx != nil {
		do := h.Tx
		h.Tx = func(ctx context.Context, tx *postgres.Tx, c *queue.Claimed) error {
			write(tx, c)
			return do(ctx, tx, c)
		}
		return h
	}
	do := h.Call
	h.Call = func(ctx context.Context, c *queue.Claimed) error {
		err := do(ctx, c)
		if err == nil {
			c.Effect(func(_ context.Context, tx *postgres.Tx) error {
				write(tx, c)
				return nil
			})
		}
		return err
	}
	return h
}

// contactIn returns the id of a webhook's contact.
func contactIn(body io.Reader) string {
	var e struct {
		Data struct {
			Object struct {
				ID string `json:"id"`
			} `json:"object"`
		} `json:"data"`
	}
	_ = json.NewDecoder(body).Decode(&e)
	return e.Data.Object.ID
}
