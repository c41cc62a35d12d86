package segments

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/funnelwork/funnelwork/internal/fault"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/wire"
)

// Kind determines how members are selected.
type Kind string

// Kinds of segments.
const (
	Static  Kind = "static"  // by the writers of contacts
	Dynamic Kind = "dynamic" // by the filter
)

// Statuses of a segment.
const (
	Building = "building" // members are being computed
	Ready    = "ready"
)

// Max is the maximum number of live segments of an org.
const Max = 200

// Segment is a set of contacts, as the API shows it.
type Segment struct {
	ID           id.ID          `json:"id" format:"uuid" doc:"ID of the segment"`
	Key          string         `json:"key" doc:"Identifies it in contacts and lists; immutable; reserved if archived"`
	Name         string         `json:"name" doc:"Display name of the segment"`
	Kind         Kind           `json:"kind" enum:"static,dynamic"`
	Filter       map[string]any `json:"filter" nullable:"true" doc:"Canonical filter of a dynamic segment, or null"`
	ContactCount int64          `json:"contact_count" doc:"Number of live contacts in the segment"`
	Status       string         `json:"status" enum:"building,ready" doc:"building: the members are still incomplete"`
	CreatedAt    wire.Time      `json:"created_at" format:"date-time" doc:"When the segment was created"`
	UpdatedAt    wire.Time      `json:"updated_at" format:"date-time"`
	ArchivedAt   *wire.Time     `json:"archived_at" format:"date-time"`
}

// Descriptions implements wire.Describer.
func (Segment) Descriptions() map[string]string {
	return map[string]string{
		"kind":        "static: contacts are added and removed; dynamic: membership follows filter",
		"updated_at":  "When the segment was last edited; membership does not change it",
		"archived_at": "When the segment was archived; null: it is live",
	}
}

// Row is a segment with the two counters of its ETag.
type Row struct {
	Segment
	Edit     int // incremented by every edit
	Computed int // incremented when members change
	raw      []byte
}

// selecting selects every segment g of the org $1. Its count includes the tallies that have not been added up yet.
const selecting = `SELECT g.id, g.key, g.name, g.kind, g.filter, g.counted + t.steps, g.status, g.created_at,
	g.updated_at, g.archived_at, g.edit, g.computed + t.n
FROM segment g CROSS JOIN LATERAL (
	SELECT coalesce(sum(step), 0)::bigint AS steps, count(*)::int AS n FROM segment_tally WHERE org_id = $1
	AND segment_id = g.id) AS t
WHERE g.org_id = $1`

func scanRow(row pgx.CollectableRow) (r Row, err error) {
	err = row.Scan(&r.ID, &r.Key, &r.Name, &r.Kind, &r.raw, &r.ContactCount, &r.Status, &r.CreatedAt, &r.UpdatedAt,
		&r.ArchivedAt, &r.Edit, &r.Computed)
	if err == nil && r.raw != nil {
		err = json.Unmarshal(r.raw, &r.Filter)
	}
	return r, err
}

func noSegment() *fault.Fault { return fault.New(fault.NotFound, "There is no such segment.") }

// Get returns one segment of the org. An archived segment is returned only with archivedToo. If there is no such
// segment, the error is a not_found fault.
func Get(ctx context.Context, tx *postgres.Tx, i id.ID, archivedToo bool) (Row, error) {
	return readRow(ctx, tx, selecting+` AND g.id = $2`, i, archivedToo)
}

// lockRow is Get with the row locked until the transaction ends.
func lockRow(ctx context.Context, tx *postgres.Tx, i id.ID, archivedToo bool) (Row, error) {
	return readRow(ctx, tx, selecting+` AND g.id = $2 FOR UPDATE OF g`, i, archivedToo)
}

func readRow(ctx context.Context, tx *postgres.Tx, sql string, i id.ID, archivedToo bool) (Row, error) {
	rows, err := tx.Query(ctx, sql, tx.Org(), i)
	if err != nil {
		return Row{}, fmt.Errorf("read segment: %w", err)
	}
	r, err := pgx.CollectExactlyOneRow(rows, scanRow)
	switch {
	case postgres.None(err):
		return Row{}, noSegment()
	case err != nil:
		return Row{}, fmt.Errorf("read segment: %w", err)
	case r.ArchivedAt != nil && !archivedToo:
		return Row{}, noSegment()
	}
	return r, nil
}

// Filter selects the segments of a list.
type Filter struct {
	Archived bool // select archived segments instead of live ones
	Kind     Kind // "": both
}

// List returns at most limit segments, newest first, starting after the segment with the id after, or at the beginning
// for the zero id.
func List(ctx context.Context, tx *postgres.Tx, f Filter, after id.ID, limit int) ([]Row, error) {
	rows, err := tx.Query(ctx,
		selecting+
			` AND (g.archived_at IS NOT NULL) = $2 AND ($3 = '' OR g.kind = $3) AND ($4::uuid = $5::uuid
				OR g.id < $4) ORDER BY g.id DESC LIMIT $6`,
		tx.Org(), f.Archived, string(f.Kind), after, id.ID{}, limit)
	if err != nil {
		return nil, fmt.Errorf("list segments: %w", err)
	}
	found, err := pgx.CollectRows(rows, scanRow)
	if err != nil {
		return nil, fmt.Errorf("list segments: %w", err)
	}
	return found, nil
}

// Count returns the number of segments that f selects.
func Count(ctx context.Context, tx *postgres.Tx, f Filter) (n int64, err error) {
	err = tx.QueryRow(ctx,
		`SELECT count(*) FROM segment g WHERE g.org_id = $1 AND (g.archived_at IS NOT NULL) = $2 AND ($3 = ''
			OR g.kind = $3)`,
		[]any{tx.Org(), f.Archived, string(f.Kind)}, &n)
	return n, err
}

// Named returns id, key and name of every live segment of the org, newest first.
func Named(ctx context.Context, tx *postgres.Tx) ([]Segment, error) {
	rows, err := tx.Query(ctx, `SELECT id, key, name FROM segment WHERE org_id = $1 AND archived_at IS NULL
		ORDER BY id DESC LIMIT $2`, tx.Org(), Max)
	if err != nil {
		return nil, fmt.Errorf("list segments: %w", err)
	}
	all, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (s Segment, err error) {
		return s, row.Scan(&s.ID, &s.Key, &s.Name)
	})
	if err != nil {
		return nil, fmt.Errorf("list segments: %w", err)
	}
	return all, nil
}
