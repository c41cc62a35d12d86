package contacts

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/jackc/pgx/v5"

	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
)

// rowColumns lists the columns that scan reads, from contact c and contact_score s of the org $1. bareColumns is
// rowColumns without segments and without the epoch of the ETag.
var (
	rowColumns  = sharedColumns + `, s.segments, ` + computed + `, ` + memberships
	bareColumns = sharedColumns + `, '{}'::text[], s.computed, NULL::text[]`

	sharedColumns = joinColumns(readColumns, func(_ int, c *contactColumn) string { return "c." + c.name }) +
		`, c.archived_at, c.edit, s.score, s.probability, s.confidence, s.version, s.engagement`
	readColumns = slices.DeleteFunc(slices.Clone(contactColumns), func(c contactColumn) bool { return c.target == nil })
)

// both joins a contact with its score.
const both = `FROM contact c JOIN contact_score s ON s.org_id = c.org_id AND s.contact_id = c.id`

func scanRow(row pgx.CollectableRow) (Row, error) { return scanWith(row) }

// scanWith scans a row and stores the columns after rowColumns in more.
func scanWith(row pgx.CollectableRow, more ...any) (Row, error) {
	var (
		s    scannedRow
		room [32]any
	)
	targets := room[:0]
	for i := range readColumns {
		targets = append(targets, readColumns[i].target(&s))
	}

	targets = append(targets, &s.ArchivedAt, &s.Edit, &s.LeadScore, &s.Score.Probability, &s.Score.Confidence,
		&s.Score.ModelVersion, &s.Engagement, &s.segments, &s.Computed, &s.memberships)
	if err := row.Scan(append(targets, more...)...); err != nil {
		return s.Row, err
	}

	s.setSegments(s.segments, s.memberships)
	s.Attributes = map[string]any{}
	if len(s.attributes) > len("{}") {
		if err := json.Unmarshal(s.attributes, &s.Attributes); err != nil {
			return s.Row, fmt.Errorf("decode attributes: %w", err)
		}
	}

	return s.Row, nil
}

// rereadSegments reads the segments and the ETag of locked rows again. A statement that waited for a row lock sees the
// locked rows in their new version, but the joined rows in their old version.
func rereadSegments(ctx context.Context, tx *postgres.Tx, rows []*Row) error {
	byID := make(map[id.ID]*Row, len(rows))
	ids := make([]id.ID, len(rows))
	for i, r := range rows {
		byID[r.ID] = r
		ids[i] = r.ID
	}

	found, err := tx.Query(ctx,
		`SELECT c.id, s.segments, `+computed+`, `+memberships+` `+both+
			` WHERE c.org_id = $1 AND s.org_id = $1 AND c.id = ANY ($2::uuid[])`, tx.Org(), ids)
	if err != nil {
		return fmt.Errorf("read memberships: %w", err)
	}

	var (
		i            id.ID
		stored, says []string
		tag          int
	)
	_, err = pgx.ForEachRow(found, []any{&i, &stored, &tag, &says}, func() error {
		byID[i].setSegments(slices.Clone(stored), slices.Clone(says))
		byID[i].Computed = tag
		return nil
	})
	if err != nil {
		return fmt.Errorf("read memberships: %w", err)
	}

	return nil
}

// rereadAllSegments calls rereadSegments if the org has a segment_watch row.
func rereadAllSegments(ctx context.Context, tx *postgres.Tx, rows []Row) error {
	if len(rows) == 0 || rows[0].Dynamic == nil {
		return nil
	}
	all := make([]*Row, len(rows))
	for i := range rows {
		all[i] = &rows[i]
	}
	return rereadSegments(ctx, tx, all)
}

// Bare returns the existing contacts, live and archived, without their segments, in the order of their ids. Segment
// filters are evaluated on them.
func Bare(ctx context.Context, tx *postgres.Tx, ids []id.ID) ([]Row, error) {
	rows, err := tx.Query(ctx,
		`SELECT `+bareColumns+` `+both+
			` WHERE c.org_id = $1 AND s.org_id = $1 AND c.id = ANY ($2::uuid[]) ORDER BY c.id`, tx.Org(), ids)
	if err != nil {
		return nil, fmt.Errorf("read contacts: %w", err)
	}
	found, err := pgx.CollectRows(rows, scanRow)
	if err != nil {
		return nil, fmt.Errorf("read contacts: %w", err)
	}
	return found, nil
}
