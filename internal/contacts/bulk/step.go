package bulk

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"

	"github.com/funnelwork/funnelwork/internal/contacts"
	"github.com/funnelwork/funnelwork/internal/events"
	"github.com/funnelwork/funnelwork/internal/fault"
	"github.com/funnelwork/funnelwork/internal/filter"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/wire"
)

// Worker executes bulk changes step by step.
type Worker struct {
	Rate contacts.Scorer
	// Room returns how many contacts may still be restored; nil means no limit.
	Room func(ctx context.Context, tx *postgres.Tx) (*contacts.Room, error)
	// Score updates the scores of changed and restored contacts in tx. It accepts any change.
	Score func(ctx context.Context, tx *postgres.Tx, all []contacts.Change) error
	// Part is the number of contacts per step; 0 means 250. It bounds the number of rows that block other requests.
	Part int
}

// Stage is the state of a change after a step.
type Stage int

// Stages of a change.
const (
	Over Stage = iota // the change has ended
	More              // the next step can run
	Wait              // an earlier change of the org must end first
)

// Step executes the next step of a change in tx.
func (w Worker) Step(ctx context.Context, tx *postgres.Tx, i id.ID) (Stage, error) {
	b, err := readChange(ctx, tx, i, ` FOR UPDATE`)
	switch {
	case fault.Is(err, fault.NotFound):
		return Over, nil
	case err != nil:
		return Over, err
	case b.CompletedAt != nil:
		return Over, nil
	}

	if b.Status == Queued {
		return w.beginChange(ctx, tx, &b)
	}

	ids, size, err := b.takePart(ctx, tx)
	if err != nil {
		return Over, err
	}
	if size == 0 {
		if more, err := b.settle(ctx, tx, w.partSize()); err != nil || more {
			return More, err
		}
		b.markEnded(tx, Completed, nil)
		return Over, nil
	}

	return More, w.applyPart(events.WithOrigin(ctx, b.by), tx, &b, ids, size)
}

// beginChange fixes the set of contacts, after the org's earlier changes have ended. Nothing waits for a dry run.
func (w Worker) beginChange(ctx context.Context, tx *postgres.Tx, b *Change) (Stage, error) {
	var before bool
	if err := tx.QueryRow(ctx,
		`SELECT EXISTS (SELECT FROM contact_bulk WHERE org_id = $1 AND id < $2 AND completed_at IS NULL
			AND NOT dry_run)`,
		[]any{tx.Org(), b.ID}, &before); err != nil || before {
		return Wait, err
	}

	err := b.storeMatches(ctx, tx, w.partSize())
	if wrong, ok := errors.AsType[*filter.Error](err); ok { // a field of the filter was removed after the request
		b.markEnded(tx, Failed, &wrong.Detail)
		return Over, nil
	}
	if err != nil {
		return Over, fmt.Errorf("select matching contacts: %w", err)
	}

	tx.Queue(`UPDATE contact_bulk SET status = 'running', rows_total = $3, sample_ids = $4, updated_at = $5
		WHERE org_id = $1 AND id = $2`,
		tx.Org(), b.ID, b.RowsTotal, b.SampleIDs, wire.Now())
	if b.RowsTotal == 0 {
		if _, err := b.settle(ctx, tx, w.partSize()); err != nil {
			return Over, err
		}
		b.markEnded(tx, Completed, nil)
		return Over, nil
	}

	return More, nil
}

func (w Worker) partSize() int {
	if w.Part > 0 {
		return w.Part
	}
	return 250
}

// storeMatches counts the matching contacts and stores their ids.
func (c *Change) storeMatches(ctx context.Context, tx *postgres.Tx, part int) error {
	sql, args, err := c.selectMatching(ctx, tx, samples, c.ID, part)
	if err != nil {
		return err
	}
	contacts.Planned(tx)
	return tx.QueryRow(ctx, `WITH part AS (
			INSERT INTO contact_bulk_part (org_id, bulk_id, n, ids, size)
			SELECT $1, $3, n, array_agg(id ORDER BY id), count(*)
			FROM (SELECT id, (row_number() OVER (ORDER BY id) - 1) / $4::int AS n FROM (`+sql+
		`) AS matching) AS numbered GROUP BY n
			RETURNING n, ids, size
		) SELECT coalesce(sum(size), 0), coalesce((SELECT ids[1:$2::int] FROM part WHERE n = 0), '{}') FROM part`,
		args, &c.RowsTotal, &c.SampleIDs)
}

