package deals

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/funnelwork/funnelwork/internal/externalid"
	"github.com/funnelwork/funnelwork/internal/form"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/wire"
)

// Patch is a merge patch (RFC 7396) of a deal. It is also the body of a create request. The zero Patch changes nothing.
type Patch struct {
	Name            wire.Field[string]
	ContactID       wire.Field[string]
	CompanyID       wire.Field[string]
	PipelineID      wire.Field[string]
	StageID         wire.Field[string]
	Status          wire.Field[string]
	Amount          wire.Field[int64]
	Currency        wire.Field[string]
	LostReason      wire.Field[string]
	ExpectedCloseOn wire.Field[string]
	OwnerID         wire.Field[string]
	Position        wire.Field[string]
	ExternalIDs     externalid.Patch

	// BeforeID and AfterID are accepted from a patch of a single deal: the deal that it is moved next to.
	BeforeID wire.Field[string]
	AfterID  wire.Field[string]

	// ClosedAt is accepted from a creation or a batch, to import history. CreatedAt is accepted from a batch row that
	// creates a deal.
	ClosedAt  wire.Field[string]
	CreatedAt wire.Field[string]
	form.Refused
}

const (
	// Currency is the default currency of a deal.
	Currency  = "USD"
	maxReason = 500
	maxAmount = 1 << 53
)

// ground holds the org's data that a change of deals needs.
type ground struct {
	pipelines map[id.ID]*Pipeline
	standard  *Pipeline
	contacts  map[id.ID]bool // the named contacts that are live
}

// readGround reads the ground for patches and for the pipelines at that their deals are in. It reads pipelines only if
// a deal may move or is created.
func readGround(ctx context.Context, tx *postgres.Tx, patches []*Patch, at []id.ID, makes bool) (*ground, error) {
	g := &ground{contacts: map[id.ID]bool{}}
	contacts, stages, moves := []id.ID{}, []id.ID{}, makes
	for _, p := range patches {
		if i, err := id.Parse(p.ContactID.Value); err == nil {
			contacts = append(contacts, i)
		}
		if i, err := id.Parse(p.PipelineID.Value); err == nil {
			at = append(at, i)
		}
		if i, err := id.Parse(p.StageID.Value); err == nil {
			stages = append(stages, i)
		}
		moves = moves || p.mayMove()
	}
	if len(contacts) > 0 {
		tx.Queue(`SELECT id FROM contact WHERE org_id = $1 AND id = ANY ($2::uuid[]) AND archived_at IS NULL`,
			tx.Org(), contacts).Query(func(rows pgx.Rows) error {
			var i id.ID
			_, err := pgx.ForEachRow(rows, []any{&i}, func() error {
				g.contacts[i] = true
				return nil
			})
			return err
		})
	}
	if !moves {
		return g, tx.Flush(ctx)
	}
	if at == nil {
		at = []id.ID{}
	}
	var err error
	if g.pipelines, g.standard, err = lockInto(ctx, tx, at, stages); err == nil && g.standard == nil {
		err = fmt.Errorf("org %s has no default pipeline", tx.Org())
	}
	return g, err
}

// mayMove reports whether p may move its deal to another stage.
func (p *Patch) mayMove() bool { return p.PipelineID.Set || p.StageID.Set || p.Status.Set }

// apply applies p to now. was is the stored deal, and path is the JSON pointer to p's object.
func (p *Patch) apply(was, now *Deal, path string, g *ground) error {
	f := form.At(path)
	f.ReadOnly(p.Sent, was)
	p.applyMembers(f, now, g)
	if p.mayMove() {
		p.applyStage(f, was, now, g.pipelines[was.PipelineID], g)
	}
	if now.StageID != was.StageID && !p.Position.Set {
		now.Position = topPosition()
	}
	p.applyClosing(f, was, now, wire.Now())
	return f.Fault()
}

// newDeal returns the new deal that p describes.
func (p *Patch) newDeal(path string, now wire.Time, g *ground) (Deal, error) {
	f := form.At(path)
	d := Deal{
		Currency: Currency, CreatedAt: now, UpdatedAt: now, Status: Open, PipelineID: g.standard.ID,
		StageID: g.standard.firstStage(Open).ID,
	}
	f.ReadOnly(p.Sent, &d)
	p.applyMembers(f, &d, g)
	form.Missing(f, "name", p.Name)
	was := d
	p.applyStage(f, &Deal{Status: Open}, &d, g.standard, g)
	if p.CreatedAt.Set && !p.CreatedAt.Null {
		f.Past("created_at", p.CreatedAt, now, &d.CreatedAt)
	}
	p.applyClosing(f, &was, &d, now)
	if d.ClosedAt != nil && p.CreatedAt.Set && p.ClosedAt.Set && d.ClosedAt.Before(d.CreatedAt.Time) {
		f.Wrong("closed_at", "out_of_range", "A deal is closed after it was made.")
	}
	if d.ID = id.New(); d.Position == "" {
		d.Position = byAge(d.ID)
	}
	return d, f.Fault()
}

