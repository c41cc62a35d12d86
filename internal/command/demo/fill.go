package demo

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"time"

	"github.com/funnelwork/funnelwork/internal/billing/plans"
	"github.com/funnelwork/funnelwork/internal/command/demo/plan"
	"github.com/funnelwork/funnelwork/internal/deals"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/mailboxes"
	"github.com/funnelwork/funnelwork/internal/org"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/scoring"
	"github.com/funnelwork/funnelwork/internal/webhooks"
	"github.com/funnelwork/funnelwork/internal/wire"
)

// Options says what to fill with how much.
type Options struct {
	App   *postgres.DB
	Hooks *webhooks.Service
	// Mailboxes creates the mailbox of the outreach.
	Mailboxes *mailboxes.Service
	Plans     *plans.Catalogue
	// Model returns the current scoring model of tx's org. It is models.Book's In.
	Model func(ctx context.Context, tx *postgres.Tx) (*scoring.Model, error)
	Inbox string // base URL of the sandbox's webhook inbox, ending in a slash

	Org      id.ID
	Seed     uint64
	Contacts int
	Force    bool // fill an org that has contacts, companies or deals, too
}

// MaxContacts is the largest number of contacts of a fill.
const MaxContacts = 50_000

// Result is what the org has after a fill.
type Result struct {
	Org      string // its name
	Progress Progress
	Already  bool // an earlier call has done it all
	Resumed  bool // an earlier call has done some of it
	Counts   []Count
}

// Count is the number of objects of one kind.
type Count struct {
	Name string
	N    int
}

// Progress is the setting "demo" of an org: the arguments of its plan, and how much of it is written.
type Progress struct {
	Seed     uint64    `json:"seed"`
	Contacts int       `json:"contacts"`
	Until    wire.Time `json:"until"` // the end of the plan
	Step     int       `json:"step"`  // number of completed steps
	Steps    int       `json:"steps"`
	Mirror   id.ID     `json:"mirror"`  // the webhook that has received everything
	Archive  id.ID     `json:"archive"` // the webhook that was down for some days
}

// isEnded reports whether all steps are completed.
func (p *Progress) isEnded() bool { return p.Steps > 0 && p.Step >= p.Steps }

// setting is the key of Progress in the settings of the org.
const setting = "demo"

// perStep is the number of actions of a step. Each has up to four events, and a transaction up to 4096.
const perStep = 500

// Fill fills the org, or continues where an earlier call was interrupted. It returns an error for an org that has data
// of its own, unless o.Force is set, and for other arguments than those of an earlier call.
func Fill(ctx context.Context, o Options) (Result, error) {
	f := &filler{Options: o}
	begun, err := f.readProgress(ctx)
	if err != nil || begun.Already {
		return begun, err
	}

	for f.Step < f.Steps {
		if err := f.App.Tx(ctx, o.Org, func(tx *postgres.Tx) error { return f.writeStep(ctx, tx) }); err != nil {
			return begun, fmt.Errorf("step %d of %d: %w", f.Step+1, f.Steps, f.explainLimit(err))
		}
		f.Step++
	}

	begun.Progress, begun.Counts = f.Progress, f.planCounts()

	return begun, nil
}

type filler struct {
	Options
	Progress
	plan    *plan.Plan
	members []id.ID           // owners of deals, authors of notes
	tags    map[int][]string  // of contacts that the plan has changed, by index
	sales   []*deals.Pipeline // the default one, then the one for renewals
}

// readProgress reads the progress, or decides on it. It writes nothing.
func (f *filler) readProgress(ctx context.Context) (r Result, err error) {
	err = f.App.ReadTx(ctx, f.Org, func(tx *postgres.Tx) error {
		o, err := org.Read(ctx, tx)
		if err != nil {
			return err
		}

		r.Org = o.Name
		there, err := org.Setting(ctx, tx, setting, &f.Progress)
		if err != nil {
			return err
		}
		if f.members, err = listMembers(ctx, tx); err != nil {
			return err
		}
		if there {
			return f.checkArguments()
		}

		return f.admitOrg(ctx, tx)
	})

	r.Progress, r.Already, r.Resumed = f.Progress, f.isEnded(), f.Step > 0
	if err != nil || r.Already {
		return r, err
	}

	f.plan = plan.Make(f.Progress.Seed, f.Progress.Contacts, f.Until.Time)
	f.Steps = 2 + (len(f.plan.Actions)+perStep-1)/perStep

	return r, nil
}

// checkArguments compares the arguments with those of an earlier call.
func (f *filler) checkArguments() error {
	if f.isEnded() || f.Progress.Seed == f.Options.Seed && f.Progress.Contacts == f.Options.Contacts {
		return nil
	}
	return fmt.Errorf("an earlier call is not completed: continue it with --seed %d --contacts %d", f.Progress.Seed,
		f.Progress.Contacts)
}

