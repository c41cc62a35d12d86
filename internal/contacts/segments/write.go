package segments

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/funnelwork/funnelwork/internal/fault"
	"github.com/funnelwork/funnelwork/internal/filter"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/wire"
)

// New holds the parameters of a new segment.
type New struct {
	Key    string // "": derived from the name
	Name   string
	Kind   Kind   // "": dynamic with a filter, static without
	Filter []byte // JSON; nil for a static segment
}

// lockWrites serializes the transactions that create, change or archive segments of the org, so that counts remain
// valid.
func lockWrites(tx *postgres.Tx) {
	tx.Queue(`SELECT pg_advisory_xact_lock(hashtextextended('segment', hashtextextended($1::uuid::text, 0)))`, tx.Org())
}

// Create creates a segment. A dynamic segment is building until Sync has found its members. A key that another segment
// has, live or archived, is a conflict that names that segment. A 201st segment and an invalid field are validation
// faults; an invalid filter is invalid_filter.
func Create(ctx context.Context, tx *postgres.Tx, n New) (Row, error) {
	if n.Kind == "" {
		if n.Kind = Static; n.Filter != nil {
			n.Kind = Dynamic
		}
	}
	bad := checkName(n.Name)
	if n.Key != "" {
		bad = append(bad, checkKey(n.Key)...)
	}
	switch {
	case n.Kind == Dynamic && n.Filter == nil:
		bad = append(bad, fieldErrors("filter", "required", "A dynamic segment needs a filter.")...)
	case n.Kind == Static && n.Filter != nil:
		bad = append(bad, fieldErrors("filter", "not_allowed", "A static segment has no filter.")...)
	}

	if err := invalidRequest(bad); err != nil {
		return Row{}, err
	}

	lockWrites(tx)
	var f *filter.Filter
	if n.Kind == Dynamic {
		var err error
		if f, err = parseFilter(ctx, tx, n.Filter); err != nil {
			return Row{}, err
		}
	}
	key := n.Key
	if key == "" {
		var err error
		if key, err = freeKey(ctx, tx, keyOf(n.Name)); err != nil {
			return Row{}, err
		}
	}

	return insertSegment(ctx, tx, key, n, f)
}

func insertSegment(ctx context.Context, tx *postgres.Tx, key string, n New, f *filter.Filter) (Row, error) {
	i := id.New()
	status := Ready
	var (
		canonical *string
		reads     = []string{}
	)
	if f != nil {
		s := string(f.JSON())
		canonical = &s
		reads = f.Fields()
		status = Building
		watchContacts(tx)
	}
	added, err := tx.Exec(ctx,
		`INSERT INTO segment (org_id, id, key, name, kind, filter, reads, status, generation, quiet, fresh,
			created_at, updated_at)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, 1, $9, $9, $10, $10) ON CONFLICT (org_id, key) DO NOTHING`,
		tx.Org(), i, key, n.Name, string(n.Kind), canonical, reads, status, f != nil, wire.Now())
	if err != nil {
		return Row{}, tooManyFault(err)
	}
	if added == 0 {
		return Row{}, keyTaken(ctx, tx, key)
	}

	return Get(ctx, tx, i, false)
}

// tooManyFault converts the refusal of a 201st segment to a fault.
func tooManyFault(err error) error {
	if pg, ok := errors.AsType[*pgconn.PgError](err); ok && pg.Code == "FW001" {
		return fault.Invalid("key", "too_many_segments", "An organization has at most "+strconv.Itoa(Max)+" segments.")
	}
	return fmt.Errorf("write segment: %w", err)
}

func keyTaken(ctx context.Context, tx *postgres.Tx, key string) error {
	var holder id.ID
	if err := tx.QueryRow(ctx, `SELECT id FROM segment WHERE org_id = $1 AND key = $2`, []any{tx.Org(), key},
		&holder); err != nil {
		return fmt.Errorf("look up the segment with the key: %w", err)
	}
	f := fault.New(fault.Conflict, "A segment with this key exists, or is archived.")
	f.ExistingID = holder.String()
	return f
}

// freeKey returns key, or key with the first unused number.
func freeKey(ctx context.Context, tx *postgres.Tx, key string) (string, error) {
	rows, err := tx.Query(ctx, `SELECT key FROM segment WHERE org_id = $1 AND starts_with(key, $2)`, tx.Org(), key)
	if err != nil {
		return "", fmt.Errorf("look up keys: %w", err)
	}

	found, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		return "", fmt.Errorf("look up keys: %w", err)
	}

	used := make(map[string]bool, len(found))
	for _, k := range found {
		used[k] = true
	}

	out := key
	for n := 2; used[out]; n++ {
		out = key + "-" + strconv.Itoa(n)
	}

	return out, nil
}

// watchContacts enables marks for changed contacts of the org. Transactions that began earlier may not see it.
func watchContacts(tx *postgres.Tx) {
	tx.Queue(`INSERT INTO segment_watch (org_id, watching) VALUES ($1, true) ON CONFLICT (org_id) DO UPDATE
		SET watching = true, waits_for = CASE WHEN segment_watch.watching THEN segment_watch.waits_for END`, tx.Org())
}

