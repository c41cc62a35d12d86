package contacts

import (
	"encoding/json"
	"maps"
	"strconv"
	"time"

	"github.com/funnelwork/funnelwork/internal/compare"
	"github.com/funnelwork/funnelwork/internal/externalid"
	"github.com/funnelwork/funnelwork/internal/fault"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/wire"
)

// Upsert is one row of a batch. It matches the contact ID if one is given, else the live contact with one of the
// patch's external ids, else the one with its email; otherwise it creates a contact.
type Upsert struct {
	ID wire.Field[string]
	Patch
	Wrong *fault.Fault // an error found before the batch; becomes the row's outcome
	NewID id.ID        // the ID of the contact if the row creates one; zero: generated
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

// Room is the number of contacts that may still be created, and the fault for one more.
type Room struct {
	Left int64
	Full *fault.Fault
}

// entry is one contact in its current state within the batch.
type entry struct {
	was   Row // the stored row; zero if new
	now   Row
	isNew bool
	seen  bool // already in order
}

type batch struct {
	*definitions
	rate     Scorer
	room     *Room // what remains; nil: no limit
	outcomes []Outcome
	byID     map[id.ID]*entry
	byEmail  map[string]*entry
	byKey    map[externalid.Key]*entry
	order    []*entry // touched or new, in the order of their first row
	plain    bool
}

func newBatch(tx *postgres.Tx, rate Scorer) *batch {
	return &batch{
		definitions: newDefinitions(tx), rate: rate, byID: map[id.ID]*entry{}, byEmail: map[string]*entry{},
		byKey: map[externalid.Key]*entry{},
	}
}

func (b *batch) addStored(r Row) {
	e := &entry{was: r, now: r}
	b.byID[r.ID] = e
	b.addKeys(e)
}

// addKeys makes an entry findable by its address and external ids; removeKeys undoes it.
func (b *batch) addKeys(e *entry) {
	b.byEmail[compare.Address(e.now.Email)] = e
	for system, value := range e.now.ExternalIDs {
		b.byKey[externalid.Key{System: system, Value: value}] = e
	}
}

func (b *batch) removeKeys(e *entry) {
	delete(b.byEmail, compare.Address(e.now.Email))
	for system, value := range e.now.ExternalIDs {
		delete(b.byKey, externalid.Key{System: system, Value: value})
	}
}

// applyRow applies the i'th row in memory.
func (b *batch) applyRow(i int, u *Upsert) Outcome {
	path := ""
	if !b.plain {
		path = "contacts/" + strconv.Itoa(i) + "/"
	}
	if u.Wrong != nil {
		return Outcome{Result: Failed, Fault: u.Wrong}
	}

	e, byEmail, fail := b.findMatch(u, path)
	if fail != nil {
		return failedOutcome(fail)
	}
	if e == nil {
		return b.createContact(u, path)
	}

	p := u.Patch
	if byEmail {
		p.Email = wire.Field[string]{} // the email matched the contact; a different spelling is no change
	}
	if p.CreatedAt.Set { // only new contacts take history; it is read-only for existing ones
		p.ReadOnly = maps.Clone(p.ReadOnly)
		p.Refuse("created_at", json.RawMessage(strconv.Quote(p.CreatedAt.Value)))
	}
	ch, err := patchedChange(&e.now, &p, path, b.rate)
	if err != nil {
		return failedOutcome(err)
	}
	if !ch.Changed() {
		return Outcome{Result: Unchanged, ID: e.now.ID, LeadScore: e.now.LeadScore}
	}
	if f := b.checkAdditions(&e.now.Contact, &ch.Contact, path); f != nil {
		return Outcome{Result: Failed, Fault: f}
	}

	after := compare.Address(ch.Email)
	if holder := b.byEmail[after]; holder != nil && holder != e {
		return Outcome{Result: Failed, Fault: Exists(holder.now.ID)}
	}

	for _, k := range ch.ExternalIDs.Keys() {
		if holder := b.byKey[k]; holder != nil && holder != e {
			return Outcome{Result: Failed, Fault: externalid.Exists(externalid.Contact, k, holder.now.ID)}
		}
	}

	b.removeKeys(e)
	ch.Edit = e.was.Edit + 1
	if e.isNew {
		ch.Edit = 1
		ch.Contact.UpdatedAt = e.now.UpdatedAt
	}
	e.now = ch.Row
	b.addKeys(e)
	b.appendOnce(e)
	return Outcome{Result: Updated, ID: e.now.ID, LeadScore: e.now.LeadScore}
}

// maxRepairs is how often a row is repaired: once for errors in its values, once for conflicts with the org's
// definitions, and once for what an earlier repair has caused.
const maxRepairs = 3

// applyRepaired applies the i'th row, and again after each repair. A row that fails all the same has the fault of the
// first try.
func (b *batch) applyRepaired(i int, u *Upsert, repair func(int, *Upsert, *fault.Fault) bool) Outcome {
	out := b.applyRow(i, u)
	if repair == nil || out.Result != Failed || out.Fault == nil || len(out.Fault.Fields) == 0 {
		return out
	}

	first, repaired := out, *u
	for range maxRepairs {
		if !repair(i, &repaired, out.Fault) {
			break
		}
		if out = b.applyRow(i, &repaired); out.Result != Failed {
			return out
		}
		if out.Fault == nil || len(out.Fault.Fields) == 0 {
			break
		}
	}

	return first
}

// findMatch returns the contact that a row matches, or nil for a new contact. byEmail reports whether the row's email
// has matched it.
func (b *batch) findMatch(u *Upsert, path string) (e *entry, byEmail bool, fail *fault.Fault) {
	if u.ID.Set && !u.ID.Null {
		given, err := id.Parse(u.ID.Value)
		if err != nil {
			return nil, false, fault.Invalid(path+"id", "invalid_uuid", "This is not a UUID.")
		}
		if e := b.byID[given]; e != nil {
			return e, false, nil
		}
		return nil, false, notFound()
	}

	for _, k := range externalid.Sent(u.ExternalIDs) {
		switch holder := b.byKey[k]; {
		case e == nil:
			e = holder
		case holder != nil && holder != e:
			return nil, false, externalid.Ambiguous(externalid.Contact)
		}
	}
	if e != nil {
		return e, false, nil
	}

	if !u.Email.Set || u.Email.Null {
		return nil, false, fault.Invalid(path+"email", "required",
			"A row needs an id, a known external id or an email.")
	}
	return b.byEmail[compare.Address(u.Email.Value)], true, nil
}

func (b *batch) createContact(u *Upsert, path string) Outcome {
	now := wire.Now()
	c := Contact{
		ID: u.NewID, Stage: DefaultStage, Tag: []string{}, Segment: []string{},
		Attributes: map[string]any{}, CreatedAt: now, UpdatedAt: now,
	}
	if c.ID.IsZero() {
		c.ID = id.New()
	}
	wrong := u.applyToNew(&c, path)
	if u.CreatedAt.Set && !u.CreatedAt.Null {
		var at wire.Time
		switch err := at.UnmarshalText([]byte(u.CreatedAt.Value)); {
		case err != nil:
			wrong = append(wrong,
				fault.FieldError{
					Pointer: "#/" + path + "created_at", Code: "invalid_time",
					Detail: "This is not an RFC 3339 time.",
				})
		case at.After(now.Time) || at.Before(time.Unix(0, 0)):
			wrong = append(wrong,
				fault.FieldError{
					Pointer: "#/" + path + "created_at", Code: "out_of_range",
					Detail: "The time lies between 1970 and now.",
				})
		default:
			c.CreatedAt = at
		}
	}
	if err := invalidFields(wrong); err != nil {
		return failedOutcome(err)
	}
	if b.room != nil && b.room.Left <= 0 {
		return Outcome{Result: Failed, Fault: b.room.Full}
	}
	if f := b.checkAdditions(&Contact{Stage: DefaultStage}, &c, path); f != nil {
		return Outcome{Result: Failed, Fault: f}
	}
	if b.room != nil {
		b.room.Left--
	}
	c.LeadScore, c.Score = b.rate(&c)
	e := &entry{now: Row{Contact: c, Edit: 1}, isNew: true}
	b.byID[c.ID] = e
	b.addKeys(e)
	b.appendOnce(e)
	return Outcome{Result: Created, ID: c.ID, LeadScore: c.LeadScore}
}

func (b *batch) appendOnce(e *entry) {
	if !e.seen {
		e.seen = true
		b.order = append(b.order, e)
	}
}

func failedOutcome(err error) Outcome {
	f := fault.Of(err)
	if f != nil && f.Code == fault.ValidationFailed {
		f.Detail = "The row has invalid fields."
	}
	return Outcome{Result: Failed, Fault: f}
}
