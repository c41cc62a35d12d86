package contacts

import (
	"bytes"
	"context"
	"fmt"
	"slices"

	"github.com/jackc/pgx/v5"

	"github.com/funnelwork/funnelwork/internal/fault"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/wire"
)

// Refused is a contact to which a bulk update could not be applied. The other contacts are changed nevertheless.
type Refused struct {
	ID    id.ID
	Fault *fault.Fault
}

// Scope selects which of the named contacts a bulk update applies to. It leaves the other contacts unchanged.
type Scope int

// Scopes of a bulk update.
const (
	Live Scope = iota
	Archived
	LiveAndArchived
)

func (s Scope) sql() string {
	switch s {
	case Archived:
		return ` AND c.archived_at IS NOT NULL`
	case LiveAndArchived:
		return ``
	case Live:
	}
	return ` AND c.archived_at IS NULL`
}

// LockAll reads the contacts that are in the scope and locks their rows until the transaction ends. It locks them in
// the order of their ids, so that concurrent calls cannot deadlock.
func LockAll(ctx context.Context, tx *postgres.Tx, ids []id.ID, s Scope) ([]Row, error) {
	ByKeys(tx)
	rows, err := tx.Query(ctx,
		`SELECT `+columns+` `+both+
			` WHERE c.org_id = $1 AND s.org_id = $1 AND c.id = ANY ($2::uuid[]) AND s.contact_id = ANY ($2::uuid[])`+
			s.sql()+` ORDER BY c.id FOR UPDATE OF c, s`, tx.Org(), ids)
	if err != nil {
		return nil, fmt.Errorf("lock contacts: %w", err)
	}
	found, err := pgx.CollectRows(rows, scan)
	if err != nil {
		return nil, fmt.Errorf("lock contacts: %w", err)
	}
	return found, rejoinAll(ctx, tx, found)
}

// BulkUpdate applies to each contact in the scope the patch that patch returns for it, re-scores the contact and
// returns the changes. A patch must not set an address. A contact to which its patch cannot be applied is left
// unchanged.
//
// It reads everything at once and writes everything at once. If a concurrent transaction defines a custom field, it
// fails and the transaction must be retried.
func BulkUpdate(ctx context.Context, tx *postgres.Tx, ids []id.ID, s Scope, patch func(c *Contact) Patch,
	rate Scorer,
) (changed []Change, refused []Refused, err error) {
	b := newBatch(tx, rate)
	b.ask(true, true)
	rows, err := LockAll(ctx, tx, ids, s)
	if err != nil {
		return nil, nil, err
	}
	for i := range rows {
		p := patch(&rows[i].Contact)
		p.Email = wire.Field[string]{}
		ch, err := next(&rows[i], &p, "", rate)
		if err == nil {
			if f := b.allowed(&rows[i].Contact, &ch.Contact, ""); f != nil {
				err = f
			}
		}
		switch f := fault.Of(err); {
		case f != nil:
			refused = append(refused, Refused{rows[i].ID, f})
		case err != nil:
			return nil, nil, err
		case ch.Changed():
			changed = append(changed, ch)
		}
	}
	makeSegments(tx, b.newKeys)
	b.define()
	if err := updateAll(tx, changed); err != nil {
		return nil, nil, err
	}
	return changed, refused, tx.Flush(ctx)
}

// ValidatePatch validates a patch for many contacts, as far as that does not depend on the contact. It returns nil for
// a valid patch. path is the JSON pointer to the patch.
func ValidatePatch(ctx context.Context, tx *postgres.Tx, p *Patch, path string) error {
	blank := Contact{Stage: DefaultStage, Attributes: map[string]any{}}
	c := blank
	wrong := p.apply(&c, path)
	if p.Email.Set {
		wrong = append(wrong,
			fault.Field{
				Pointer: "#/" + path + "email", Code: "not_allowed",
				Detail: "An address belongs to one contact.",
			})
	}
	if err := invalid(wrong); err != nil {
		return err
	}
	b := newBatch(tx, nil)
	b.ask(true, true)
	if err := tx.Flush(ctx); err != nil {
		return err
	}
	if f := b.allowed(&blank, &c, path); f != nil {
		return invalid(f.Fields)
	}
	return nil
}

// ArchiveAll archives the live ones among the contacts.
func ArchiveAll(ctx context.Context, tx *postgres.Tx, ids []id.ID) ([]Change, error) {
	rows, err := LockAll(ctx, tx, ids, Live)
	if err != nil {
		return nil, err
	}
	return archivedChanges(tx, rows, true, nows(len(rows))), tx.Flush(ctx)
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
	holders, err := holders(ctx, tx, rows)
	if err != nil {
		return nil, nil, err
	}
	fit := rows[:0]
	for i := range rows {
		address := Fold(rows[i].Email)
		switch holder, taken := holders[address]; {
		case taken:
			refused = append(refused, Refused{rows[i].ID, Exists(holder)})
		case room != nil && int64(len(fit)) >= room.Left:
			refused = append(refused, Refused{rows[i].ID, room.Full})
		default:
			holders[address] = rows[i].ID
			fit = append(fit, rows[i])
		}
	}
	return archivedChanges(tx, fit, false, nows(len(fit))), refused, tx.Flush(ctx)
}

