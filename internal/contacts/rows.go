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

// columns lists the columns that scan reads, from contact c and contact_score s of the org $1.
const columns = `c.id, c.email, c.first_name, c.last_name, c.phone, c.job_title, c.source, c.time_zone, c.company_id, c.stage, c.tags,
	s.segments, c.attributes, s.score, s.probability, s.confidence, s.version, c.owner_id, c.created_at, c.updated_at, c.archived_at, c.edit, ` + computed + `, ` + memberships

const bareColumns = `c.id, c.email, c.first_name, c.last_name, c.phone, c.job_title, c.source, c.time_zone, c.company_id, c.stage, c.tags,
	'{}'::text[], c.attributes, s.score, s.probability, s.confidence, s.version, c.owner_id, c.created_at, c.updated_at, c.archived_at, c.edit, s.computed, NULL::text[]`

// both joins a contact with its score.
const both = `FROM contact c JOIN contact_score s ON s.org_id = c.org_id AND s.contact_id = c.id`

func scan(row pgx.CollectableRow) (Row, error) { return scanWith(row) }

// scanWith scans a row and stores the columns after columns in more.
func scanWith(row pgx.CollectableRow, more ...any) (Row, error) {
	var (
		r            Row
		attrs        []byte
		stored, says []string
	)
	var room [26]any
	err := row.Scan(append(append(room[:0], &r.ID, &r.Email, &r.FirstName, &r.LastName, &r.Phone, &r.JobTitle,
		&r.Source, &r.TimeZone, &r.CompanyID, &r.Stage, &r.Tag,
		&stored, &attrs, &r.LeadScore, &r.Score.Probability, &r.Score.Confidence, &r.Score.ModelVersion, &r.OwnerID,
		&r.CreatedAt, &r.UpdatedAt,
		&r.ArchivedAt, &r.Edit, &r.Computed, &says), more...)...)
	if err != nil {
		return r, err
	}
	r.join(stored, says)
	r.Attributes = map[string]any{}
	if len(attrs) > len("{}") {
		err = json.Unmarshal(attrs, &r.Attributes)
	}
	return r, err
}

// rejoin reads the segments and the ETag of locked rows again. A statement that waited for a row lock sees the locked
// rows in their new version, but the joined rows in their old version.
func rejoin(ctx context.Context, tx *postgres.Tx, rows []*Row) error {
	byID, ids := make(map[id.ID]*Row, len(rows)), make([]id.ID, len(rows))
	for i, r := range rows {
		byID[r.ID], ids[i] = r, r.ID
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
		byID[i].join(slices.Clone(stored), slices.Clone(says))
		byID[i].Computed = tag
		return nil
	})
	if err != nil {
		return fmt.Errorf("read memberships: %w", err)
	}
	return nil
}

// rejoinAll calls rejoin if the org has a segment_watch row.
func rejoinAll(ctx context.Context, tx *postgres.Tx, rows []Row) error {
	if len(rows) == 0 || rows[0].Dynamic == nil {
		return nil
	}
	all := make([]*Row, len(rows))
	for i := range rows {
		all[i] = &rows[i]
	}
	return rejoin(ctx, tx, all)
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
	found, err := pgx.CollectRows(rows, scan)
	if err != nil {
		return nil, fmt.Errorf("read contacts: %w", err)
	}
	return found, nil
}
