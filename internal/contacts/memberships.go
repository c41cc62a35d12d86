package contacts

import (
	"context"
	"fmt"
	"slices"

	"github.com/jackc/pgx/v5"

	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
)

// contact_score.segments holds the static segments of a contact as last written. An org that has, or had, a dynamic or
// an archived segment has a row in segment_watch; for such an org segment_member holds the remaining memberships. A
// membership that a million contacts share is therefore not written to a million contacts.

// memberships selects the remaining memberships of contact c of the org $1: the keys of its dynamic segments, each
// after a plus, and the keys of its archived static segments, each after a minus. It is NULL if the org has no
// segment_watch row.
const memberships = `CASE WHEN EXISTS (SELECT FROM segment_watch w WHERE w.org_id = $1) THEN
	ARRAY(SELECT '+' || g.key FROM segment_member m JOIN segment g ON g.org_id = $1 AND g.id = m.segment_id
		WHERE m.org_id = $1 AND m.contact_id = c.id AND g.kind = 'dynamic' AND g.archived_at IS NULL ORDER BY g.key)
	|| ARRAY(SELECT '-' || g.key FROM segment g WHERE g.org_id = $1 AND g.key = ANY (s.segments)
	AND g.archived_at IS NOT NULL) END`

// computed selects the second part of the ETag for contact_score s of the org $1. The epoch is incremented when
// thousands of contacts enter or leave a segment.
const computed = `s.computed + coalesce((SELECT w.epoch FROM segment_watch w WHERE w.org_id = $1), 0)`

// join sets the segments of r from the stored static segments and the result of memberships.
func (r *Row) join(stored, says []string) {
	r.Segment, r.Dynamic, r.Shelved = stored, nil, nil
	if says == nil {
		return
	}
	r.Dynamic = []string{}
	for _, s := range says {
		if s[0] == '+' {
			r.Dynamic = append(r.Dynamic, s[1:])
		} else {
			r.Shelved = append(r.Shelved, s[1:])
		}
	}
	r.Segment = r.mergeSegments(without(stored, r.Shelved))
}

// mergeSegments returns the value of Segment for requested keys: requests neither add nor remove dynamic segments.
func (r *Row) mergeSegments(named []string) []string {
	return append(list(without(named, r.Dynamic)), r.Dynamic...)
}

// stored returns the value of contact_score.segments for the shown segments.
func (r *Row) stored(shown []string) []string {
	return append(list(without(shown, r.Dynamic)), r.Shelved...)
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

const bareColumns = `c.id, c.email, c.first_name, c.last_name, c.phone, c.job_title, c.source, c.time_zone,
	c.company_id, c.stage, c.tags,
	'{}'::text[], c.attributes, s.score, s.probability, s.confidence, s.version, c.owner_id, c.created_at,
	c.updated_at, c.archived_at, c.edit, s.computed, NULL::text[]`

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
