package imports

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/funnelwork/funnelwork/internal/compare"
	"github.com/funnelwork/funnelwork/internal/contacts"
	"github.com/funnelwork/funnelwork/internal/events"
	"github.com/funnelwork/funnelwork/internal/fault"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/sheet"
	"github.com/funnelwork/funnelwork/internal/uploads"
	"github.com/funnelwork/funnelwork/internal/wire"
)

// Work holds the dependencies of a step.
type Work struct {
	Rate contacts.Scorer
	// Room returns how many contacts the org may still create; nil means no limit.
	Room func(context.Context, *postgres.Tx) (*contacts.Room, error)
	// Companies returns the companies that texts name, by their domains or names. If it is to, it creates those that
	// the org does not have, with events unless they are suppressed.
	Companies func(ctx context.Context, tx *postgres.Tx, texts []string, makes, suppress bool) (map[string]id.ID,
		error)
	// Base is the URL prefix of the links in events; without it events have no links.
	Base string
}

// Done is the result of a step.
type Done struct {
	More    bool
	Changed []contacts.Change // existing contacts that were changed
}

// Step processes the next block of an import, or completes it. An import that has ended or does not exist needs no
// further step.
func (w Work) Step(ctx context.Context, tx *postgres.Tx, which id.ID) (Done, error) {
	i, err := one(ctx, tx, which, " FOR UPDATE")
	switch {
	case fault.Is(err, fault.NotFound), err == nil && i.Status != "queued" && i.Status != "running":
		return Done{}, nil
	case err != nil:
		return Done{}, err
	}
	ctx = events.WithOrigin(ctx, i.actor)
	contacts.ByKeys(tx)
	types, err := i.types(ctx, tx)
	if err != nil {
		return Done{}, err
	}
	if i.Status == "queued" {
		i.begin(types)
		blocks := i.blocks
		if err := i.gatherRepeated(ctx, tx); err != nil {
			return Done{}, fmt.Errorf("gather repeated rows: %w", err)
		}
		if i.blocks > blocks { // a step of its own
			i.save(tx)
			return Done{More: true}, nil
		}
	}
	var done Done
	if i.next < i.blocks {
		if done, err = w.block(ctx, tx, &i, types); err != nil {
			return Done{}, fmt.Errorf("block %d: %w", i.next, err)
		}
		i.next++
	}
	if done.More = i.next < i.blocks; !done.More {
		if err := w.end(ctx, tx, &i, "completed", nil); err != nil {
			return Done{}, err
		}
	}
	i.save(tx)
	return done, nil
}

// Fail ends an import after its steps have failed repeatedly. Completed steps are kept and can be undone.
func (w Work) Fail(ctx context.Context, tx *postgres.Tx, which id.ID) error {
	i, err := one(ctx, tx, which, " FOR UPDATE")
	if err != nil || i.Status != "queued" && i.Status != "running" {
		return err
	}
	why := "The import could not go on. What was imported until then stays, and can be undone."
	if err := w.end(events.WithOrigin(ctx, i.actor), tx, &i, "failed", &why); err != nil {
		return err
	}
	tx.Queue(`DELETE FROM contact_import_block WHERE org_id = $1 AND import_id = $2`, tx.Org(), which)
	i.save(tx)
	return nil
}

// types returns the types of the defined custom fields that columns are mapped to.
func (i *Import) types(ctx context.Context, tx *postgres.Tx) (map[string]contacts.Type, error) {
	return typesOf(ctx, tx, i.columns)
}

func typesOf(ctx context.Context, tx *postgres.Tx, columns []Column) (map[string]contacts.Type, error) {
	keys := []string{}
	for c := range columns {
		if key, is := columns[c].key(); is {
			keys = append(keys, key)
		}
	}
	types := map[string]contacts.Type{}
	if len(keys) == 0 {
		return types, nil
	}
	rows, err := tx.Query(ctx,
		`SELECT key, type FROM contact_field WHERE org_id = $1 AND key = ANY ($2::text[]) AND archived_at IS NULL`,
		tx.Org(), keys)
	if err != nil {
		return nil, fmt.Errorf("read fields: %w", err)
	}
	var key, t string
	_, err = pgx.ForEachRow(rows, []any{&key, &t}, func() error {
		types[key] = contacts.Type(t)
		return nil
	})
	return types, err
}

// begin records which custom fields the org lacked before the import.
func (i *Import) begin(types map[string]contacts.Type) {
	now := wire.Now()
	i.Status, i.StartedAt, i.fresh = "running", &now, []string{}
	for c := range i.columns {
		if key, is := i.columns[c].key(); is && types[key] == "" {
			i.fresh = append(i.fresh, key)
		}
	}
}

