package command

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/funnelwork/funnelwork/internal/command/demo"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/sandbox/inbox"
	"github.com/funnelwork/funnelwork/internal/scoring/models"
)

type demoData struct {
	Org      string `help:"Id of the org; the only one where it is not given."`
	Contacts int    `default:"5000" help:"How many contacts, from 1 to 50000; the rest follows from it."`
	Seed     uint64 `default:"1" help:"Which made-up half year: the same seed and number give the same one."`
	Force    bool   `help:"Fill an org, too, that has contacts, companies or deals."`
}

// Help returns the details of the command's help.
func (*demoData) Help() string {
	return "Companies, contacts, deals, notes, tasks, tags, segments, timelines and scores of the last 180 days, and " +
		"webhooks with deliveries of which some have failed. An org with a sandbox mailbox also gets a mailbox, " +
		"sequences and broadcasts, whose mails a worker sends to the sandbox. All names are made up, and all " +
		"addresses end in example.com or example.org. Deliveries go only to the inbox of a running `up`. A second " +
		"call does nothing; a call that was interrupted is continued by the next one. The org's setting \"demo\" " +
		"shows the progress."
}

// Validate is kong's.
func (d *demoData) Validate() error {
	if d.Contacts < 1 || d.Contacts > demo.MaxContacts {
		return invalidSetting("contacts", "", fmt.Errorf("want 1 to %d", demo.MaxContacts))
	}
	return nil
}

// Run implements the kong command.
func (d *demoData) Run(ctx context.Context, s *settings, log *slog.Logger, out io.Writer) error {
	return s.withKeyset(ctx, "demo", log, func(p *process) error {
		which, err := d.findOrg(ctx, p)
		if err != nil {
			return err
		}

		p.inbox = "http://" + orDefault(p.OpsAddr, opsAddr) + inbox.Path
		p.hooks.Policy.Inbox = p.inbox
		done, err := demo.Fill(ctx, demo.Options{
			App: p.app, Hooks: p.hooks, Mailboxes: p.mailboxes, Plans: p.plans, Inbox: p.inbox,
			Model: models.NewBook(p.app, log).In,
			Org:   which, Seed: d.Seed, Contacts: d.Contacts, Force: d.Force,
		})
		if err != nil {
			return err
		}

		_, err = io.WriteString(out, describeResult(&done))

		return err
	})
}

func orDefault(value, otherwise string) string {
	if value == "" {
		return otherwise
	}
	return value
}

// findOrg returns the org to fill.
func (d *demoData) findOrg(ctx context.Context, p *process) (which id.ID, err error) {
	if d.Org != "" {
		if which, err = id.Parse(d.Org); err != nil {
			err = fmt.Errorf("org id: %w", err)
		}
		return which, err
	}

	err = p.system.ReadTx(ctx, id.ID{}, func(tx *postgres.Tx) error {
		rows, err := tx.Query(ctx, `SELECT id FROM org ORDER BY id LIMIT 2`)
		if err != nil {
			return err
		}

		all, err := pgx.CollectRows(rows, pgx.RowTo[id.ID])
		switch {
		case err != nil:
			return err
		case len(all) == 0:
			return errors.New("there is no org yet: start `funnelwork up`, or run `funnelwork user create`")
		case len(all) > 1:
			return errors.New("there are several orgs: give the id of one with --org")
		}

		which = all[0]

		return nil
	})

	return which, err
}

// describeResult returns what the command prints.
func describeResult(r *demo.Result) string {
	var b strings.Builder
	if r.Already {
		fmt.Fprintf(&b, "%s has its demo data already: seed %d, %d contacts, until %s\n", r.Org, r.Progress.Seed,
			r.Progress.Contacts, r.Progress.Until)
		return b.String()
	}
	if r.Resumed {
		b.WriteString("continued an earlier call\n")
	}

	fmt.Fprintf(&b, "%s now has half a year of demo data, until %s:\n", r.Org, r.Progress.Until)
	for _, c := range r.Counts {
		fmt.Fprintf(&b, "  %-10s %6d\n", c.Name, c.N)
	}

	b.WriteString("A worker computes the segments and trains the scoring model; `funnelwork up` has one.\n")

	return b.String()
}
