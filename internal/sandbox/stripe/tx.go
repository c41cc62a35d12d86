package stripe

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// kind is the API's name of an object type.
type kind string

// object is a stored object. Its JSON is the state; the member "_" is internal to the sandbox and is not rendered.
type object interface {
	objectKind() kind
	top() *head
	// marks returns the index keys for lists and searches.
	indexKeys() []string
	// due returns when the clock has to process the object again, 0 for never.
	nextDue() int64
	// wire adds the values that are derived from other objects to w.
	addDerived(tx *tx, w shown, expand expansion)
}

// head holds the members that every object has.
type head struct {
	ID       string            `json:"id"`
	Created  int64             `json:"created"`
	Metadata map[string]string `json:"metadata"`
	row      *Row
}

func (h *head) top() *head                       { return h }
func (h *head) indexKeys() []string              { return nil }
func (h *head) nextDue() int64                   { return 0 }
func (h *head) addDerived(*tx, shown, expansion) {}

// place is the key of an object.
type place struct{ account, kind, id string }

// tx is one unit of work on the state: a request, or a step of the clock.
type tx struct {
	ctx     context.Context
	rows    Tx
	s       *Sandbox
	account string // "" is the platform
	now     int64  // by the sandbox's clock
	request origin
	objects map[place]object // objects read or created, one instance each
	dirty   []object
	setting *settings
	sendTo  []*endpoint // cache of endpoints
	known   bool
}

// origin is the request that causes an event; it is empty for the clock.
type origin struct {
	ID  *string `json:"id"`
	Key *string `json:"idempotency_key"`
}

func (tx *tx) abortOnError(err error) {
	if err != nil {
		panic(failure{err})
	}
}

// find returns an object, nil if there is none.
func find[T any, P interface {
	*T
	object
}](tx *tx, id string) P {
	k := P(nil).objectKind()
	at := place{tx.account, string(k), id}
	if o, ok := tx.objects[at]; ok {
		return o.(P)
	}

	r, err := tx.rows.Get(tx.ctx, tx.account, string(k), id)
	tx.abortOnError(err)
	if r == nil {
		return nil
	}

	return decodeRow[T, P](tx, r)
}

// decodeRow decodes a row.
func decodeRow[T any, P interface {
	*T
	object
}](tx *tx, r *Row) P {
	at := place{r.Account, r.Kind, r.ID}
	if o, ok := tx.objects[at]; ok {
		return o.(P)
	}

	o := P(new(T))
	tx.abortOnError(json.Unmarshal(r.Body, o))
	o.top().row = r
	tx.objects[at] = o

	return o
}

// mustFind returns an object that must exist; param is the parameter that named it.
func mustFind[T any, P interface {
	*T
	object
}](tx *tx, param, id string) P {
	if o := find[T, P](tx, id); o != nil {
		return o
	}
	refuse(noSuchObject(P(nil).objectKind(), param, id))
	return nil
}

// findAll returns the results of a query, newest first, including objects that this unit of work created or changed.
func findAll[T any, P interface {
	*T
	object
}](tx *tx, q Query) []P {
	tx.flush()
	q.Account = tx.account
	q.Kind = string(P(nil).objectKind())
	rows, err := tx.rows.Find(tx.ctx, q)
	tx.abortOnError(err)
	found := make([]P, 0, len(rows))
	for _, r := range rows {
		found = append(found, decodeRow[T, P](tx, r))
	}

	return found
}

// put stores an object, at the end of the unit of work or before the next query.
func (tx *tx) put(o object) {
	h := o.top()
	if h.Created == 0 {
		h.Created = tx.now
	}
	if h.Metadata == nil {
		h.Metadata = map[string]string{}
	}

	tx.objects[place{tx.account, string(o.objectKind()), h.ID}] = o
	if !slices.Contains(tx.dirty, o) {
		tx.dirty = append(tx.dirty, o)
	}
}

func (tx *tx) drop(o object) {
	tx.dirty = slices.DeleteFunc(tx.dirty, func(d object) bool { return d == o })
	delete(tx.objects, place{tx.account, string(o.objectKind()), o.top().ID})
	tx.abortOnError(tx.rows.Delete(tx.ctx, tx.account, string(o.objectKind()), o.top().ID))
}

// The two timers: the sandbox's clock, and the real clock, for deliveries.
const (
	timerClock = "clock"
	timerWire  = "wire"
)

func (tx *tx) flush() {
	for _, o := range tx.dirty {
		h := o.top()
		body, err := json.Marshal(o)
		tx.abortOnError(err)
		if h.row == nil {
			h.row = &Row{Account: tx.account, Kind: string(o.objectKind()), ID: h.ID}
		}

		h.row.Created = h.Created
		h.row.Body = body
		h.row.Due = o.nextDue()
		h.row.Timer = ""
		h.row.Marks = o.indexKeys()
		for _, key := range slices.Sorted(maps.Keys(h.Metadata)) {
			h.row.Marks = append(h.row.Marks, "metadata."+key+"="+h.Metadata[key])
		}

		if h.row.Due != 0 {
			h.row.Timer = timerClock
			if o.objectKind() == kindDelivery {
				h.row.Timer = timerWire
			}
		}

		tx.abortOnError(tx.rows.Put(tx.ctx, h.row))
	}

	tx.dirty = tx.dirty[:0]
}

// newID returns the prefix, an underscore, and 24 random letters and digits.
func newID(prefix string) string { return prefix + "_" + randomText(24) }

func randomText(n int) string {
	const letters = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
	b := make([]byte, n)
	_, _ = rand.Read(b) // never fails
	var out strings.Builder
	for _, c := range b {
		out.WriteByte(letters[int(c)%len(letters)])
	}

	return out.String()
}

func indexKey(name string, value any) string { return fmt.Sprintf("%s=%v", name, value) }
