package command

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"text/tabwriter"

	"github.com/funnelwork/funnelwork/api"
	"github.com/funnelwork/funnelwork/internal/form"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/suppression"
)

// suppressionsGroup has the commands for the platform's suppressions, which every org obeys. Each row keeps who created
// and who lifted it, and why: the rows are the audit.
type suppressionsGroup struct {
	Add  suppressionsAdd  `cmd:"" help:"Let no org write to an address or a domain."`
	Lift suppressionsLift `cmd:"" help:"End a suppression of the platform."`
	List suppressionsList `cmd:"" help:"Print the platform's suppressions, newest first."`
}

// actor is the flag of commands that are audited.
type actor struct {
	Actor string `env:"FUNNELWORK_ACTOR,USER" default:"cli" help:"Who acts, for the audit."`
}

type suppressionsAdd struct {
	actor

	Which   string `arg:"" help:"Address, or a domain with every address of it."`
	Purpose string `enum:"marketing,all" default:"all" help:"Mail that is refused: marketing or all."`
	Reason  string `enum:"unsubscribe,complaint,hard_bounce,manual" default:"manual" help:"Why: manual, complaint, ..."`
	Note    string `required:"" help:"What led to it, for the audit."`
}

// Run implements the kong command.
func (a *suppressionsAdd) Run(ctx context.Context, s *settings, log *slog.Logger, out io.Writer) error {
	n := suppression.New{
		Purpose: a.Purpose, Reason: a.Reason, Note: a.Note, Source: "operator", By: "operator/" + a.Actor,
	}
	if strings.Contains(a.Which, "@") {
		n.Email = a.Which
	} else {
		n.Domain = a.Which
	}

	f := form.At("")
	n.Check(f)
	if err := f.Fault(); err != nil {
		return api.Plainly(err)
	}

	return platformSuppressions(ctx, s, log, func(tx *postgres.Tx, all *suppression.Service) error {
		made, added, err := all.Add(ctx, tx, n)
		if err != nil {
			return err
		}

		said := "in force already"
		if added {
			said = "suppressed on the whole platform"
		}

		_, err = fmt.Fprintln(out, made.ID, said)

		return err
	})
}

type suppressionsLift struct {
	actor

	ID     string `arg:"" help:"Id, as list prints it."`
	Reason string `required:"" help:"Why, for the audit."`
}

// Run implements the kong command.
func (l *suppressionsLift) Run(ctx context.Context, s *settings, log *slog.Logger, out io.Writer) error {
	which, err := id.Parse(l.ID)
	if err != nil {
		return fmt.Errorf("id: %w", err)
	}
	if strings.TrimSpace(l.Reason) == "" {
		return errors.New("--reason: say why it is lifted")
	}

	return platformSuppressions(ctx, s, log, func(tx *postgres.Tx, all *suppression.Service) error {
		_, lifted, err := all.Lift(ctx, tx, which, l.Reason, "operator/"+l.Actor,
			func(suppression.Suppression) error { return nil })
		if err != nil {
			return err
		}

		said := "was lifted before"
		if lifted {
			said = "lifted"
		}

		_, err = fmt.Fprintln(out, which, said)

		return err
	})
}

type suppressionsList struct {
	Lifted bool `help:"Print the lifted ones."`
	Limit  int  `default:"100" help:"How many at most."`
}

// Run implements the kong command.
func (l *suppressionsList) Run(ctx context.Context, s *settings, log *slog.Logger, out io.Writer) error {
	return platformSuppressions(ctx, s, log, func(tx *postgres.Tx, all *suppression.Service) error {
		rows, err := all.List(ctx, tx, suppression.Filter{Lifted: l.Lifted}, id.ID{}, l.Limit)
		if err != nil {
			return err
		}

		w := tabwriter.NewWriter(out, 0, 8, 2, ' ', 0)
		_, _ = fmt.Fprintln(w, "ID\tSUPPRESSED\tPURPOSE\tREASON\tCREATED\tBY\tNOTE\tLIFTED BY\tBECAUSE")
		for i := range rows {
			one := &rows[i]
			shown := one.Email
			why := ""
			if one.Domain != nil {
				shown = one.Domain
			}
			if one.LiftReason != nil {
				why = *one.LiftReason
			}

			_, _ = fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\n", one.ID, *shown, one.Purpose, one.Reason,
				one.CreatedAt, one.By, one.Note, one.LiftedBy, why)
		}

		return w.Flush()
	})
}

// platformSuppressions runs fn in a transaction of the zero org, whose suppressions are the platform's.
func platformSuppressions(ctx context.Context, s *settings, log *slog.Logger,
	fn func(*postgres.Tx, *suppression.Service) error,
) error {
	return s.withKeyset(ctx, "suppressions", log, func(p *process) error {
		return p.app.Tx(ctx, id.ID{}, func(tx *postgres.Tx) error { return fn(tx, &suppression.Service{Box: p.box}) })
	})
}