// holders returns the live contacts that have the rows' addresses, by address.
func holders(ctx context.Context, tx *postgres.Tx, of []Row) (map[string]id.ID, error) {
	addresses := make([]string, len(of))
	for i := range of {
		addresses[i] = Fold(of[i].Email)
	}
	rows, err := tx.Query(ctx,
		`SELECT email_folded, id FROM contact WHERE org_id = $1 AND archived_at IS NULL
			AND email_folded = ANY ($2::text[])`, tx.Org(), addresses)
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

// ArchiveRows queues the archiving of rows, which the transaction must have locked, and returns the changes.
func ArchiveRows(tx *postgres.Tx, rows []Row, at wire.Time) []Change {
	moments := make([]wire.Time, len(rows))
	for i := range moments {
		moments[i] = at
	}
	return archivedChanges(tx, rows, true, moments)
}

// RestoreRows is RestoreAll for rows that the transaction has locked. moments are the new values of updated_at.
func RestoreRows(ctx context.Context, tx *postgres.Tx, rows []Row, moments []wire.Time) (restored []Change,
	refused []Refused, err error,
) {
	if len(rows) == 0 {
		return nil, nil, nil
	}
	holders, err := holders(ctx, tx, rows)
	if err != nil {
		return nil, nil, err
	}
	for i := range rows {
		if holder, taken := holders[Fold(rows[i].Email)]; taken {
			refused = append(refused, Refused{rows[i].ID, Exists(holder)})
		}
		holders[Fold(rows[i].Email)] = rows[i].ID
	}
	if len(refused) > 0 {
		return nil, refused, nil
	}
	return archivedChanges(tx, rows, false, moments), nil, nil
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

func nows(n int) []wire.Time {
	all, now := make([]wire.Time, n), wire.Now()
	for i := range all {
		all[i] = now
	}
	return all
}

// Put stores contacts that the caller has derived from locked rows, and re-scores them. now[i] replaces was[i]; they
// may differ only in the fields of a patch. Put returns the contacts that changed.
func Put(tx *postgres.Tx, was []Row, now []Contact, rate Scorer) ([]Change, error) {
	return PutAt(tx, was, now, rate, wire.Now())
}

// PutAt is Put with an explicit updated_at.
func PutAt(tx *postgres.Tx, was []Row, now []Contact, rate Scorer, at wire.Time) ([]Change, error) {
	all := make([]Change, 0, len(was))
	for i := range was {
		c := now[i]
		if len(changes(&was[i].Contact, &c)) == 0 {
			continue
		}
		c.LeadScore, c.Score = rate(&c)
		c.UpdatedAt = at
		ch := Change{Row: was[i], before: was[i].Contact, Previous: changes(&was[i].Contact, &c)}
		ch.Contact, ch.Edit = c, was[i].Edit+1
		all = append(all, ch)
	}
	return all, updateAll(tx, all)
}

// MaxTags is the maximum number of tags of a contact.
const MaxTags = maxKeys

// Static returns the keys of the static segments that contain the contact.
func (r *Row) Static() []string { return r.StaticOf(r.Segment) }

// StaticOf returns keys without the keys of the contact's dynamic segments.
func (r *Row) StaticOf(keys []string) []string { return list(without(keys, r.Dynamic)) }

// WithDynamic returns the value of Segment if keys become the contact's static segments.
func (r *Row) WithDynamic(keys []string) []string { return r.mergeSegments(keys) }

// SortIDs returns ids sorted, without duplicates.
func SortIDs(ids []id.ID) []id.ID {
	out := slices.Clone(ids)
	slices.SortFunc(out, func(a, b id.ID) int { return bytes.Compare(a[:], b[:]) })
	return slices.Compact(out)
}

func newBatch(tx *postgres.Tx, rate Scorer) *batch {
	return &batch{
		tx: tx, rate: rate, byID: map[id.ID]*entry{}, byEmail: map[string]*entry{},
		types: map[string]Type{}, newTypes: map[string]Type{}, dynamic: map[string]bool{}, shelved: map[string]bool{},
		isNewKey: map[string]bool{},
	}
}

// ask queues the reads of the org's definitions that allowed needs.
func (b *batch) ask(attributes, segments bool) {
	b.tx.Queue(`SELECT stages FROM org WHERE org_id = $1`, b.tx.Org()).QueryRow(func(row pgx.Row) error {
		return row.Scan(&b.stages)
	})
	if attributes {
		b.tx.Queue(`SELECT key, type FROM contact_field WHERE org_id = $1 AND archived_at IS NULL`,
			b.tx.Org()).Query(func(rows pgx.Rows) error {
			var key, typ string
			_, err := pgx.ForEachRow(rows, []any{&key, &typ}, func() error {
				b.types[key] = Type(typ)
				return nil
			})
			return err
		})
	}
	if segments {
		b.tx.Queue(`SELECT key, kind = 'dynamic', archived_at IS NOT NULL FROM segment WHERE org_id = $1
			AND (kind = 'dynamic' OR archived_at IS NOT NULL)`, b.tx.Org()).Query(func(rows pgx.Rows) error {
			var (
				key               string
				dynamic, archived bool
			)
			_, err := pgx.ForEachRow(rows, []any{&key, &dynamic, &archived}, func() error {
				b.dynamic[key], b.shelved[key] = dynamic, archived
				return nil
			})
			return err
		})
	}
}
