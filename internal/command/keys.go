package command

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"time"

	"github.com/funnelwork/funnelwork/internal/keyring"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/secret"
	"github.com/funnelwork/funnelwork/jobs"
	"github.com/funnelwork/funnelwork/jobs/keysreseal"
)

type keysGroup struct {
	New    keysNew    `cmd:"" help:"Print a new keyset for FUNNELWORK_KEYSET."`
	Rotate keysRotate `cmd:"" help:"Add a key; what the older ones signed or sealed stays good."`
	Status keysStatus `cmd:"" help:"Print the sealing keys, what each has sealed, and who holds them."`
	Retire keysRetire `cmd:"" help:"Take a sealing key out of the keyset under which nothing is sealed any more."`
}

type keysNew struct{}

// Run implements the kong command.
func (keysNew) Run(out io.Writer) error {
	text, err := secret.Generate()
	if err == nil {
		_, err = fmt.Fprintln(out, text)
	}
	return err
}

type keysRotate struct {
	Which string `arg:"" optional:"" enum:"signing,sealing" default:"signing" help:"Access tokens', or the keyset's."`

	Wait time.Duration `default:"2m" help:"How long to wait for running processes to take up the new sealing key."`
}

// Help returns the details of the command's help.
func (*keysRotate) Help() string {
	return "signing: the key of access tokens, in the database. " +
		"sealing: the key of HOME/keyset.json or FUNNELWORK_KEYSET."
}

// Run implements the kong command.
func (r *keysRotate) Run(ctx context.Context, s *settings, log *slog.Logger, out io.Writer) error {
	return s.withKeyset(ctx, "keys", log, func(p *process) error {
		if r.Which == "signing" {
			return p.auth.Rotate(ctx)
		}

		key, promoted, err := keyring.Rotation{
			System: p.system, Keyset: p.editableKeyset(out), Patience: r.Wait,
			Promoted: func(ctx context.Context, tx *postgres.Tx) error {
				return keysreseal.Kind.Add(ctx, tx, keysreseal.Args{})
			},
		}.Rotate(ctx)
		switch {
		case err != nil:
			return err
		case promoted && p.Keyset == "":
			_, err = fmt.Fprintf(out, "key %d seals; a job seals anew what older keys have sealed\n", key)
		case promoted:
			log.InfoContext(ctx, "the printed keyset seals with the new key: start every process again with it",
				"key", key)
		default:
			log.InfoContext(ctx,
				"the printed keyset has a new key, which does not seal yet: start every process again with it, "+
					"then rotate once more", "key", key)
		}

		return err
	})
}

// editableKeyset returns the place of the editable keyset.
func (s *settings) editableKeyset(out io.Writer) keyring.Keyset {
	if s.Keyset != "" {
		return keyring.Setting{Text: s.Keyset, Out: out}
	}
	return keyring.File(s.keysetFile())
}

type keysStatus struct{}

// Run implements the kong command.
func (keysStatus) Run(ctx context.Context, s *settings, log *slog.Logger, out io.Writer) error {
	return s.withKeyset(ctx, "keys", log, func(p *process) error {
		return keyring.Resealer{System: p.system, Box: p.box, Columns: jobs.Sealed()}.Print(ctx, out)
	})
}

type keysRetire struct {
	Key uint32 `arg:"" help:"The key, as 'keys status' names it."`
}

// Run implements the kong command.
func (r keysRetire) Run(ctx context.Context, s *settings, log *slog.Logger, out io.Writer) error {
	return s.withKeyset(ctx, "keys", log, func(p *process) error {
		resealer := keyring.Resealer{System: p.system, Box: p.box, Columns: jobs.Sealed()}
		return resealer.Retire(ctx, p.editableKeyset(out), r.Key)
	})
}
