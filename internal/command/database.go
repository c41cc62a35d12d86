package command

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"

	"github.com/funnelwork/funnelwork/internal/keyring"
	"github.com/funnelwork/funnelwork/internal/local"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/secret"
	"github.com/funnelwork/funnelwork/jobs"
)

// withDatabase runs a command that ends by itself, in the database that the settings name or in that of the home of an
// up, with this version's schema. It creates neither. The keyset is open where there is one.
func (s *settings) withDatabase(ctx context.Context, name string, log *slog.Logger,
	do func(*process) error,
) (err error) {
	p := s.newProcess(name, log)
	defer func() { err = errors.Join(err, p.close(ctx)) }()

	if err = p.requireDatabase(ctx); err != nil {
		return err
	}
	if err = p.startServers(ctx, false); err != nil {
		return err
	}
	if err = p.openDatabase(ctx, nil); err != nil {
		return err
	}

	return do(p)
}

// withKeyset is withDatabase for a command that reads or writes what is sealed. The keyset must be there, and fit.
func (s *settings) withKeyset(ctx context.Context, name string, log *slog.Logger, do func(*process) error) error {
	return s.withDatabase(ctx, name, log, func(p *process) error {
		if err := p.requireKeyset(); err != nil {
			return err
		}
		if err := (keyring.Resealer{System: p.system, Box: p.box, Columns: jobs.Sealed()}).Check(ctx); err != nil {
			return err
		}
		return do(p)
	})
}

// requireDatabase returns an error unless DATABASE_URL or the home leads to a database, and logs which one it is: a
// command must neither create what it reads nor leave open what it has read.
func (p *process) requireDatabase(ctx context.Context) error {
	if p.DatabaseURL != "" {
		p.log.InfoContext(ctx, "database", "address", postgres.Address(p.DatabaseURL), "setting", "DATABASE_URL")
		return nil
	}
	if !local.Inhabited(p.Home) {
		return fmt.Errorf("%s needs a database: give DATABASE_URL, or the --home of an `up`; nothing has run in %s yet",
			p.name, p.Home)
	}

	home, err := filepath.Abs(p.Home)
	if err != nil {
		home = p.Home
	}

	p.log.InfoContext(ctx, "database", "address", "the private server of a home", "home", home)

	return nil
}

// openKeyset opens the keyset of the settings or the home. Only up makes one where there is none: what another role
// sealed with a keyset of its own, no process beside it could open.
func (p *process) openKeyset() (err error) {
	switch {
	case p.Keyset != "":
		p.box, err = secret.Parse(p.Keyset)
	case p.name == "up":
		if err = os.MkdirAll(p.Home, 0o700); err == nil {
			p.box, err = secret.Create(p.keysetFile())
		}
	default:
		p.box, err = secret.Load(p.keysetFile())
		if errors.Is(err, fs.ErrNotExist) {
			err = nil
		}
	}
	return err
}

// requireKeyset returns an error if no keyset was opened.
func (p *process) requireKeyset() error {
	if p.box != nil {
		return nil
	}
	return fmt.Errorf("%s needs the keyset: give FUNNELWORK_KEYSET, which `funnelwork keys new` makes once for all "+
		"processes, or the --home of an `up`; there is no %s", p.name, p.keysetFile())
}
