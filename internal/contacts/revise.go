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

// Refused is a contact that a change of many did not fit; the others are changed all the same.
type Refused struct {
	ID    id.ID
	Fault *fault.Fault
}

// Scope says which of the named contacts a change of many is about. Those outside it are left as they are.
type Scope int

// The scopes.
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

// LockAll reads those of the contacts that are in the scope and holds their rows until the transaction ends, in the order
// of their ids, so that two who lock many wait for each other in one direction only.
func LockAll(ctx context.Context, tx *postgres.Tx, ids []id.ID, s Scope) ([]Row, error) {
	ByKeys(tx)
	rows, err := tx.Query(ctx, `SELECT `+columns+` `+both+` WHERE c.org_id = $1 AND s.org_id = $1 AND c.id = ANY ($2::uuid[]) AND s.contact_id = ANY ($2::uuid[])`+s.sql()+` ORDER BY c.id FOR UPDATE OF c, s`, tx.Org(), ids)
	if err != nil {
		return nil, fmt.Errorf("lock contacts: %w", err)
	}
	found, err := pgx.CollectRows(rows, scan)
	if err != nil {
		return nil, fmt.Errorf("lock contacts: %w", err)
	}
	return found, rejoinAll(ctx, tx, found)
}

// Revise applies to each of the contacts in the scope the patch that is made for it, scores it anew and answers
// what has changed. A patch may not set an address. What does not fit a contact leaves that one as it was.
//
// It reads everything at once and writes everything at once. Where another transaction defines a custom field at the same
// moment it fails, and the transaction is to be done again.
func Revise(ctx context.Context, tx *postgres.Tx, ids []id.ID, s Scope, patch func(c *Contact) Patch, rate Rate) (changed []Change, refused []Refused, err error) {
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
	if err := rewrite(tx, changed); err != nil {
		return nil, nil, err
	}
	return changed, refused, tx.Flush(ctx)
}