// Patch is a merge patch of a segment.
type Patch struct {
	Name   wire.Field[string]
	Filter wire.Field[[]byte]
}

// Update applies p to the live segment i. It passes the locked segment to allow and returns its error. A different
// filter sets the status to building: Sync then updates the members. A patch without effect writes nothing.
func Update(ctx context.Context, tx *postgres.Tx, i id.ID, allow func(*Row) error, p Patch) (Row, error) {
	lockWrites(tx)
	r, err := lockRow(ctx, tx, i, false)
	if err != nil {
		return Row{}, err
	}
	if err := allow(&r); err != nil {
		return Row{}, err
	}

	var bad []fault.FieldError
	name := r.Name
	if p.Name.Set {
		if name = p.Name.Value; p.Name.Null {
			bad = fieldErrors("name", "not_nullable", "This field cannot be null.")
		} else {
			bad = checkName(name)
		}
	}
	refilter := p.Filter.Set && (!p.Filter.Null || r.Kind == Dynamic)
	switch {
	case refilter && r.Kind == Static:
		bad = append(bad, fieldErrors("filter", "not_allowed", "A static segment has no filter.")...)
	case refilter && p.Filter.Null:
		bad = append(bad, fieldErrors("filter", "not_nullable", "This field cannot be null.")...)
	}

	if err := invalidRequest(bad); err != nil {
		return Row{}, err
	}
	if refilter {
		f, err := parseFilter(ctx, tx, p.Filter.Value)
		if err != nil {
			return Row{}, err
		}
		if refilter = string(f.JSON()) != string(r.raw); refilter {
			tx.Queue(`UPDATE segment SET filter = $3, reads = $4 WHERE org_id = $1 AND id = $2`, tx.Org(), i,
				string(f.JSON()), f.Fields())
			startRebuild(tx, i)
		}
	}
	if name == r.Name && !refilter {
		return r, nil
	}

	tx.Queue(`UPDATE segment SET name = $3, updated_at = $4, edit = edit + 1 WHERE org_id = $1 AND id = $2`, tx.Org(),
		i, name, wire.Now())
	return Get(ctx, tx, i, false)
}

// startRebuild makes Sync evaluate the filter on all contacts again.
func startRebuild(tx *postgres.Tx, i id.ID) {
	tx.Queue(`UPDATE segment SET status = 'building', generation = generation + 1, fresh = false, built_shelf =
		false, built_at = NULL, built_id = NULL
		WHERE org_id = $1 AND id = $2`, tx.Org(), i)
}

// Archive hides the segment from lists, look-ups and contacts, and leaves its member rows unchanged. It does nothing if
// the segment is already archived, and then does not call allow.
func Archive(ctx context.Context, tx *postgres.Tx, i id.ID, allow func(*Row) error) error {
	lockWrites(tx)
	r, err := lockRow(ctx, tx, i, true)
	if err != nil || r.ArchivedAt != nil {
		return err
	}
	if err := allow(&r); err != nil {
		return err
	}

	now := wire.Now()
	tx.Queue(`UPDATE segment SET archived_at = $3, updated_at = $3, edit = edit + 1 WHERE org_id = $1 AND id = $2`,
		tx.Org(), i, now)
	tx.Queue(`INSERT INTO segment_watch (org_id, epoch) VALUES ($1, 1) ON CONFLICT (org_id) DO UPDATE
		SET epoch = segment_watch.epoch + 1,
		watching = EXISTS (SELECT FROM segment WHERE org_id = $1 AND kind = 'dynamic' AND archived_at IS NULL)`,
		tx.Org())
	return tx.Flush(ctx)
}

// Restore undoes Archive. It does nothing if the segment is live. A dynamic segment is building until Sync has caught
// up. A filter with removed custom fields is a conflict, a 201st segment a validation fault.
func Restore(ctx context.Context, tx *postgres.Tx, i id.ID) (Row, error) {
	lockWrites(tx)
	r, err := lockRow(ctx, tx, i, true)
	if err != nil || r.ArchivedAt == nil {
		return r, err
	}

	live, err := Count(ctx, tx, Filter{})
	if err != nil {
		return Row{}, err
	}
	if live >= Max {
		return Row{},
			fault.Invalid("key", "too_many_segments", "An organization has at most "+strconv.Itoa(Max)+" segments.")
	}
	if r.Kind == Dynamic {
		if _, err := parseFilter(ctx, tx, r.raw); err != nil {
			if fault.Is(err, fault.InvalidFilter) {
				return Row{},
					fault.New(fault.Conflict,
						"Its filter reads a custom field that is archived, or of another type now.").Because(err)
			}
			return Row{}, err
		}
		startRebuild(tx, i)
		watchContacts(tx)
	}
	tx.Queue(`UPDATE segment SET archived_at = NULL, updated_at = $3, edit = edit + 1 WHERE org_id = $1 AND id = $2`,
		tx.Org(), i, wire.Now())
	tx.Queue(`UPDATE segment_watch SET epoch = epoch + 1 WHERE org_id = $1`, tx.Org())
	return Get(ctx, tx, i, false)
}
