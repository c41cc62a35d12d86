package worker_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"strings"
	"syscall"
	"time"

	"github.com/funnelwork/funnelwork/internal/emails/replyjournal"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/journal"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/queue"
	"github.com/funnelwork/funnelwork/internal/redisx"
	"github.com/funnelwork/funnelwork/internal/secret"
	"github.com/funnelwork/funnelwork/jobs/contactimport"
	"github.com/funnelwork/funnelwork/jobs/sequencestep"
	"github.com/funnelwork/funnelwork/worker"
)

// stubborn is a call-out kind that ignores its context. Its first run waits until "go" is written into done; later runs
// return at once.
var stubborn = queue.Define[none]("test.stubborn", queue.Options{Timeout: time.Hour})

// play runs a role in a separate process.
func play(role string) {
	if err := playing(context.Background(), role); err != nil {
		fmt.Fprintln(os.Stderr, role+":", err)
		os.Exit(1)
	}
}

func playing(ctx context.Context, role string) error {
	env := os.Getenv
	org, err := id.Parse(env("ORG"))
	if err != nil {
		return err
	}
	o := postgres.Options{URL: env("DB"), Role: postgres.App, MaxConns: 8}
	if role == "api killed after commit" {
		o.AfterCommit = func(context.Context, []any) {
			_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
			select {}
		}
	}
	app, err := postgres.Open(ctx, o)
	if err != nil {
		return err
	}
	if role == "api killed after commit" {
		return app.Tx(ctx, org, func(tx *postgres.Tx) error { return mark.Add(ctx, tx, none{}) })
	}
	if role == writing {
		return writeEmails(ctx, env, org)
	}
	system, err := postgres.Open(ctx, postgres.Options{URL: o.URL, Role: postgres.System, MaxConns: 8})
	if err != nil {
		return err
	}
	if strings.HasPrefix(role, changing+" ") {
		return dieChanging(ctx, app, system, org, role)
	}
	if strings.HasPrefix(role, onboarding+" ") {
		return dieOnboarding(ctx, app, system, org, role)
	}
	client, err := redisx.Open(env("REDIS"), redisx.Worker)
	if err != nil {
		return err
	}
	if role == syncing {
		requests, err := redisx.Open(env("REDIS"), redisx.Request)
		if err != nil {
			return err
		}
		return keepSegments(ctx, o.URL, system, client, requests)
	}
	var handler queue.Handler
	var handlers []queue.Handler
	var timing worker.Timing
	slots := 4
	var watches []func(context.Context) error
	switch role {
	case "worker that waits in work":
		handler = stubborn.Handle(func(ctx context.Context, run *queue.Run[none]) error {
			return waitInWork(ctx, app, run)
		})
	case "worker that waits in a transaction":
		handler = mark.HandleTx(func(ctx context.Context, tx *postgres.Tx, run *queue.Run[none]) error {
			if err := note(ctx, app, run.Org, run.ID, "started"); err != nil {
				return err
			}
			<-ctx.Done()
			return ctx.Err()
		})
	case posting:
		box, err := secret.Parse(env("KEYSET"))
		if err != nil {
			return err
		}
		handlers, timing = postHandlers(app, box, nil), soon
	case keeping:
		box, err := secret.Parse(env("KEYSET"))
		if err != nil {
			return err
		}
		dir, err := journal.Open(env("SPOOL"))
		if err != nil {
			return err
		}
		replies := replyjournal.New(ctx, replyjournal.Options{
			DB: app, Dir: dir, Log: slog.New(slog.NewTextHandler(os.Stderr, nil)),
		})
		go func() { _ = replies.Run(ctx) }() // until the process is killed
		handlers, timing, slots = postHandlers(app, box, replies), patient, manyMails
	case broadcasting:
		box, err := secret.Parse(env("KEYSET"))
		if err != nil {
			return err
		}
		handlers, timing = broadcastHandlers(app, box), soon
	case walking:
		box, err := secret.Parse(env("KEYSET"))
		if err != nil {
			return err
		}
		handlers, timing = walkHandlers(app, box, nil), soon
		watches = append(watches, sequencestep.Watch(app, system))
	case importing:
		handlers = importers(contactimport.Job{Log: slog.New(slog.NewTextHandler(os.Stderr, nil))})
	default:
		return errors.New("no such part")
	}
	if handlers == nil {
		handlers = []queue.Handler{handler}
	}
	return worker.New(worker.Options{
		App: app, System: system, Redis: client, Handlers: handlers, Concurrency: slots, Timing: timing,
		Watches: watches,
		Log:     slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelError})),
	}).Run(ctx)
}

func waitInWork(ctx context.Context, app *postgres.DB, run *queue.Run[none]) error {
	ctx = context.WithoutCancel(ctx)
	first := true
	if err := app.ReadTx(ctx, run.Org, func(tx *postgres.Tx) error {
		return tx.QueryRow(ctx, "SELECT count(*) = 0 FROM done WHERE org_id = $1 AND note = 'started'",
			[]any{run.Org}, &first)
	}); err != nil {
		return err
	}
	if err := note(ctx, app, run.Org, run.ID, "started"); err != nil {
		return err
	}
	name := "second"
	for told := !first; !told; <-time.After(50 * time.Millisecond) {
		name = "first"
		if err := app.ReadTx(ctx, run.Org, func(tx *postgres.Tx) error {
			return tx.QueryRow(ctx, "SELECT count(*) > 0 FROM done WHERE org_id = $1 AND note = 'go'", []any{run.Org},
				&told)
		}); err != nil {
			return err
		}
	}
	run.Effect(func(_ context.Context, tx *postgres.Tx) error {
		tx.Queue("INSERT INTO done (org_id, job, note) VALUES ($1, $2, $3)", run.Org, run.ID,
			"effect of the "+name+" run")
		return nil
	})
	return note(ctx, app, run.Org, run.ID, "the "+name+" run returned")
}

// note records what happened, in a separate transaction.
func note(ctx context.Context, app *postgres.DB, org, job id.ID, text string) error {
	return app.Tx(ctx, org, func(tx *postgres.Tx) error {
		tx.Queue("INSERT INTO done (org_id, job, note) VALUES ($1, $2, $3)", org, job, text)
		return nil
	})
}
