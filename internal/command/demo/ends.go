package demo

import (
	"context"
	"time"

	"github.com/funnelwork/funnelwork/internal/command/demo/plan"
	"github.com/funnelwork/funnelwork/internal/contacts"
	"github.com/funnelwork/funnelwork/internal/contacts/segments"
	"github.com/funnelwork/funnelwork/internal/deals"
	"github.com/funnelwork/funnelwork/internal/events"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/org"
	"github.com/funnelwork/funnelwork/internal/overview"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/webhooks"
	"github.com/funnelwork/funnelwork/internal/wire"
	"github.com/funnelwork/funnelwork/jobs/scoretrain"
)

// renewals is the name of the second pipeline.
const renewals = "Renewals"

// prepareOrg is the first step. It creates the pipeline for renewals, and the webhooks, which get no events yet.
func (f *filler) prepareOrg(ctx context.Context, tx *postgres.Tx) error {
	p := deals.PipelinePatch{Name: wire.Some(renewals)}
	for _, s := range []struct {
		name, kind  string
		probability int64
	}{
		{"Due soon", deals.Open, 60},
		{"In talks", deals.Open, 80},
		{"Renewed", deals.Won, 100},
		{"Left", deals.Lost, 0},
	} {
		p.Stages.Set = true
		p.Stages.Value = append(p.Stages.Value, deals.StagePatch{
			Name: wire.Some(s.name), Kind: wire.Some(s.kind), Probability: wire.Some(s.probability),
		})
	}

	if _, err := deals.CreatePipeline(ctx, tx, &p); err != nil {
		return err
	}

	for _, n := range []struct {
		webhooks.New
		at *id.ID
	}{{mirror, &f.Mirror}, {archive, &f.Archive}} {
		n.URL = f.Inbox + n.URL
		v, _, err := f.Hooks.Create(ctx, tx, n.New)
		if err != nil {
			return err
		}
		webhooks.SetCreated(tx, v.ID, wire.At(f.Until.AddDate(0, 0, -plan.Days)))
		*n.at = v.ID
	}

	return nil
}

// dynamic is the segments that a worker computes after the fill.
var dynamic = []segments.New{
	{Name: "Decision makers", Filter: []byte(`{"any":[{"field":"job_title","op":"contains","value":"chief"},
		{"field":"job_title","op":"contains","value":"head of"},{"field":"job_title","op":"contains","value":"VP"}]}`)},
	{Name: "Hot leads", Filter: []byte(`{"all":[{"field":"lead_score","op":"gte","value":60},
		{"not":{"field":"stage","op":"in","value":["customer","evangelist"]}}]}`)},
	{Name: "Newsletter", Filter: []byte(`{"field":"tag","op":"in","value":["newsletter"]}`)},
}

// fresh is the number of contacts whose change is sent to the webhooks after the fill.
const fresh = 5

// finishOrg is the last step. It creates the failing webhook, the dynamic segments and the outreach, changes some
// contacts like a user would, so that real deliveries go out, and asks for a training of the scoring model.
func (f *filler) finishOrg(ctx context.Context, tx *postgres.Tx) error {
	n := failing
	n.URL = f.Inbox + n.URL
	if _, _, err := f.Hooks.Create(ctx, tx, n); err != nil {
		return err
	}

	for _, s := range dynamic {
		if _, err := segments.Create(ctx, tx, s); err != nil {
			return err
		}
	}

	ctx = events.WithOrigin(ctx, events.Origin{ActorType: "user", ActorID: f.ownerID(0).String()})
	if err := f.followUp(ctx, tx); err != nil {
		return err
	}
	if err := f.createOutreach(ctx, tx); err != nil {
		return err
	}

	overview.Recount(tx, time.Now())
	org.Audit(ctx, tx, org.Entry{
		Action: "organization.demo_filled", Target: "organization", ID: tx.Org().String(),
		Detail: map[string]any{"seed": f.Progress.Seed, "contacts": f.Progress.Contacts},
	})
	ask := scoretrain.Args{Anyway: true}

	return scoretrain.Kind.Add(ctx, tx, ask, ask.Ask()...)
}

// followUp tags the newest leads. Contacts that are gone meanwhile are skipped.
func (f *filler) followUp(ctx context.Context, tx *postgres.Tx) error {
	f.recallTags(len(f.plan.Actions))
	var rows []contacts.Upsert

	for i := len(f.plan.Actions) - 1; i >= 0 && len(rows) < fresh; i-- {
		if a := f.plan.Actions[i]; a.Kind == plan.CreateContact {
			a.Tag = "follow-up"
			u := contacts.Upsert{ID: textField(f.contactID(a.Of).String())}
			u.Tag = wire.Some(f.addTag(&a))
			rows = append(rows, u)
		}
	}

	model, err := f.Model(ctx, tx)
	if err != nil {
		return err
	}

	_, _, changed, err := contacts.Batch{Rate: model.Rate}.Upsert(ctx, tx, rows)
	if err != nil {
		return err
	}

	return contacts.AnnounceAll(ctx, tx, changed)
}
