package command

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"

	"github.com/funnelwork/funnelwork/api"
	"github.com/funnelwork/funnelwork/internal/auth"
	"github.com/funnelwork/funnelwork/internal/fault"
	"github.com/funnelwork/funnelwork/internal/org"
	"github.com/funnelwork/funnelwork/internal/sandbox/inbox"
)

// opsAddr is where up's ops listener listens unless a setting says otherwise.
const opsAddr = "127.0.0.1:9090"

type up struct {
	SeedEmail    string `help:"Mail address of the person to begin with." default:"demo@example.com"`
	SeedPassword string `help:"Their password; made up and printed where none is given."`
	SeedOrg      string `help:"Name of their org." default:"Demo"`
}

// Validate is kong's: it refuses a user to begin with who could not sign up, before anything is started.
func (u *up) Validate() error {
	if err := auth.CheckEmail("", u.SeedEmail); err != nil {
		return invalidSetting("seed-email", "", plainDetail(err))
	}
	if err := org.CheckName("", u.SeedOrg); err != nil {
		return invalidSetting("seed-org", "", plainDetail(err))
	}
	if u.SeedPassword == "" {
		return nil
	}
	if err := auth.CheckPassword("", u.SeedPassword, u.SeedEmail); err != nil {
		return invalidSetting("seed-password", "", plainDetail(err))
	}

	return nil
}

// plainDetail returns the detail of an invalid field, without its place in a request.
func plainDetail(err error) error {
	if f, ok := errors.AsType[*fault.Fault](err); ok && len(f.Fields) > 0 {
		return errors.New(f.Fields[0].Detail)
	}
	return err
}

// Run is kong's.
func (u *up) Run(ctx context.Context, s *settings, log *slog.Logger, out io.Writer) (err error) {
	p := s.newProcess("up", log)
	defer func() { err = errors.Join(err, p.close(ctx)) }()

	if p.OpsAddr == "" {
		p.OpsAddr = opsAddr
	}

	public, err := p.listenAPI(ctx)
	if err != nil {
		return err
	}

	ops, err := p.listenOps(ctx)
	if err != nil {
		return err
	}

	p.inbox = listenerURL(ops) + inbox.Path
	if err = p.startServers(ctx, true); err != nil {
		return err
	}
	if err = p.openForRole(ctx, public, ops); err != nil {
		return err
	}

	p.followHosts(ctx)
	known, err := p.auth.Known(ctx, u.SeedEmail)
	if err != nil {
		return fmt.Errorf("seed: %w", err)
	}

	login, err := openFirstLogin(p.Home, u.SeedEmail, u.SeedPassword, known)
	if err != nil {
		return err
	}

	seeded, err := api.Admit(ctx, p.auth, api.SeedUser{
		Email: login.Email, Password: login.Password, FirstName: "Demo", LastName: "User",
		OrgName: u.SeedOrg, TrialDays: p.trialDays(),
	})
	if err != nil {
		return fmt.Errorf("seed: %w", err)
	}
	if err = p.seedMailbox(ctx, u.SeedEmail); err != nil {
		return fmt.Errorf("seed: %w", err)
	}

	p.addServer(public) //nolint:contextcheck // a request has its own
	p.addScheduler()
	if err = errors.Join(p.takeMails(ctx), p.addWorker(ctx), p.addOpsServer(ops)); err != nil {
		return err
	}

	p.tasks = append(p.tasks, func(ctx context.Context) error {
		if err := errors.Join(p.awaitPrices(ctx), api.Answers(ctx, listenerURL(public))); err != nil {
			return err
		}

		block := p.newWelcome(public, ops)
		block.seeded = seeded || login.Pending
		block.email = login.Email
		block.password = login.Password
		if _, err := fmt.Fprint(out, block); err != nil {
			return err
		}
		return login.forget()
	})

	return p.run(ctx)
}

type migrate struct{}

// Run implements the kong command.
func (migrate) Run(ctx context.Context, s *settings, log *slog.Logger) (err error) {
	p := s.newProcess("migrate", log)
	defer func() { err = errors.Join(err, p.close(ctx)) }()

	if err = p.requireDatabase(ctx); err != nil {
		return err
	}

	return p.startServers(ctx, false)
}