// save queues the update of the fields that a step changes.
func (i *Import) save(tx *postgres.Tx) {
	tx.Queue(`UPDATE contact_import SET status = $3, next_block = $4, rows_created = $5, rows_updated = $6,
		rows_unchanged = $7, rows_failed = $8,
		rows_repeated = $9, error = $10, started_at = $11, completed_at = $12, fields_new = $13, rows_blank = $14,
		warnings_count = $15, blocks = $16, computed = computed + 1 WHERE org_id = $1 AND id = $2`,
		tx.Org(), i.ID, i.Status, i.next, i.RowsCreated, i.RowsUpdated, i.RowsUnchanged, i.RowsFailed, i.RowsRepeated,
		i.Error, i.StartedAt, i.CompletedAt, i.fresh, i.RowsBlank, i.WarningsCount, i.blocks)
}

// end announces that the import has ended.
func (w Work) end(ctx context.Context, tx *postgres.Tx, i *Import, status string, why *string) error {
	now := wire.Now()
	i.Status, i.Error, i.CompletedAt = status, why, &now
	if w.Base != "" {
		i.Show(w.Base, tx.Org(), now.Time)
	}
	return events.Announce(ctx, tx, events.ImportCompleted{Import: events.Import{
		ID: i.ID, Status: status, DryRun: i.DryRun, RowsTotal: i.RowsTotal, RowsCreated: i.RowsCreated,
		RowsUpdated:   i.RowsUpdated,
		RowsUnchanged: i.RowsUnchanged, RowsFailed: i.RowsFailed, RowsBlank: i.RowsBlank, RowsRepeated: i.RowsRepeated,
		WarningsCount: i.WarningsCount, ErrorsURL: i.ErrorsURL,
	}})
}

// block processes the import's next block.
func (w Work) block(ctx context.Context, tx *postgres.Tx, i *Import, types map[string]contacts.Type) (Done, error) {
	all, err := i.recordsOf(ctx, tx, i.next)
	if err != nil {
		return Done{}, err
	}

	how := i.reading(types)
	cells, err := i.newReader(ctx, tx, types)
	if err != nil {
		return Done{}, err
	}

	if cells.companies, err = w.companies(ctx, tx, i, all); err != nil {
		return Done{}, err
	}

	var (
		failed uploads.Refusals
		rows   []contacts.Upsert
		places []int // indexes into all rows
		lines  []int // rows of the file
	)
	for n := range all {
		switch r := &all[n]; {
		case r.Blank:
			i.RowsBlank++
		case r.Defect != "":
			failed.Add(r, r.Defect, sheet.DefectDetail(r.Defect), i.source.Delimiter)
		default:
			rows, places, lines = append(rows, cells.upsert(r)), append(places, n), append(lines, r.Row)
		}
	}

	how.Rate = w.Rate
	if w.Room != nil {
		if how.Room, err = w.Room(ctx, tx); err != nil {
			return Done{}, err
		}
	}
	if i.DryRun {
		if err := i.pretend(ctx, tx, &how, rows); err != nil {
			return Done{}, err
		}
	}
	repairs := newRepairer(i.columns, lines)
	if !i.Strict {
		how.Repair = repairs.repair
	}

	outcomes, made, changed, err := how.Upsert(ctx, tx, rows)
	if err != nil {
		return Done{}, err
	}
	repeated, err := i.remember(ctx, tx, outcomes, made, changed)
	if err != nil {
		return Done{}, err
	}

	net := netResults(made, changed)
	for n := range outcomes {
		if o := &outcomes[n]; !i.count(o, net[o.ID], repeated[n]) {
			code, detail := reason(i.explain(o.Fault))
			failed.Add(&all[places[n]], code, detail, i.source.Delimiter)
		}
	}
	i.RowsFailed += failed.Len()
	tables.QueueRefusals(tx, i.ID, &failed)
	i.warn(tx, all, places, outcomes, repeated, repairs)
	tx.Queue(`DELETE FROM contact_import_block WHERE org_id = $1 AND import_id = $2 AND block = $3`, tx.Org(), i.ID,
		i.next)
	if i.DryRun {
		return Done{}, nil
	}

	return Done{Changed: changed}, i.tell(ctx, tx, made, changed)
}

// netResults returns what the rows of a block together did to each contact that they created or changed.
func netResults(made, changed []contacts.Change) map[id.ID]string {
	net := make(map[id.ID]string, len(made)+len(changed))
	for n := range made {
		net[made[n].ID] = contacts.Created
	}
	for n := range changed {
		net[changed[n].ID] = contacts.Updated
	}
	return net
}