// Vet answers what is wrong with a patch that is to be applied to many contacts, as far as that does not depend on the
// contact; nil where nothing is. path is the pointer to the patch.
func Vet(ctx context.Context, tx *postgres.Tx, p *Patch, path string) error {
	blank := Contact{Stage: DefaultStage, Attributes: map[string]any{}}
	c := blank
	wrong := p.apply(&c, path)
	if p.Email.Set {
		wrong = append(wrong, fault.Field{Pointer: "#/" + path + "email", Code: "not_allowed", Detail: "An address belongs to one contact."})
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

// ArchiveAll is Archive of the live ones among the contacts.
func ArchiveAll(ctx context.Context, tx *postgres.Tx, ids []id.ID) ([]Change, error) {
	rows, err := LockAll(ctx, tx, ids, Live)
	if err != nil {
		return nil, err
	}
	return shelved(tx, rows, true, nows(len(rows))), tx.Flush(ctx)
}

// RestoreAll is Restore of the archived ones among the contacts, as long as there is room; nil is any number. One whose
// address another has is refused; where two of them share one, the one with the lower id gets it. An address that is
// taken at the same moment is an error, and the transaction is to be done again.
func RestoreAll(ctx context.Context, tx *postgres.Tx, ids []id.ID, room *Room) (restored []Change, refused []Refused, err error) {
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
	return shelved(tx, fit, false, nows(len(fit))), refused, tx.Flush(ctx)
}

// holders are the live contacts that have the rows' addresses, by address.
func holders(ctx context.Context, tx *postgres.Tx, of []Row) (map[string]id.ID, error) {
	addresses := make([]string, len(of))
	for i := range of {
		addresses[i] = Fold(of[i].Email)
	}
	rows, err := tx.Query(ctx, `SELECT email_folded, id FROM contact WHERE org_id = $1 AND archived_at IS NULL AND email_folded = ANY ($2::text[])`, tx.Org(), addresses)
	if err != nil {
		return nil, fmt.Errorf("look up holders: %w", err)
	}
	found := map[string]id.ID{}
	var (
		address string
		holder  id.ID
	)
	if _, err := pgx.ForEachRow(rows, []any{&address, &holder}, func() error { found[address] = holder; return nil }); err != nil {
		return nil, fmt.Errorf("look up holders: %w", err)
	}
	return found, nil
}

// Shelve queues the archiving of rows, which the transaction has locked, and answers the changes.
func Shelve(tx *postgres.Tx, rows []Row, at wire.Time) []Change {
	moments := make([]wire.Time, len(rows))
	for i := range moments {
		moments[i] = at
	}
	return shelved(tx, rows, true, moments)
}

// Unshelve is RestoreAll of rows that the transaction has locked, with what their updated_at becomes.
func Unshelve(ctx context.Context, tx *postgres.Tx, rows []Row, moments []wire.Time) (restored []Change, refused []Refused, err error) {
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
	return shelved(tx, rows, false, moments), nil, nil
}

func shelved(tx *postgres.Tx, rows []Row, archived bool, moments []wire.Time) []Change {
	all := make([]Change, len(rows))
	for i := range rows {
		all[i] = Change{Row: rows[i], before: rows[i].Contact, Previous: map[string]any{"archived_at": rows[i].ArchivedAt}}
		all[i].UpdatedAt, all[i].Edit, all[i].ArchivedAt = moments[i], rows[i].Edit+1, nil
		if archived {
			all[i].ArchivedAt = &moments[i]
		}
	}
	shelveAll(tx, all)
	return all
}

func nows(n int) []wire.Time {
	all, now := make([]wire.Time, n), wire.Now()
	for i := range all {
		all[i] = now
	}
	return all
}

// Put writes contacts that the caller has made of rows that it has locked, scored anew; they go by their places. Only
// the fields of a patch may differ. It answers those that changed.
func Put(tx *postgres.Tx, was []Row, now []Contact, rate Rate) ([]Change, error) {
	return PutAt(tx, was, now, rate, wire.Now())
}

// PutAt is Put with what updated_at becomes.
func PutAt(tx *postgres.Tx, was []Row, now []Contact, rate Rate, at wire.Time) ([]Change, error) {
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
	return all, rewrite(tx, all)
}

// MaxTags is how many tags a contact may have.
const MaxTags = maxKeys

// Static are the keys of static segments that the contact is in.
func (r *Row) Static() []string { return r.StaticOf(r.Segment) }

// StaticOf is keys without those of dynamic segments that the contact is in.
func (r *Row) StaticOf(keys []string) []string { return list(without(keys, r.Dynamic)) }

// WithDynamic is what Segment becomes when the static ones are keys.
func (r *Row) WithDynamic(keys []string) []string { return r.settle(keys) }

// SortIDs is ids in their order, each once.
func SortIDs(ids []id.ID) []id.ID {
	out := slices.Clone(ids)
	slices.SortFunc(out, func(a, b id.ID) int { return bytes.Compare(a[:], b[:]) })
	return slices.Compact(out)
}

func newBatch(tx *postgres.Tx, rate Rate) *batch {
	return &batch{
		tx: tx, rate: rate, byID: map[id.ID]*entry{}, byEmail: map[string]*entry{},
		types: map[string]Type{}, newTypes: map[string]Type{}, dynamic: map[string]bool{}, shelved: map[string]bool{}, isNewKey: map[string]bool{},
	}
}

// ask queues the reading of what allowed has to know of the org.
func (b *batch) ask(attributes, segments bool) {
	b.tx.Queue(`SELECT stages FROM org WHERE org_id = $1`, b.tx.Org()).QueryRow(func(row pgx.Row) error { return row.Scan(&b.stages) })
	if attributes {
		b.tx.Queue(`SELECT key, type FROM contact_field WHERE org_id = $1 AND archived_at IS NULL`, b.tx.Org()).Query(func(rows pgx.Rows) error {
			var key, typ string
			_, err := pgx.ForEachRow(rows, []any{&key, &typ}, func() error { b.types[key] = Type(typ); return nil })
			return err
		})
	}
	if segments {
		b.tx.Queue(`SELECT key, kind = 'dynamic', archived_at IS NOT NULL FROM segment WHERE org_id = $1 AND (kind = 'dynamic' OR archived_at IS NOT NULL)`, b.tx.Org()).Query(func(rows pgx.Rows) error {
			var (
				key               string
				dynamic, archived bool
			)
			_, err := pgx.ForEachRow(rows, []any{&key, &dynamic, &archived}, func() error { b.dynamic[key], b.shelved[key] = dynamic, archived; return nil })
			return err
		})
	}
}
