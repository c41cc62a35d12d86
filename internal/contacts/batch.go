package contacts

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/funnelwork/funnelwork/internal/fault"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/wire"
)

// MaxBatch is the maximum number of rows of a batch.
const MaxBatch = 1000

// Upsert is one row of a batch. It matches the contact ID if one is given, else the live contact with the patch's
// email; otherwise it creates a contact.
type Upsert struct {
	ID wire.Field[string]
	Patch
	Wrong *fault.Fault // an error found before the batch; becomes the row's outcome
}

// The outcomes of a row.
const (
	Created   = "created"
	Updated   = "updated"
	Unchanged = "unchanged"
	Failed    = "error"
)

// Outcome is the result of one row of a batch.
type Outcome struct {
	Result    string
	ID        id.ID   // zero for Failed
	LeadScore float64 // after the row; 0 for Failed
	Fault     *fault.Fault
}

// errRaced means that a concurrent transaction took an address or defined a key after this transaction had read.
var errRaced = errors.New("a concurrent transaction conflicts")

// Room is the number of contacts that may still be created, and the fault for one more.
type Room struct {
	Left int64
	Full *fault.Fault
}

// UpsertWithin is Batch.Upsert with a scorer and a limit on new contacts; a nil room means no limit.
func UpsertWithin(ctx context.Context, tx *postgres.Tx, in []Upsert, rate Scorer, room *Room) (out []Outcome,
	made, changed []Change, err error,
) {
	return Batch{Rate: rate, Room: room}.Upsert(ctx, tx, in)
}

// Batch configures how rows are upserted.
type Batch struct {
	Rate Scorer
	Room *Room // limits new contacts; nil: no limit
	// Types are the types for undefined custom fields of which a row has a value. A field without an entry gets the
	// type of its first value.
	Types map[string]Type
	// Plain makes faults point into their own row, instead of to its position in the contacts array.
	Plain bool
	// Dry computes the outcomes and writes nothing. As holds contacts with a state in this run that differs from the
	// stored one.
	Dry bool
	As  []Row
}

// Upsert applies the rows in order. It returns one outcome for each row, in the same order, and one Change for every
// contact that was created or changed: several rows for one contact make one change. A failed row changes nothing and
// does not stop the others.
//
// It reads everything at once, works in memory and writes everything at once. A conflicting concurrent transaction
// shows up as a violation; the batch is then retried, up to five attempts in all.
func (how Batch) Upsert(ctx context.Context, tx *postgres.Tx, in []Upsert) (out []Outcome, made, changed []Change,
	err error,
) {
	for range 5 {
		var b *batch
		err = tx.Savepoint(ctx, func() error {
			if b, err = load(ctx, tx, in, how); err != nil {
				return err
			}
			for i := range in {
				b.outcomes[i] = b.row(i, &in[i])
			}
			if how.Dry {
				return nil
			}
			if err := b.write(); err != nil {
				return err
			}
			return tx.Flush(ctx)
		})
		if err == nil {
			made, changed = b.changes()
			return b.outcomes, made, changed, nil
		}
		if _, taken := asTaken(err); !taken && !errors.Is(err, errRaced) {
			return nil, nil, nil, fmt.Errorf("batch: %w", err)
		}
	}
	return nil, nil, nil,
		fault.New(fault.Conflict, "Other requests keep changing the same contacts. Send the batch again.").Because(err)
}

// entry is one contact in its current state within the batch.
type entry struct {
	was   Row // the stored row; zero if new
	now   Row
	isNew bool
	seen  bool // already in order
}

type batch struct {
	tx       *postgres.Tx
	rate     Scorer
	room     *Room // what remains; nil: no limit
	outcomes []Outcome
	byID     map[id.ID]*entry
	byEmail  map[string]*entry
	order    []*entry // touched or new, in the order of their first row
	stages   []string
	types    map[string]Type
	newTypes map[string]Type
	hints    map[string]Type
	plain    bool
	dynamic  map[string]bool // keys of dynamic segments; shelved: of archived ones
	shelved  map[string]bool
	newKeys  []string // segment keys, each once
	isNewKey map[string]bool
}

