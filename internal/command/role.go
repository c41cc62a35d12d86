package command

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"time"

	"github.com/alecthomas/kong"

	"github.com/funnelwork/funnelwork/internal/local"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/migrations"
	"github.com/funnelwork/funnelwork/scheduler"
)

// role is one of api, worker and scheduler: a separate process with a given Postgres and Redis.
type role struct{}

// Run implements the kong command.
func (role) Run(ctx context.Context, k *kong.Context, s *settings, log *slog.Logger) (err error) {
	p := s.newProcess(k.Command(), log)
	defer func() { err = errors.Join(err, p.close(ctx)) }()

	if p.DatabaseURL == "" || p.RedisURL == "" {
		return fmt.Errorf("%s needs DATABASE_URL and REDIS_URL; `funnelwork up` does without", p.name)
	}

	var public, ops net.Listener
	if p.name == "api" {
		if public, err = p.listenAPI(ctx); err != nil {
			return err
		}
	}
	if p.OpsAddr == "" {
		p.OpsAddr = map[string]string{
			"api": "127.0.0.1:9090", "worker": "127.0.0.1:9091",
			"scheduler": "127.0.0.1:9092",
		}[p.name]
	}
	if ops, err = p.listenOps(ctx); err != nil {
		return err
	}
	if err = p.checkRedis(ctx); err != nil {
		return err
	}
	if err = p.awaitDatabase(ctx, public, ops); err != nil {
		return err
	}
	if err = migrations.Await(ctx, p.DatabaseURL, p.log); err != nil {
		return err
	}
	if err = p.openForRole(ctx, public, ops); err != nil {
		return err
	}

	switch p.name {
	case "api":
		p.followHosts(ctx)
		p.addServer(public) //nolint:contextcheck // a request has its own
		err = p.takeMails(ctx)
	case "worker":
		err = p.addWorker(ctx)
	default:
		p.addScheduler()
		p.countBacklog()
	}

	if err = errors.Join(err, p.addOpsServer(ops)); err != nil {
		return err
	}

	return p.run(ctx)
}

// reminder is the scheduler's command, or prints its timetable.
type reminder struct {
	List bool `help:"Print the timetable and what last happened of it, and end."`
}

// Run implements the kong command.
func (r reminder) Run(ctx context.Context, k *kong.Context, s *settings, log *slog.Logger, out io.Writer) (err error) {
	if !r.List {
		return role{}.Run(ctx, k, s, log)
	}

	p := s.newProcess("scheduler", log)
	defer func() { err = errors.Join(err, p.close(ctx)) }()

	// Printing creates nothing: if there is neither a database nor a home, nothing has run yet.
	asked := p.DatabaseURL != "" || local.Inhabited(p.Home)
	if asked {
		if err = p.findServers(ctx, false); err != nil {
			return err
		}
		if p.system, err = postgres.Open(ctx,
			postgres.Options{
				URL: p.DatabaseURL, Role: postgres.System, Pooler: p.Pooler, Name: p.name,
				MaxConns: 1,
			}); err != nil {
			return err
		}

		p.atEnd(func(context.Context) error {
			p.system.Close()
			return nil
		})
	}

	lines, err := scheduler.List(ctx, p.system, nil, time.Now())
	if err != nil {
		if pending, unknown := migrations.Pending(ctx, p.DatabaseURL); unknown == nil && pending {
			return errors.New("the database lacks the schema of this version: run `funnelwork migrate`")
		}
		return err
	}

	return scheduler.Print(out, lines, asked)
}
