package contacts

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/funnelwork/funnelwork/internal/compare"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/wire"
)

// ArchiveAll archives the live ones among the contacts.
func ArchiveAll(ctx context.Context, tx *postgres.Tx, ids []id.ID) ([]Change, error) {
	rows, err := LockAll(ctx, tx, ids, Live)
	if err != nil {
		return nil, err
	}
	return archivedChanges(tx, rows, true, repeatNow(len(rows))), tx.Flush(ctx)
}

// ArchiveRows queues the archiving of rows, which the transaction must have locked, and returns the changes.
func ArchiveRows(tx *postgres.Tx, rows []Row, at wire.Time) []Change {
	moments := make([]wire.Time, len(rows))
	for i := range moments {
		moments[i] = at
	}
	return archivedChanges(tx, rows, true, moments)
}

// ArchiveLocked is ArchiveAll for rows that the caller has locked. It queues its writes.
func ArchiveLocked(tx *postgres.Tx, rows []Row) []Change {
	return archivedChanges(tx, rows, true, repeatNow(len(rows)))
}

// RestoreAll restores the archived ones among the contacts, as long as room allows; a nil room means no limit. A
// contact with an address that another contact has is refused. If two of the contacts share an address, the one with
// the lower id gets it. An address that is taken concurrently is an error, and the transaction must be retried.
func RestoreAll(ctx context.Context, tx *postgres.Tx, ids []id.ID, room *Room) (restored []Change, refused []Refused,
	err error,
) {
	rows, err := LockAll(ctx, tx, ids, Archived)
	if err != nil {
		return nil, nil, err
	}

	holders, err := findHolders(ctx, tx, rows)
	if err != nil {
		return nil, nil, err
	}

	fit := rows[:0]
	for i := range rows {
		switch taken := holders.refuse(&rows[i]); {
		case taken != nil:
			refused = append(refused, Refused{rows[i].ID, taken})
		case room != nil && int64(len(fit)) >= room.Left:
			refused = append(refused, Refused{rows[i].ID, room.Full})
		default:
			holders.add(&rows[i])
			fit = append(fit, rows[i])
		}
	}

	return archivedChanges(tx, fit, false, repeatNow(len(fit))), refused, tx.Flush(ctx)
}

// RestoreRows is RestoreAll for rows that the transaction has locked. moments are the new values of updated_at.
func RestoreRows(ctx context.Context, tx *postgres.Tx, rows []Row, moments []wire.Time) (restored []Change,
	refused []Refused, err error,
) {
	if len(rows) == 0 {
		return nil, nil, nil
	}

	holders, err := findHolders(ctx, tx, rows)
	if err != nil {
		return nil, nil, err
	}

	for i := range rows {
		if taken := holders.refuse(&rows[i]); taken != nil {
			refused = append(refused, Refused{rows[i].ID, taken})
		}
		holders.add(&rows[i])
	}

	if len(refused) > 0 {
		return nil, refused, nil
	}

	return archivedChanges(tx, rows, false, moments), nil, nil
}

// findAddressHolders returns the live contacts that have the rows' addresses, by address.
func findAddressHolders(ctx context.Context, tx *postgres.Tx, of []Row) (map[string]id.ID, error) {
	addresses := make([]string, len(of))
	for i := range of {
		addresses[i] = compare.Address(of[i].Email)
	}

	rows, err := tx.Query(ctx,
		`SELECT a.email, h.id FROM unnest($2::text[]) AS a (email) CROSS JOIN LATERAL (
			SELECT id FROM contact WHERE org_id = $1 AND archived_at IS NULL AND email_folded = a.email LIMIT 1) h`,
		tx.Org(), addresses)
	if err != nil {
		return nil, fmt.Errorf("look up contacts by address: %w", err)
	}

	found := map[string]id.ID{}
	var (
		address string
		holder  id.ID
	)
	if _, err := pgx.ForEachRow(rows, []any{&address, &holder}, func() error {
		found[address] = holder
		return nil
	}); err != nil {
		return nil, fmt.Errorf("look up contacts by address: %w", err)
	}

	return found, nil
}

func archivedChanges(tx *postgres.Tx, rows []Row, archived bool, moments []wire.Time) []Change {
	all := make([]Change, len(rows))
	for i := range rows {
		all[i] = Change{
			Row: rows[i], before: rows[i].Contact,
			Previous: map[string]any{"archived_at": rows[i].ArchivedAt},
		}
		all[i].UpdatedAt, all[i].Edit, all[i].ArchivedAt = moments[i], rows[i].Edit+1, nil
		if archived {
			all[i].ArchivedAt = &moments[i]
		}
	}
	setArchivedAll(tx, all)
	return all
}

func repeatNow(n int) []wire.Time {
	all := make([]wire.Time, n)
	now := wire.Now()
	for i := range all {
		all[i] = now
	}
	return all
}

// setArchivedAll queues the archiving or restoring of contacts, with each contact's updated_at.
func setArchivedAll(tx *postgres.Tx, all []Change) {
	if len(all) == 0 {
		return
	}

	ids := make([]id.ID, len(all))
	moments := make([]wire.Time, len(all))
	archived := all[0].ArchivedAt != nil
	var tags sideRows
	for i := range all {
		ids[i], moments[i] = all[i].ID, all[i].UpdatedAt
		tags.add(&all[i].before, all[i].Tag...)
	}

	convertTaken(tx.Queue(`WITH moved AS (UPDATE contact c SET archived_at = CASE
		WHEN $4 THEN x.at END, updated_at = x.at, edit = c.edit + 1
			FROM unnest($2::uuid[], $3::timestamptz[]) AS x (id, at) WHERE c.org_id = $1 AND c.id = x.id
			AND (c.archived_at IS NULL) = $4 RETURNING 1)
		SELECT quota_noted($1, 'contacts', CASE WHEN $4 THEN -1 ELSE 1 END, (SELECT count(*) FROM moved))`, tx.Org(),
		ids, moments, archived), "", externalIDsOf(contactsOf(all)))
	tx.Queue(`UPDATE contact_score SET archived = $3 WHERE org_id = $1 AND contact_id = ANY ($2::uuid[])`, tx.Org(),
		ids, archived)
	tags.queue(tx, `UPDATE contact_tag t SET archived = NOT x.archived FROM x
		WHERE t.org_id = $1 AND t.tag = x.key AND t.archived = x.archived AND t.created_at = x.at
		AND t.contact_id = x.id`)
	// The sync job moves the rows of dynamic segments, because it also announces them.
	tx.Queue(`UPDATE segment_member m SET archived = $3 FROM segment s WHERE s.org_id = $1 AND s.id = m.segment_id
		AND s.kind = 'static'
		AND m.org_id = $1 AND m.contact_id = ANY ($2::uuid[]) AND m.archived = NOT $3`, tx.Org(), ids, archived)
	tx.Queue(`UPDATE contact_attribute SET archived = $3 WHERE org_id = $1 AND contact_id = ANY ($2::uuid[])`,
		tx.Org(), ids, archived)
}