// count counts the outcome of a row, and returns false if it failed. The first row about a contact counts for all rows
// of the block about it: net is what they did together, or "" for nothing.
func (i *Import) count(o *contacts.Outcome, net string, repeated bool) bool {
	switch {
	case o.Result == contacts.Failed:
		return false
	case repeated:
		i.RowsRepeated++
	case net == contacts.Created:
		i.RowsCreated++
	case net == contacts.Updated:
		i.RowsUpdated++
	default:
		i.RowsUnchanged++
	}
	return true
}

// warn stores the warnings about the rows of a block that were not refused, in the order of the file.
func (i *Import) warn(tx *postgres.Tx, all []sheet.Record, places []int, outcomes []contacts.Outcome, repeated []bool,
	repairs *repairer,
) {
	var warnings []uploads.Warning
	if i.next == 0 && i.source.Converted {
		warnings = append(warnings, uploads.Converted(i.source.HeaderRow))
	}
	for n := range outcomes {
		if outcomes[n].Result == contacts.Failed {
			continue
		}
		r := &all[places[n]]
		if r.Converted {
			warnings = append(warnings, uploads.Converted(r.Row))
		}
		if repeated[n] {
			warnings = append(warnings, uploads.Warning{
				Row: r.Row, Code: uploads.WarnRepeated,
				Detail: "An earlier row of the file has the same contact. The values of this row replaced those of " +
					"that one.",
			})
		}
		warnings = append(warnings, repairs.warnings[n]...)
	}
	tables.QueueWarnings(tx, i.ID, i.WarningsCount, warnings)
	i.WarningsCount += len(warnings)
}

// reading returns the batch options for the import, and adds the types of the columns to types.
func (i *Import) reading(types map[string]contacts.Type) contacts.Batch {
	how := contacts.Batch{Types: map[string]contacts.Type{}, Plain: true, Dry: i.DryRun}
	for c := range i.columns {
		if key, is := i.columns[c].key(); is && types[key] == "" {
			how.Types[key], types[key] = i.columns[c].Type, i.columns[c].Type
		}
	}
	return how
}

// tell announces each contact once, as a single request would, with one statement for all events.
func (i *Import) tell(ctx context.Context, tx *postgres.Tx, made, changed []contacts.Change) error {
	if i.SuppressEvents {
		return nil
	}
	var all []events.Event
	for n := range made {
		all = append(all, made[n].Events()...)
	}
	for n := range changed {
		all = append(all, changed[n].Events()...)
	}
	return events.AnnounceAll(ctx, tx, all)
}

// reason formats a fault for the error file: the first code, and the detail of every invalid field. What the service
// computes comes last, because whether it can be set depends on the contact and not on the row.
func reason(f *fault.Fault) (code, detail string) {
	if f == nil {
		return string(fault.Internal), ""
	}
	if len(f.Fields) == 0 {
		return string(f.Code), f.Detail
	}
	wrong := slices.Clone(f.Fields)
	isComputed := func(w fault.FieldError) int {
		if w.Code == "read_only" {
			return 1
		}
		return 0
	}
	slices.SortStableFunc(wrong, func(x, y fault.FieldError) int { return isComputed(x) - isComputed(y) })
	var parts []string
	for _, w := range wrong {
		parts = append(parts, strings.TrimPrefix(w.Pointer, "#/")+": "+w.Detail)
	}
	return wrong[0].Code, strings.Join(parts, " ")
}

// pretend loads the state in which earlier rows of a dry run would have left contacts.
func (i *Import) pretend(ctx context.Context, tx *postgres.Tx, how *contacts.Batch, rows []contacts.Upsert) error {
	if how.Room != nil {
		how.Room.Left -= int64(i.RowsCreated)
	}
	var emails []string
	ids := []id.ID{}
	for n := range rows {
		if rows[n].Email.Set {
			emails = append(emails, compare.Address(rows[n].Email.Value))
		}
		if given, err := id.Parse(rows[n].ID.Value); err == nil {
			ids = append(ids, given)
		}
	}
	found, err := tx.Query(ctx,
		`SELECT after FROM contact_import_effect WHERE org_id = $1 AND import_id = $2
			AND email_folded = ANY ($3::text[])
		UNION ALL SELECT after FROM contact_import_effect WHERE org_id = $1 AND import_id = $2
		AND contact_id = ANY ($4::uuid[]) AND email_folded <> ALL ($3::text[])`,
		tx.Org(), i.ID, slices.Clip(append([]string{}, emails...)), ids)
	if err != nil {
		return fmt.Errorf("read effects: %w", err)
	}
	how.As, err = pgx.CollectRows(found, func(row pgx.CollectableRow) (r contacts.Row, err error) {
		var b []byte
		if err = row.Scan(&b); err == nil {
			err = json.Unmarshal(b, &r)
		}
		return r, err
	})
	return err
}