// applyMembers applies the members that do not depend on the stage.
func (p *Patch) applyMembers(f *form.Form, d *Deal, g *ground) {
	f.Required("name", p.Name, &d.Name, form.Name)
	was := d.ContactID
	f.ID("contact_id", p.ContactID, &d.ContactID)
	if c := d.ContactID; c != nil && !g.contacts[*c] && (was == nil || *was != *c) {
		f.Wrong("contact_id", "unknown_contact", "There is no such contact.")
	}
	f.ID("company_id", p.CompanyID, &d.CompanyID)
	f.ID("owner_id", p.OwnerID, &d.OwnerID)
	d.ExternalIDs = externalid.Apply(p.ExternalIDs, d.ExternalIDs, f.Wrong)
	f.Date("expected_close_on", p.ExpectedCloseOn, &d.ExpectedCloseOn)
	p.fillPosition(f, d)
	switch in := p.Amount; {
	case !in.Set:
	case in.Null:
		f.Wrong("amount", "not_nullable", "This field cannot be null.")
	case in.Value < 0 || in.Value > maxAmount:
		f.Wrong("amount", "out_of_range", "An amount lies between 0 and 2^53.")
	default:
		d.Amount = in.Value
	}
	kept := d.Currency // which may have been withdrawn since: it can be kept
	f.Required("currency", p.Currency, &d.Currency, 3)
	if d.Currency != kept && !isCurrency(d.Currency) {
		f.Wrong("currency", "invalid_currency", "This is not a currency code of ISO 4217, such as EUR.")
	}
}

// applyStage sets pipeline, stage and status together. here is the current pipeline of the deal. It is nil if the
// pipeline is archived, which never holds for a live deal.
func (p *Patch) applyStage(f *form.Form, was, now *Deal, here *Pipeline, g *ground) {
	var stageID, pipelineID *id.ID
	status := was.Status
	for _, m := range []struct {
		name string
		in   wire.Field[string]
		at   **id.ID
	}{{"pipeline_id", p.PipelineID, &pipelineID}, {"stage_id", p.StageID, &stageID}} {
		if f.ID(m.name, m.in, m.at); m.in.Null {
			f.Wrong(m.name, "not_nullable", "This field cannot be null.")
		}
	}
	f.OneOf("status", p.Status, &status, Open, Won, Lost)
	if !f.OK() {
		return
	}
	to := here
	if pipelineID != nil {
		if to = g.pipelines[*pipelineID]; to == nil {
			f.Wrong("pipeline_id", "unknown_pipeline",
				"There is no such pipeline. GET /api/v1/crm/pipelines lists them.")
			return
		}
	}
	if stageID == nil {
		if to != nil &&
			(pipelineID != nil && *pipelineID != was.PipelineID || status != was.Status || was.StageID.IsZero()) {
			setStage(now, to, to.stageForStatus(status, was.LastOpen))
		}
		return
	}
	stage, of := g.findStage(*stageID)
	switch {
	case stage == nil || pipelineID != nil && of != to:
		if pipelineID == nil {
			to = here
		}
		f.Wrong("stage_id", "unknown_stage", to.noStage())
	case p.Status.Set && stage.Kind != status:
		f.Wrong("status", "contradicts_stage",
			"The stage is one of the kind "+stage.Kind+". Give either of them, or both alike.")
	default:
		setStage(now, of, stage)
	}
}

// applyClosing applies the members that depend on the status: the close time and the reason for a loss.
func (p *Patch) applyClosing(f *form.Form, was, now *Deal, at wire.Time) {
	switch {
	case now.Status == Open:
		now.ClosedAt = nil
	case was.Status != now.Status:
		now.ClosedAt = &at
	}
	if now.Status != Lost {
		now.LostReason = nil
	}
	if p.ClosedAt.Set && !p.ClosedAt.Null {
		if now.Status == Open {
			f.Wrong("closed_at", "contradicts_status", "An open deal is not closed.")
		} else {
			given := at
			f.Past("closed_at", p.ClosedAt, at, &given)
			now.ClosedAt = &given
		}
	}
	reason := now.LostReason
	if f.OptionalText("lost_reason", p.LostReason, &reason, maxReason); reason != nil && now.Status != Lost {
		f.Wrong("lost_reason", "contradicts_status", "Only a lost deal has a reason for it.")
		return
	}
	now.LostReason = reason
}

// stageForStatus returns the stage that a deal with this status moves to. For an open deal that is its last open stage,
// if that stage belongs to the pipeline.
func (p *Pipeline) stageForStatus(status string, lastOpen *id.ID) *PipelineStage {
	if status == Open && lastOpen != nil {
		if s := p.findStage(*lastOpen); s != nil && s.Kind == Open {
			return s
		}
	}
	return p.firstStage(status)
}

// findStage returns the stage and its pipeline, or nil.
func (g *ground) findStage(stage id.ID) (*PipelineStage, *Pipeline) {
	for _, p := range g.pipelines {
		if s := p.findStage(stage); s != nil {
			return s, p
		}
	}
	return nil, nil
}

// setStage moves d to a stage of p.
func setStage(d *Deal, p *Pipeline, s *PipelineStage) {
	d.PipelineID, d.StageID, d.Status = p.ID, s.ID, s.Kind
	if s.Kind == Open {
		open := s.ID
		d.LastOpen = &open
	}
}
