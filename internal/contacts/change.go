package contacts

import (
	"context"
	"fmt"
	"maps"
	"reflect"

	"github.com/funnelwork/funnelwork/internal/fault"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/wire"
)

// Match is the condition of a change: an error for an edit that the caller does not stand on. nil asks nothing.
type Match func(edit int64) error

func (m Match) check(edit int) error {
	if m == nil {
		return nil
	}
	return m(int64(edit))
}

// Change is what a change came to.
type Change struct {
	Row
	// Previous are the changed fields as they were, by their names on the wire; empty where nothing changed, and
	// then nothing was written.
	Previous map[string]any
	before   Contact
}

// Changed tells whether anything was written.
func (c *Change) Changed() bool { return len(c.Previous) > 0 }

// Before is the contact as it was.
func (c *Change) Before() *Contact { return &c.before }

// Create queues a new contact made from p, scored by rate, and answers it as it will be stored; nothing is read.
// A wrong p is a validation fault at once; an address that is taken is TakenError when the transaction is sent.
func Create(tx *postgres.Tx, p *Patch, rate Rate) (Row, error) {
	now := wire.Now()
	c := Contact{
		ID: id.New(), Stage: DefaultStage, Tag: []string{}, Segment: []string{}, Attributes: map[string]any{}, CreatedAt: now, UpdatedAt: now,
	}
	if err := invalid(p.create(&c, "")); err != nil {
		return Row{}, err
	}
	c.LeadScore, c.Score = rate(&c)
	if p.Stage.Set {
		askStage(tx, c.Stage)
	}
	makeSegments(tx, c.Segment)
	defineFields(tx, c.Attributes)
	if err := insert(tx, &c); err != nil {
		return Row{}, err
	}
	return Row{Contact: c, Edit: 1}, nil
}

// create is apply for a contact that does not exist yet.
func (p *Patch) create(c *Contact, path string) []fault.Field {
	wrong := p.apply(c, path)
	for _, f := range []struct {
		name string
		in   wire.Field[string]
	}{{"email", p.Email}, {"first_name", p.FirstName}, {"last_name", p.LastName}} {
		if !f.in.Set {
			wrong = append(wrong, fault.Field{Pointer: "#/" + path + f.name, Code: "required", Detail: "This field is required."})
		}
	}
	return wrong
}

// Update applies p to the live contact i and re-scores it. An archived or unknown one is a not_found fault, an
// edit that match refuses is match's error. A patch that changes nothing writes nothing.
//
// Any number of updates may run at once: the row is locked, so of those that name one edit exactly one wins.
func Update(ctx context.Context, tx *postgres.Tx, i id.ID, match Match, p *Patch, rate Rate) (Change, error) {
	was, err := lock(ctx, tx, i, false)
	if err != nil {
		return Change{}, err
	}
	if err := match.check(was.Edit); err != nil {
		return Change{}, err
	}
	ch, err := next(&was, p, "", rate)
	if err != nil || !ch.Changed() {
		return ch, err
	}
	if _, moved := ch.Previous["stage"]; moved {
		askStage(tx, ch.Stage)
	}
	makeSegments(tx, without(ch.Segment, was.Segment))
	defineFields(tx, news(was.Attributes, ch.Attributes))
	if err := update(tx, &was, &ch.Contact); err != nil {
		return Change{}, err
	}
	return ch, nil
}

// next is the row that p makes of was, scored anew, without writing it.
func next(was *Row, p *Patch, path string, rate Rate) (Change, error) {
	c := was.Contact
	if err := invalid(p.apply(&c, path)); err != nil {
		return Change{}, err
	}
	if p.Segment.Set {
		c.Segment = was.settle(c.Segment)
	}
	ch := Change{Row: *was, before: was.Contact, Previous: changes(&was.Contact, &c)}
	if !ch.Changed() {
		return ch, nil
	}
	c.LeadScore, c.Score = rate(&c)
	ch.Previous = changes(&was.Contact, &c)
	c.UpdatedAt = wire.Now()
	ch.Contact, ch.Edit = c, was.Edit+1
	return ch, nil
}

// news are the values of b that a has not, or has otherwise.
func news(a, b map[string]any) map[string]any {
	out := maps.Clone(b)
	maps.DeleteFunc(out, func(k string, v any) bool {
		old, ok := a[k]
		return ok && reflect.DeepEqual(old, v)
	})
	return out
}

// Archive hides the contact from lists and look-ups. Of one that is archived already nothing changes, whatever match
// says, so that a repeated call ends as the first did.
func Archive(ctx context.Context, tx *postgres.Tx, i id.ID, match Match) (Change, error) {
	was, err := lock(ctx, tx, i, true)
	if err != nil {
		return Change{}, err
	}
	ch := Change{Row: was, before: was.Contact}
	if was.ArchivedAt != nil {
		return ch, nil
	}
	if err := match.check(was.Edit); err != nil {
		return Change{}, err
	}
	now := wire.Now()
	ch.ArchivedAt, ch.UpdatedAt, ch.Edit = &now, now, was.Edit+1
	ch.Previous = map[string]any{"archived_at": nil}
	tx.Queue(`UPDATE contact SET archived_at = $3, updated_at = $3, edit = edit + 1 WHERE org_id = $1 AND id = $2`, tx.Org(), i, now)
	shelve(tx, &was.Contact, true)
	return ch, nil
}

// Restore undoes Archive. Of a live contact nothing changes. An address that another has taken meanwhile is TakenError.
func Restore(ctx context.Context, tx *postgres.Tx, i id.ID) (Change, error) {
	was, err := lock(ctx, tx, i, true)
	if err != nil {
		return Change{}, err
	}
	ch := Change{Row: was, before: was.Contact}
	if was.ArchivedAt == nil {
		return ch, nil
	}
	ch.ArchivedAt, ch.UpdatedAt, ch.Edit = nil, wire.Now(), was.Edit+1
	ch.Previous = map[string]any{"archived_at": was.ArchivedAt}
	unique(tx.Queue(`UPDATE contact SET archived_at = NULL, updated_at = $3, edit = edit + 1 WHERE org_id = $1 AND id = $2`, tx.Org(), i, ch.UpdatedAt), Fold(was.Email))
	shelve(tx, &was.Contact, false)
	return ch, nil
}

// Resolve makes a fault of the TakenError in err, naming the contact that has the address; any other err comes back as
// it is. It reads in a transaction of its own, because the one that met the violation is over.
func Resolve(ctx context.Context, db *postgres.DB, org id.ID, err error) error {
	t, ok := asTaken(err)
	if !ok {
		return err
	}
	var holder id.ID
	if look := db.View(ctx, org, func(tx *postgres.Tx) (err error) {
		holder, err = Holder(ctx, tx, t.Email)
		return err
	}); look != nil {
		return fmt.Errorf("look up the holder: %w", look)
	}
	return Exists(holder).Because(t)
}
