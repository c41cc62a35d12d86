package contacts

import (
	"context"
	"fmt"
	"slices"

	"github.com/jackc/pgx/v5"

	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
)

// contact_score.segments holds the static segments of a contact, as its writers left them. An org that has, or had, a
// dynamic segment or an archived one has a row in segment_watch; there the rows of segment_member say the rest: what
// a million contacts are in is not written to a million contacts.

// memberships is that rest of contact c of the org $1: the keys of the dynamic segments that it is in, each after a
// plus, and those of its static ones that are archived, each after a minus. NULL where there is nothing to look for.
const memberships = `CASE WHEN EXISTS (SELECT FROM segment_watch w WHERE w.org_id = $1) THEN
	ARRAY(SELECT '+' || g.key FROM segment_member m JOIN segment g ON g.org_id = $1 AND g.id = m.segment_id
		WHERE m.org_id = $1 AND m.contact_id = c.id AND g.kind = 'dynamic' AND g.archived_at IS NULL ORDER BY g.key)
	|| ARRAY(SELECT '-' || g.key FROM segment g WHERE g.org_id = $1 AND g.key = ANY (s.segments) AND g.archived_at IS NOT NULL) END`

// computed is the ETag's second part of contact_score s of the org $1. The epoch moves where contacts come into
// segments, or leave them, by the thousands.
const computed = `s.computed + coalesce((SELECT w.epoch FROM segment_watch w WHERE w.org_id = $1), 0)`

// join makes the segments of r of those stored with it and of what memberships says.
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
	r.Segment = r.settle(without(stored, r.Shelved))
}

// settle is what Segment becomes when named are asked for: dynamic ones neither come nor go by that.
func (r *Row) settle(named []string) []string {
	return append(list(without(named, r.Dynamic)), r.Dynamic...)
}

// stored is what contact_score.segments holds where Segment is shown.
func (r *Row) stored(shown []string) []string {
	return append(list(without(shown, r.Dynamic)), r.Shelved...)
}

// rejoin reads the segments and the ETag of locked rows once more. A statement that waited for a lock has the rows as
// they became, but what it joins to them as it was before.
func rejoin(ctx context.Context, tx *postgres.Tx, rows []*Row) error {
	byID, ids := make(map[id.ID]*Row, len(rows)), make([]id.ID, len(rows))
	for i, r := range rows {
		byID[r.ID], ids[i] = r, r.ID
	}
	found, err := tx.Query(ctx, `SELECT c.id, s.segments, `+computed+`, `+memberships+` `+both+` WHERE c.org_id = $1 AND s.org_id = $1 AND c.id = ANY ($2::uuid[])`, tx.Org(), ids)
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

// rejoinAll is rejoin where the org needs it.
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

const bareColumns = `c.id, c.email, c.first_name, c.last_name, c.phone, c.job_title, c.source, c.time_zone, c.company_id, c.stage, c.tags,
	'{}'::text[], c.attributes, s.score, s.probability, s.confidence, s.version, c.owner_id, c.created_at, c.updated_at, c.archived_at, c.edit, s.computed, NULL::text[]`

// Bare answers those of the contacts that there are, live and archived, without their segments: what the filters of
// segments are held against. They come in the order of their ids.
func Bare(ctx context.Context, tx *postgres.Tx, ids []id.ID) ([]Row, error) {
	rows, err := tx.Query(ctx, `SELECT `+bareColumns+` `+both+` WHERE c.org_id = $1 AND s.org_id = $1 AND c.id = ANY ($2::uuid[]) ORDER BY c.id`, tx.Org(), ids)
	if err != nil {
		return nil, fmt.Errorf("read contacts: %w", err)
	}
	found, err := pgx.CollectRows(rows, scan)
	if err != nil {
		return nil, fmt.Errorf("read contacts: %w", err)
	}
	return found, nil
}
