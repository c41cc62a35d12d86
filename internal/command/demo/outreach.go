package demo

import (
	"context"
	"fmt"
	"time"

	"github.com/funnelwork/funnelwork/internal/billing/plans"
	"github.com/funnelwork/funnelwork/internal/broadcasts"
	"github.com/funnelwork/funnelwork/internal/command/demo/plan"
	"github.com/funnelwork/funnelwork/internal/contacts"
	"github.com/funnelwork/funnelwork/internal/enrolments"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/mailboxes"
	"github.com/funnelwork/funnelwork/internal/orgsending"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/queue"
	"github.com/funnelwork/funnelwork/internal/sequences"
	"github.com/funnelwork/funnelwork/internal/suppression"
	"github.com/funnelwork/funnelwork/internal/templates"
	"github.com/funnelwork/funnelwork/internal/wire"
	"github.com/funnelwork/funnelwork/jobs/broadcastprepare"
)

// salesAddress is the address of the mailbox that a fill creates.
const salesAddress = "sales@sandbox.localhost"

// enrolled is the number of the newest contacts that a fill enrols.
const enrolled = 40

// createOutreach creates a mailbox, a template, sequences with enrolments and broadcasts, which a worker then sends to
// the sandbox's mail server. It creates nothing in an org without a sandbox mailbox, whose mails would leave the
// machine, and in one whose plan has no room.
func (f *filler) createOutreach(ctx context.Context, tx *postgres.Tx) error {
	may, err := f.mayMail(ctx, tx)
	if err != nil || !may {
		return err
	}

	settings, err := f.ensureAddress(ctx, tx)
	if err != nil {
		return err
	}

	box, _, err := f.Mailboxes.Create(ctx, tx, &mailboxes.Patch{
		Name: wire.Some("Sales"), Kind: wire.Some(mailboxes.Sandbox), FromEmail: wire.Some(salesAddress),
		FromName: wire.Some("Sales team"), DailyCap: wire.Field[int]{Set: true, Null: true},
		Gap: wire.Some(mailboxes.GapPatch{Min: wire.Some(0), Max: wire.Some(0)}),
	}, nil)
	if err != nil {
		return fmt.Errorf("create mailbox: %w", err)
	}

	template, err := templates.Create(tx, &newsletter)
	if err != nil {
		return fmt.Errorf("create template: %w", err)
	}

	leads, err := f.createLeads(ctx, tx)
	if err != nil {
		return err
	}

	mail := &mailing{filler: f, tx: tx, box: box.ID, settings: settings}
	if err := mail.createSequences(ctx, leads); err != nil {
		return err
	}

	return mail.createBroadcasts(ctx, template.Value.ID)
}

// mayMail reports whether the org has a sandbox mailbox, and whether its plan has room for the outreach.
func (f *filler) mayMail(ctx context.Context, tx *postgres.Tx) (bool, error) {
	var sandbox bool
	if err := tx.QueryRow(ctx, `SELECT EXISTS (SELECT FROM mailbox WHERE org_id = $1 AND kind = 'sandbox'
		AND archived_at IS NULL) AND NOT EXISTS (SELECT FROM mailbox WHERE org_id = $1 AND from_folded = $2)`,
		[]any{tx.Org(), salesAddress}, &sandbox); err != nil || !sandbox {
		return false, err
	}

	rights, err := f.Plans.In(ctx, tx)
	if err != nil || !rights.Has(plans.Sequences) || !rights.Has(plans.Broadcasts) {
		return false, err
	}

	for feature, n := range map[string]int64{plans.Mailboxes: 1, plans.Contacts: int64(len(answering))} {
		room, err := f.Plans.Room(ctx, tx, feature)
		if err != nil || room.Left < n {
			return false, err
		}
	}

	return true, nil
}

// ensureAddress gives the org a postal address if it has none, since every mail names one.
func (f *filler) ensureAddress(ctx context.Context, tx *postgres.Tx) (*orgsending.Settings, error) {
	settings, err := orgsending.Read(ctx, tx)
	if err != nil || settings.PostalAddress != nil {
		return settings, err
	}

	settings, _, err = orgsending.Update(ctx, tx, &orgsending.Patch{
		PostalAddress: wire.Some("Example Street 1\n10115 Berlin\nGermany"),
	}, func(*orgsending.Settings) error { return nil })
	if err != nil {
		return nil, fmt.Errorf("set postal address: %w", err)
	}

	return settings, nil
}

