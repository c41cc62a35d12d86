package deals

import (
	"context"
	"errors"
	"maps"

	"github.com/jackc/pgx/v5"

	"github.com/funnelwork/funnelwork/internal/compare"
	"github.com/funnelwork/funnelwork/internal/events"
	"github.com/funnelwork/funnelwork/internal/externalid"
	"github.com/funnelwork/funnelwork/internal/fault"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/record"
	"github.com/funnelwork/funnelwork/internal/wire"
)

// Deal is a sale, open or closed, as the API and the webhooks show it.
type Deal = events.Deal

// Row is a deal with its edit counter.
type Row = record.Row[Deal]

// Change is the result of a change to a deal.
type Change = record.Change[Deal]

var table = record.Table[Deal]{
	Name: "deal", Absent: "There is no such deal.",
	Columns: `id, name, contact_id, company_id, pipeline_id, stage_id, status, amount, currency, lost_reason,
		to_char(expected_close_on, 'YYYY-MM-DD'),
		owner_id, external_ids, closed_at, created_at, updated_at, archived_at, open_stage_id, position`,
	Scan: func(d *Deal) []any {
		return []any{
			&d.ID, &d.Name, &d.ContactID, &d.CompanyID, &d.PipelineID, &d.StageID, &d.Status, &d.Amount, &d.Currency,
			&d.LostReason, &d.ExpectedCloseOn,
			&d.OwnerID, &d.ExternalIDs, &d.ClosedAt, &d.CreatedAt, &d.UpdatedAt, &d.ArchivedAt,
			&d.LastOpen, &d.Position,
		}
	},
	Stamps: func(d *Deal) (*wire.Time, **wire.Time) { return &d.UpdatedAt, &d.ArchivedAt },
}

// errMoved means that a concurrent transaction changed a pipeline's stages after this transaction had read them.
var errMoved = errors.New("the pipeline was changed concurrently")

// Resolve converts an error of a failed transaction to a fault. For a taken external id it reads in a new transaction.
func Resolve(ctx context.Context, db *postgres.DB, org id.ID, err error) error {
	if errors.Is(err, errMoved) {
		return fault.New(fault.Conflict,
			"The pipeline's stages have been changed. Read them and send the request again.").
			Because(err)
	}
	return externalid.Resolve(ctx, db, org, err)
}

// Get returns one deal of the org. An archived deal is returned only with archivedToo. If there is no such deal, the
// error is a not_found fault.
func Get(ctx context.Context, tx *postgres.Tx, i id.ID, archivedToo bool) (Row, error) {
	return table.Get(ctx, tx, i, archivedToo)
}

// Create creates a deal from p, in the stage, pipeline and status that p names, or else open in the first stage of the
// default pipeline. An invalid p is a validation fault; see also Resolve.
func Create(ctx context.Context, tx *postgres.Tx, p *Patch) (Row, error) {
	externalid.LockSent(tx, externalid.Deal, p.ExternalIDs)
	ground, err := readGround(ctx, tx, []*Patch{p}, nil, true)
	if err != nil {
		return Row{}, err
	}
	d, err := p.newDeal("", wire.Now(), ground)
	if err != nil {
		return Row{}, err
	}
	queueInsert(tx, &d)
	return Row{Value: d, Edit: 1}, tx.Flush(ctx)
}

// Update applies p to the live deal i. An archived or unknown deal is a not_found fault. If match refuses the edit, its
// error is returned; see also Resolve. A patch without effect writes nothing.
func Update(ctx context.Context, tx *postgres.Tx, i id.ID, match record.Match, p *Patch) (Change, error) {
	externalid.LockSent(tx, externalid.Deal, p.ExternalIDs)
	ch, err := table.Update(ctx, tx, i, match, func(was, now *Deal) error {
		ground, err := readGround(ctx, tx, []*Patch{p}, []id.ID{was.PipelineID}, false)
		if err != nil {
			return err
		}
		if err := p.apply(was, now, "", ground); err != nil {
			return err
		}
		return p.applyPosition(ctx, tx, now)
	})
	if err != nil || !ch.Changed() {
		return ch, err
	}
	queueUpdate(tx, &ch.Before, &ch.Value)
	return ch, tx.Flush(ctx)
}

// Archive hides the deal from lists and look-ups; see record.Table.Archive.
func Archive(ctx context.Context, tx *postgres.Tx, i id.ID, match record.Match) (Change, error) {
	return table.Archive(ctx, tx, i, match)
}

// Restore undoes Archive. A deal in an archived pipeline is a conflict.
func Restore(ctx context.Context, tx *postgres.Tx, i id.ID) (Change, error) {
	ch, q, err := table.Restore(ctx, tx, i)
	if err != nil || !ch.Changed() {
		return ch, err
	}
	externalid.Refuse(q, externalid.Deal, ch.Value.ExternalIDs)
	all, _, err := lockInto(ctx, tx, []id.ID{ch.Value.PipelineID}, nil)
	if err == nil && all[ch.Value.PipelineID] == nil {
		err = fault.New(fault.Conflict, "The deal's pipeline is archived. Restore the pipeline first.")
	}
	return ch, err
}

