package command

import (
	"cmp"
	"context"
	"errors"
	"io"
	"log/slog"

	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/queue/jobscmd"
	"github.com/funnelwork/funnelwork/internal/queue/operator"
	"github.com/funnelwork/funnelwork/internal/queue/store"
	"github.com/funnelwork/funnelwork/internal/redisx"
	"github.com/funnelwork/funnelwork/jobs"
	"github.com/funnelwork/funnelwork/jobs/platformredrive"
	"github.com/funnelwork/funnelwork/migrations"
)

type jobsGroup struct {
	JSON  bool   `name:"json" help:"Print one JSON object per line."`
	Actor string `env:"FUNNELWORK_ACTOR,USER" default:"cli" help:"Who acts, for the audit."`

	List     jobscmd.List     `cmd:"" help:"Print jobs, dead ones unless said, newest first."`
	Show     jobscmd.Show     `cmd:"" help:"Print all of a job."`
	Retry    jobscmd.Retry    `cmd:"" help:"Run jobs now; dead ones begin anew."`
	Archive  jobscmd.Archive  `cmd:"" help:"Make open jobs dead: they are kept, and run no more."`
	Drop     jobscmd.Drop     `cmd:"" help:"Delete jobs, by id or by what they have in common."`
	Redrive  jobscmd.Redrive  `cmd:"" help:"Run dead jobs again, so many a second; it goes on by itself."`
	Redrives jobscmd.Redrives `cmd:"" help:"Print how far redrives are, or cancel one."`
	Pause    jobscmd.Pause    `cmd:"" help:"Let nothing of a lane, a kind or an org begin to run."`
	Resume   jobscmd.Resume   `cmd:"" help:"End a pause."`
	Pauses   jobscmd.Pauses   `cmd:"" help:"Print what is paused."`
	Weight   jobscmd.Weight   `cmd:"" help:"Set an org's part of the slots."`
	Acts     jobscmd.Acts     `cmd:"" help:"Print who did what to jobs."`
}

// storeOpener connects to the given database, or to the home's, which a running up shares. Redis may be unavailable or
// unknown: a worker's relay picks up changes within a second.
func (j *jobsGroup) storeOpener(s *settings, log *slog.Logger, out io.Writer) jobscmd.Opener {
	return func(ctx context.Context, do func(*jobscmd.CLI) error) (err error) {
		p := s.newProcess("jobs", log)
		defer func() { err = errors.Join(err, p.close(ctx)) }()

		if err = p.requireDatabase(ctx); err != nil {
			return err
		}
		if p.DatabaseURL == "" {
			if err = p.findServers(ctx, false); err != nil {
				return err
			}
		}
		if pending, err := migrations.Pending(ctx, p.DatabaseURL); err != nil || pending {
			return cmp.Or(err, errors.New("the database lacks the schema of this version: run `funnelwork migrate`"))
		}
		if p.system, err = postgres.Open(ctx,
			postgres.Options{
				URL: p.DatabaseURL, Role: postgres.System, Pooler: p.Pooler, Name: p.name,
				MaxConns: 2,
			}); err != nil {
			return err
		}

		p.atEnd(func(context.Context) error {
			p.system.Close()
			return nil
		})
		if p.RedisURL != "" {
			if p.workers, err = redisx.Open(p.RedisURL, redisx.Worker); err != nil {
				return err
			}
			p.atEnd(func(context.Context) error { return p.workers.Close() })
		}

		ledger := store.New(p.system, p.system)
		ledger.Hooks, ledger.Aliases = jobs.Hooks(p.PublicURL), jobs.Aliases()

		return do(&jobscmd.CLI{
			Operator: operator.New(ledger, p.workers), Actor: j.Actor, JSON: j.JSON, Out: out,
			Redrive: func(ctx context.Context, tx *postgres.Tx, which id.ID) error {
				return platformredrive.Kind.Add(ctx, tx, platformredrive.Args{Redrive: which})
			},
		})
	}
}