// load reads and locks the contacts that the rows may change. It locks them in the order of their ids, so that
// concurrent batches cannot deadlock.
func load(ctx context.Context, tx *postgres.Tx, in []Upsert, how Batch) (*batch, error) {
	b := newBatch(tx, how.Rate)
	b.outcomes, b.hints, b.plain = make([]Outcome, len(in)), how.Types, how.Plain
	if how.Room != nil {
		left := *how.Room
		b.room = &left
	}
	ids, emails, segments, attributes := []id.ID{}, []string{}, map[string]bool{}, false
	for i := range in {
		if given, err := id.Parse(in[i].ID.Value); err == nil {
			ids = append(ids, given)
		}
		if in[i].Email.Set {
			emails = append(emails, Fold(in[i].Email.Value))
		}
		for _, s := range in[i].Segment.Value {
			segments[s] = true
		}
		attributes = attributes || in[i].Attributes.Set
	}
	ByKeys(tx)
	b.ask(attributes, len(segments) > 0)
	rows, err := tx.Query(ctx,
		`SELECT `+columns+` `+both+` WHERE c.org_id = $1 AND s.org_id = $1 AND c.archived_at IS NULL AND c.id IN (
			SELECT unnest($2::uuid[]) UNION SELECT id FROM contact WHERE org_id = $1 AND archived_at IS NULL
			AND email_folded = ANY ($3::text[]))
		ORDER BY c.id FOR UPDATE OF c, s`, tx.Org(), ids, emails)
	if err != nil {
		return nil, err
	}
	found, err := pgx.CollectRows(rows, scan)
	if err != nil {
		return nil, err
	}
	if err := rejoinAll(ctx, tx, found); err != nil {
		return nil, err
	}
	for _, r := range found {
		b.know(r)
	}
	for _, r := range how.As {
		if old := b.byID[r.ID]; old != nil {
			delete(b.byEmail, Fold(old.now.Email))
		}
		b.know(r)
	}
	return b, nil
}

func (b *batch) know(r Row) {
	e := &entry{was: r, now: r}
	b.byID[r.ID], b.byEmail[Fold(r.Email)] = e, e
}

// row applies the i'th row in memory.
func (b *batch) row(i int, u *Upsert) Outcome {
	path := ""
	if !b.plain {
		path = "contacts/" + strconv.Itoa(i) + "/"
	}
	if u.Wrong != nil {
		return Outcome{Result: Failed, Fault: u.Wrong}
	}
	e, fail := b.find(u, path)
	if fail != nil {
		return failed(fail)
	}
	if e == nil {
		return b.create(u, path)
	}
	p := u.Patch
	if !u.ID.Set || u.ID.Null {
		p.Email = wire.Field[string]{} // the email matched the contact; a different spelling is no change
	}
	if p.CreatedAt.Set { // only new contacts take history; it is read-only for existing ones
		p.ReadOnly = maps.Clone(p.ReadOnly)
		p.Refuse("created_at", json.RawMessage(strconv.Quote(p.CreatedAt.Value)))
	}
	ch, err := next(&e.now, &p, path, b.rate)
	if err != nil {
		return failed(err)
	}
	if !ch.Changed() {
		return Outcome{Result: Unchanged, ID: e.now.ID, LeadScore: e.now.LeadScore}
	}
	if f := b.allowed(&e.now.Contact, &ch.Contact, path); f != nil {
		return Outcome{Result: Failed, Fault: f}
	}
	before, after := Fold(e.now.Email), Fold(ch.Email)
	if holder := b.byEmail[after]; holder != nil && holder != e {
		return Outcome{Result: Failed, Fault: Exists(holder.now.ID)}
	}
	delete(b.byEmail, before)
	b.byEmail[after] = e
	ch.Edit = e.was.Edit + 1
	if e.isNew {
		ch.Edit = 1
		ch.Contact.UpdatedAt = e.now.UpdatedAt
	}
	e.now = ch.Row
	b.touch(e)
	return Outcome{Result: Updated, ID: e.now.ID, LeadScore: e.now.LeadScore}
}