// createLeads creates the contacts whom the sandbox's mail server answers for, and returns them with the newest ones.
func (f *filler) createLeads(ctx context.Context, tx *postgres.Tx) ([]id.ID, error) {
	var all []id.ID
	rows := make([]contacts.Upsert, len(answering))
	for i, who := range answering {
		u := contacts.Upsert{NewID: f.rowID(contactRow, len(f.plan.Contacts)+i, 0, f.Until.Time)}
		u.Email = textField(who.email)
		u.FirstName = textField(who.first)
		u.LastName = textField(who.last)
		u.OwnerID = textField(f.ownerID(i).String())
		u.Source = textField("referral")
		rows[i] = u
		all = append(all, u.NewID)
	}

	model, err := f.Model(ctx, tx)
	if err != nil {
		return nil, err
	}

	_, _, changed, err := contacts.Batch{Rate: model.Rate}.Upsert(ctx, tx, rows)
	if err != nil {
		return nil, fmt.Errorf("create contacts: %w", err)
	}
	if err := contacts.AnnounceAll(ctx, tx, changed); err != nil {
		return nil, err
	}

	for i := len(f.plan.Actions) - 1; i >= 0 && len(all) < enrolled+len(answering); i-- {
		if a := f.plan.Actions[i]; a.Kind == plan.CreateContact {
			all = append(all, f.contactID(a.Of))
		}
	}

	return all, nil
}

// mailing creates what one mailbox sends.
type mailing struct {
	*filler
	tx       *postgres.Tx
	box      id.ID
	settings *orgsending.Settings
}

// createSequences creates an active sequence with enrolments, and a draft.
func (m *mailing) createSequences(ctx context.Context, leads []id.ID) error {
	ground := &sequences.Ground{
		StopOn: sequences.StopOn(m.settings.StopOn), Goal: contacts.Parser(ctx, m.tx),
	}
	gates := &sequences.Gates{PostalAddress: *m.settings.PostalAddress, Lint: lintMail(ctx, m.tx)}
	for _, p := range []sequences.Patch{welcomeSequence(m.box), followWebinar(m.box)} {
		s, err := sequences.Create(ctx, m.tx, &p, ground)
		if err != nil {
			return fmt.Errorf("create sequence %s: %w", p.Name.Value, err)
		}
		if p.Name.Value != welcomeName {
			continue
		}

		check := func(s *sequences.Sequence) error { return gates.Check(ctx, m.tx, s) }
		if _, _, err := sequences.Activate(ctx, m.tx, s.Value.ID, nil, check); err != nil {
			return fmt.Errorf("activate sequence: %w", err)
		}

		enrol := &enrolments.Service{Suppressions: &suppression.Service{Box: m.Mailboxes.Box}}
		if _, err := enrol.Enrol(ctx, m.tx, &enrolments.Request{
			Sequence: s.Value.ID, By: "user/" + m.ownerID(0).String(),
		}, leads); err != nil {
			return fmt.Errorf("enrol contacts: %w", err)
		}
	}

	return nil
}

// createBroadcasts creates one that is sent at once, one that is sent in some days, and a draft.
func (m *mailing) createBroadcasts(ctx context.Context, template id.ID) error {
	service := &broadcasts.Service{
		Templates: &templates.Service{Box: m.Mailboxes.Box},
		Prepare: func(ctx context.Context, tx *postgres.Tx, broadcast id.ID, run int, at time.Time) error {
			var how []queue.Adding
			if at.After(time.Now()) {
				how = append(how, queue.At(at))
			}
			return broadcastprepare.Kind.Add(ctx, tx, broadcastprepare.Args{Broadcast: broadcast, Run: run}, how...)
		},
	}

	soon := wire.At(time.Now().AddDate(0, 0, 3).Truncate(time.Hour))
	for _, b := range []struct {
		name, tag string
		isDraft   bool
		at        *wire.Time
	}{
		{name: "Newsletter of the month", tag: "newsletter"},
		{name: "Invitation to the webinar", tag: "webinar", at: &soon},
		{name: "News for customers", tag: "customer", isDraft: true},
	} {
		p := &broadcasts.Patch{
			Name: wire.Some(b.name), MailboxID: wire.Some(m.box.String()),
			Filter: wire.Some(map[string]any{"field": "tag", "op": "eq", "value": b.tag}),
			Email:  wire.Some(broadcasts.MailPatch{TemplateID: wire.Some(template.String())}),
		}
		row, err := broadcasts.Create(ctx, m.tx, p, "user/"+m.ownerID(0).String())
		if err != nil {
			return fmt.Errorf("create broadcast %s: %w", b.name, err)
		}
		if b.isDraft {
			continue
		}
		if _, err := service.Schedule(ctx, m.tx, row.Value.ID, b.at); err != nil {
			return fmt.Errorf("schedule broadcast %s: %w", b.name, err)
		}
	}

	return nil
}