// selectMatching returns the statement that selects the contact ids, and all its arguments: $1 is the org, more are $2
// and on.
func (c *Change) selectMatching(ctx context.Context, tx *postgres.Tx, more ...any) (string, []any, error) {
	if c.where == nil {
		if err := c.Action.readSpellings(ctx, tx); err != nil {
			return "", nil, err
		}
		args := append(append([]any{tx.Org()}, more...), c.Action.former)
		return `SELECT DISTINCT contact_id AS id FROM contact_tag WHERE org_id = $1 AND tag = ANY ($` +
			strconv.Itoa(len(args)) + `::text[]) AND archived IN (false, true)`, args, nil
	}
	where, err := contacts.ParseFilter(ctx, tx, c.where)
	if err != nil {
		return "", nil, err
	}
	sql, args := contacts.Selecting(tx.Org(),
		&contacts.Filter{Where: where, Archived: c.Action.Scope() == contacts.Archived}, more...)
	return sql, args, nil
}

// takePart removes and returns the next part. size is 0 if none is left.
func (c *Change) takePart(ctx context.Context, tx *postgres.Tx) (ids []id.ID, size int64, err error) {
	err = tx.QueryRow(ctx, `DELETE FROM contact_bulk_part WHERE org_id = $1 AND bulk_id = $2
		AND n = (SELECT n FROM contact_bulk_part WHERE org_id = $1 AND bulk_id = $2 ORDER BY n LIMIT 1)
		RETURNING ids, size`, []any{tx.Org(), c.ID}, &ids, &size)
	if postgres.None(err) {
		return nil, 0, nil
	}
	return ids, size, err
}

// applyPart applies the action to the contacts of a part, announces the changes and counts them. A dry run only counts.
func (w Worker) applyPart(ctx context.Context, tx *postgres.Tx, b *Change, ids []id.ID, size int64) error {
	if err := b.Action.readSpellings(ctx, tx); err != nil {
		return err
	}
	contacts.ByKeys(tx)
	if b.DryRun {
		changed, refused, err := w.planAction(ctx, tx, &b.Action, ids)
		if err != nil {
			return err
		}
		return b.recordCounts(tx, changed, refused, size)
	}

	done, refused, err := w.applyAction(ctx, tx, &b.Action, ids)
	if err != nil {
		return err
	}
	if err := contacts.AnnounceAll(ctx, tx, done); err != nil {
		return err
	}
	if err := w.Score(ctx, tx, done); err != nil {
		return err
	}

	return b.recordCounts(tx, len(done), refused, size)
}

// recordCounts queues the counts of a part of size contacts.
func (c *Change) recordCounts(tx *postgres.Tx, done int, refused []contacts.Refused, size int64) error {
	wrong := []Failure{}
	for _, r := range refused {
		e := Failure{ContactID: r.ID, Code: string(r.Fault.Code), Detail: r.Fault.Detail}
		if len(r.Fault.Fields) > 0 {
			e.Code = r.Fault.Fields[0].Code
			e.Detail = r.Fault.Fields[0].Detail
		}
		if len(c.Errors)+len(wrong) < errorsKept {
			wrong = append(wrong, e)
		}
	}

	more, err := json.Marshal(wrong)
	if err != nil {
		return fmt.Errorf("encode errors: %w", err)
	}

	changed := int64(done)
	failed := int64(len(refused))
	tx.Queue(`UPDATE contact_bulk SET rows_changed = rows_changed + $3, rows_unchanged = rows_unchanged + $4,
		rows_failed = rows_failed + $5, errors = errors || $6::jsonb, updated_at = $7
		WHERE org_id = $1 AND id = $2`, tx.Org(), c.ID, changed, size-changed-failed, failed, string(more), wire.Now())
	return nil
}

func (w Worker) applyAction(ctx context.Context, tx *postgres.Tx, a *Action, ids []id.ID) ([]contacts.Change,
	[]contacts.Refused, error,
) {
	switch a.Type {
	case Archive:
		done, err := contacts.ArchiveAll(ctx, tx, ids)
		return done, nil, err
	case Restore:
		var room *contacts.Room
		if w.Room != nil {
			var err error
			if room, err = w.Room(ctx, tx); err != nil {
				return nil, nil, err
			}
		}
		return contacts.RestoreAll(ctx, tx, ids, room)
	case Update, Tag, Segment, RenameTag, DeleteTag:
	}

	patch, err := a.patchBuilder()
	if err != nil {
		return nil, nil, err
	}

	return contacts.BulkUpdate(ctx, tx, ids, a.Scope(), patch, w.Rate)
}

// planAction returns how many of the contacts the action would change, and those to which it could not be applied. For
// Restore it does not find those: whether an address is taken, or the org's plan has room, is seen when it is done.
func (w Worker) planAction(ctx context.Context, tx *postgres.Tx, a *Action, ids []id.ID) (int, []contacts.Refused,
	error,
) {
	if a.Type == Archive || a.Type == Restore {
		rows, err := contacts.LockAll(ctx, tx, ids, a.Scope())
		return len(rows), nil, err
	}
	patch, err := a.patchBuilder()
	if err != nil {
		return 0, nil, err
	}
	changed, refused, err := contacts.PlanBulkUpdate(ctx, tx, ids, a.Scope(), patch, w.Rate)
	return len(changed), refused, err
}