// ErrNotEmpty is the error for an org that has data of its own.
var ErrNotEmpty = errors.New("the org has contacts, companies or deals already; with --force it gets the demo data " +
	"beside them")

// admitOrg decides on a new plan for the org.
func (f *filler) admitOrg(ctx context.Context, tx *postgres.Tx) error {
	var taken bool
	if err := tx.QueryRow(ctx, `SELECT EXISTS (SELECT FROM contact WHERE org_id = $1) OR EXISTS
		(SELECT FROM company WHERE org_id = $1) OR EXISTS (SELECT FROM deal WHERE org_id = $1)`, []any{tx.Org()},
		&taken); err != nil {
		return fmt.Errorf("look for data: %w", err)
	}
	if taken && !f.Force {
		return ErrNotEmpty
	}

	for feature, n := range map[string]int64{plans.Contacts: int64(f.Options.Contacts), plans.Webhooks: endpoints} {
		room, err := f.Plans.Room(ctx, tx, feature)
		if err != nil {
			return err
		}
		if room.Left < n {
			return fmt.Errorf("the plan of the org has room for %d more %s, and the demo data needs %d", room.Left,
				feature, n)
		}
	}

	f.Progress = Progress{
		Seed: f.Options.Seed, Contacts: f.Options.Contacts,
		Until: wire.At(time.Now().Add(-time.Minute).Truncate(time.Second)),
	}

	return nil
}

// writeStep writes the next step and the progress. Of two calls at the same time, one gets an error.
func (f *filler) writeStep(ctx context.Context, tx *postgres.Tx) error {
	tx.Queue(`SELECT pg_advisory_xact_lock(hashtextextended('demo', hashtextextended($1::uuid::text, 0)))`, tx.Org())
	var now Progress
	if _, err := org.Setting(ctx, tx, setting, &now); err != nil {
		return err
	}
	if now.Step != f.Step {
		return errors.New("another process fills the org")
	}

	do := f.writeChunk
	switch f.Step {
	case 0:
		do = f.prepareOrg
	case f.Steps - 1:
		do = f.finishOrg
	}

	if err := do(ctx, tx); err != nil {
		return err
	}

	after := f.Progress
	after.Step++

	return org.PutSetting(tx, setting, after)
}

// explainLimit returns the fault of a plan's limit instead of the database's error.
func (f *filler) explainLimit(err error) error {
	if full := f.Plans.Refused(err); full != nil {
		return full
	}
	return err
}

// planCounts returns the numbers of what the plan has created.
func (f *filler) planCounts() []Count {
	p := f.plan
	return []Count{
		{"companies", f.countCompanies()},
		{"contacts", len(p.Contacts)},
		{"deals", len(p.Deals)},
		{"notes", len(p.Notes)},
		{"tasks", len(p.Tasks)},
		{"webhooks", endpoints},
	}
}

// countCompanies returns the number of companies that have a contact; the others do not come into being.
func (f *filler) countCompanies() (n int) {
	for i := range f.plan.Actions {
		if f.plan.Actions[i].Kind == plan.CreateCompany {
			n++
		}
	}
	return n
}

// The kinds of rows with an id from rowID.
const (
	companyRow = iota
	contactRow
	dealRow
	noteRow
	taskRow
	eventRow
	deliveryRow
	attemptRow
)

// rowID returns the id of a row of the past: always the same for the same org, plan and numbers.
func (f *filler) rowID(kind, i, j int, at time.Time) id.ID {
	b := f.Org[:]
	for _, n := range []uint64{f.Progress.Seed, uint64(f.Progress.Contacts), uint64(kind), uint64(i), uint64(j)} {
		b = binary.BigEndian.AppendUint64(b, n)
	}
	sum := sha256.Sum256(b)
	return id.At(at, [10]byte(sum[:10]))
}

func (f *filler) companyID(i int) id.ID { return f.rowID(companyRow, i, 0, f.plan.Companies[i].At) }
func (f *filler) contactID(i int) id.ID { return f.rowID(contactRow, i, 0, f.plan.Contacts[i].At) }
func (f *filler) dealID(i int) id.ID    { return f.rowID(dealRow, i, 0, f.plan.Deals[i].At) }
func (f *filler) taskID(i int) id.ID    { return f.rowID(taskRow, i, 0, f.plan.Tasks[i].At) }

// ownerID returns one of the members; the same for the same number.
func (f *filler) ownerID(i int) id.ID { return f.members[i%len(f.members)] }

// listMembers returns the org's members, owners first.
func listMembers(ctx context.Context, tx *postgres.Tx) (all []id.ID, err error) {
	found, err := org.Members(ctx, tx, id.ID{}, 10)
	if err != nil {
		return nil, err
	}

	for i := range found {
		all = append(all, found[i].ID)
	}

	if len(all) == 0 {
		return nil, errors.New("the org has no members: add one with `funnelwork user create --org-id`")
	}

	return all, nil
}