// Events returns the events of a change, in order: the move, then its outcome, then other fields.
func Events(ch *Change) []events.Event {
	d := ch.Value
	if ch.Before.ID.IsZero() {
		return append([]events.Event{events.DealCreated{Deal: d}}, statusEvents(Open, d)...)
	}
	if _, shelved := ch.Previous["archived_at"]; shelved {
		if d.ArchivedAt != nil {
			return []events.Event{events.DealArchived{Deal: d}}
		}
		return []events.Event{events.DealRestored{Deal: d}}
	}
	var told []events.Event
	moved, others := map[string]any{}, map[string]any{}
	for name, was := range ch.Previous {
		switch name {
		case "stage_id", "pipeline_id", "status", "closed_at", "position":
			moved[name] = was
		default:
			others[name] = was
		}
	}
	if was, ok := others["lost_reason"]; ok && ch.Before.Status != d.Status { // set or cleared together with the status
		moved["lost_reason"] = was
		delete(others, "lost_reason")
	}
	if d.StageID != ch.Before.StageID {
		told = append(told, events.DealStageChanged{Deal: d, Previous: moved})
		told = append(told, statusEvents(ch.Before.Status, d)...)
	} else {
		maps.Copy(others, moved) // a position within the stage, or closed_at from imported history
	}
	if len(others) > 0 {
		told = append(told, events.DealUpdated{Deal: d, Previous: others})
	}
	return told
}

// statusEvents returns the events of a deal that moves from the status was to its current one.
func statusEvents(was string, d Deal) []events.Event {
	switch {
	case was == d.Status:
		return nil
	case d.Status == Won:
		return []events.Event{events.DealWon{Deal: d}}
	case d.Status == Lost:
		return []events.Event{events.DealLost{Deal: d}}
	}
	return []events.Event{events.DealReopened{Deal: d}}
}

// Scored returns the contact that needs rescoring because of the change: the contact of a deal that was created, won,
// lost or reopened.
func Scored(ch *Change) *id.ID {
	if ch.Before.ID.IsZero() || ch.Before.Status != ch.Value.Status {
		return ch.Value.ContactID
	}
	return nil
}

// refuseMoved converts a violation of deal_stage_kind by q, which writes d, to errMoved, and one of an external id to
// an externalid.TakenError.
func refuseMoved(q *pgx.QueuedQuery, d *Deal) {
	q.Fn = func(br pgx.BatchResults) error {
		_, err := br.Exec()
		if postgres.Violates(err, "deal_stage_kind") {
			return errMoved
		}
		return externalid.Refused(err, externalid.Deal, d.ExternalIDs.Keys())
	}
}

func queueInsert(tx *postgres.Tx, d *Deal) {
	refuseMoved(tx.Queue(`INSERT INTO deal (org_id, id, name, contact_id, company_id, pipeline_id, stage_id, status,
		open_stage_id, amount, currency, lost_reason,
			expected_close_on, owner_id, closed_at, created_at, updated_at, place, external_ids)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19)`,
		tx.Org(), d.ID, d.Name, d.ContactID, d.CompanyID, d.PipelineID, d.StageID, d.Status, d.LastOpen, d.Amount,
		d.Currency, d.LostReason,
		d.ExpectedCloseOn, d.OwnerID, d.ClosedAt, d.CreatedAt, d.UpdatedAt, storedPosition(d), d.ExternalIDs.Text()), d)
	addWords(tx, d.ID, compare.Words(d.Name))
}

func queueUpdate(tx *postgres.Tx, was, d *Deal) {
	refuseMoved(tx.Queue(`UPDATE deal SET name = $3, contact_id = $4, company_id = $5, pipeline_id = $6, stage_id = $7,
		status = $8, open_stage_id = $9, amount = $10,
			currency = $11, lost_reason = $12, expected_close_on = $13, owner_id = $14, closed_at = $15,
			updated_at = $16, place = $17, external_ids = $18, edit = edit + 1
		WHERE org_id = $1 AND id = $2`,
		tx.Org(), d.ID, d.Name, d.ContactID, d.CompanyID, d.PipelineID, d.StageID, d.Status, d.LastOpen, d.Amount,
		d.Currency, d.LostReason, d.ExpectedCloseOn, d.OwnerID, d.ClosedAt, d.UpdatedAt, storedPosition(d),
		d.ExternalIDs.Text()), d)
	if was.Name != d.Name {
		before, after := compare.Words(was.Name), compare.Indexed(d.Name)
		takeWords(tx, d.ID, withoutAll(before, after))
		addWords(tx, d.ID, withoutAll(after, before))
	}
}