// find returns the contact that a row matches, or nil for a new contact.
func (b *batch) find(u *Upsert, path string) (*entry, *fault.Fault) {
	if u.ID.Set && !u.ID.Null {
		given, err := id.Parse(u.ID.Value)
		if err != nil {
			return nil, fault.Invalid(path+"id", "invalid_uuid", "This is not a UUID.")
		}
		if e := b.byID[given]; e != nil {
			return e, nil
		}
		return nil, missing()
	}
	if !u.Email.Set || u.Email.Null {
		return nil, fault.Invalid(path+"email", "required", "A row needs an id or an email.")
	}
	return b.byEmail[Fold(u.Email.Value)], nil
}

func (b *batch) create(u *Upsert, path string) Outcome {
	now := wire.Now()
	c := Contact{
		ID: id.New(), Stage: DefaultStage, Tag: []string{}, Segment: []string{},
		Attributes: map[string]any{}, CreatedAt: now, UpdatedAt: now,
	}
	wrong := u.create(&c, path)
	if u.CreatedAt.Set && !u.CreatedAt.Null {
		var at wire.Time
		switch err := at.UnmarshalText([]byte(u.CreatedAt.Value)); {
		case err != nil:
			wrong = append(wrong,
				fault.Field{
					Pointer: "#/" + path + "created_at", Code: "invalid_time",
					Detail: "This is not an RFC 3339 time.",
				})
		case at.After(now.Time) || at.Before(time.Unix(0, 0)):
			wrong = append(wrong,
				fault.Field{
					Pointer: "#/" + path + "created_at", Code: "out_of_range",
					Detail: "The time lies between 1970 and now.",
				})
		default:
			c.CreatedAt = at
		}
	}
	if err := invalid(wrong); err != nil {
		return failed(err)
	}
	if b.room != nil && b.room.Left <= 0 {
		return Outcome{Result: Failed, Fault: b.room.Full}
	}
	if f := b.allowed(&Contact{Stage: DefaultStage}, &c, path); f != nil {
		return Outcome{Result: Failed, Fault: f}
	}
	if b.room != nil {
		b.room.Left--
	}
	c.LeadScore, c.Score = b.rate(&c)
	e := &entry{now: Row{Contact: c, Edit: 1}, isNew: true}
	b.byID[c.ID], b.byEmail[Fold(c.Email)] = e, e
	b.touch(e)
	return Outcome{Result: Created, ID: c.ID, LeadScore: c.LeadScore}
}

// allowed checks what the change from was to c adds against the org's definitions, and records the definitions that
// must be created.
func (b *batch) allowed(was, c *Contact, path string) *fault.Fault {
	var wrong []fault.Field
	if c.Stage != was.Stage && !has(b.stages, c.Stage) {
		wrong = append(wrong, unknownStage(path, c.Stage, b.stages))
	}
	segments := without(c.Segment, was.Segment)
	for _, s := range segments {
		switch {
		case b.shelved[s]:
			wrong = append(wrong, archivedSegment(path, s))
		case b.dynamic[s]:
			wrong = append(wrong, dynamicSegment(path, s))
		}
	}
	values, define := news(was.Attributes, c.Attributes), map[string]Type{}
	for _, key := range slices.Sorted(maps.Keys(values)) {
		t, ok := b.types[key]
		if !ok {
			if t, ok = b.hints[key]; !ok {
				t = TypeOf(values[key])
			}
			define[key] = t
		}
		if !t.Takes(values[key]) {
			wrong = append(wrong, wrongType(path, key, t))
		}
	}
	if len(b.types)+len(define) > maxFields {
		wrong = append(wrong, tooManyFields(path))
	}
	if len(wrong) > 0 {
		return &fault.Fault{Code: fault.ValidationFailed, Detail: "The row has invalid fields.", Fields: wrong}
	}
	for key, t := range define {
		b.types[key], b.newTypes[key] = t, t
	}
	for _, s := range segments {
		if !b.isNewKey[s] {
			b.isNewKey[s] = true
			b.newKeys = append(b.newKeys, s)
		}
	}
	return nil
}

func (b *batch) touch(e *entry) {
	if !e.seen {
		e.seen = true
		b.order = append(b.order, e)
	}
}

func failed(err error) Outcome {
	f := fault.Of(err)
	if f != nil && f.Code == fault.ValidationFailed {
		f.Detail = "The row has invalid fields."
	}
	return Outcome{Result: Failed, Fault: f}
}
