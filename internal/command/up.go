package command

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"log/slog"

	"github.com/funnelwork/funnelwork/api"
	"github.com/funnelwork/funnelwork/internal/sandbox/inbox"
)

type up struct {
	SeedEmail    string `help:"Mail address of the person to begin with." default:"demo@example.com"`
	SeedPassword string `help:"Their password; made up and printed where none is given."`
	SeedOrg      string `help:"Name of their org." default:"Demo"`
}

// Run is kong's.
func (u *up) Run(ctx context.Context, s *settings, log *slog.Logger, out io.Writer) (err error) {
	p := s.process("up", log)
	defer func() { err = errors.Join(err, p.close(ctx)) }()
	if p.OpsAddr == "" {
		p.OpsAddr = "127.0.0.1:9090"
	}
	public, err := p.listen(ctx, p.Addr)
	if err != nil {
		return err
	}
	ops, err := p.listenOps(ctx)
	if err != nil {
		return err
	}
	p.inbox = base(ops) + inbox.Path
	if err = p.start(ctx, true); err != nil {
		return err
	}
	if err = p.furnish(ctx, public, ops); err != nil {
		return err
	}
	p.followHosts(ctx)
	if u.SeedPassword == "" {
		u.SeedPassword = rand.Text()[:16]
	}
	seeded, err := api.Admit(ctx, p.auth, api.Newcomer{Email: u.SeedEmail, Password: u.SeedPassword, FirstName: "Demo", LastName: "User", OrgName: u.SeedOrg, TrialDays: p.trialDays()})
	if err != nil {
		return fmt.Errorf("seed: %w", err)
	}
	p.serve(public) //nolint:contextcheck // a request has its own
	p.remind()
	if err = errors.Join(p.work(ctx), p.operate(ops)); err != nil {
		return err
	}
	p.tasks = append(p.tasks, func(ctx context.Context) error {
		if err := errors.Join(p.awaitPrices(ctx), api.Answers(ctx, base(public))); err != nil {
			return err
		}
		_, err := fmt.Fprintln(out, "ready:", base(public))
		if seeded && err == nil {
			_, err = fmt.Fprint(out, api.Greeting(base(public), base(ops), u.SeedEmail, u.SeedPassword))
		}
		return err
	})
	return p.run(ctx)
}

type migrate struct{}

// Run is kong's.
func (migrate) Run(ctx context.Context, s *settings, log *slog.Logger) (err error) {
	p := s.process("migrate", log)
	defer func() { err = errors.Join(err, p.close(ctx)) }()
	return p.start(ctx, false)
}
