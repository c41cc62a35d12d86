package companies

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/funnelwork/funnelwork/internal/compare"
	"github.com/funnelwork/funnelwork/internal/externalid"
	"github.com/funnelwork/funnelwork/internal/fault"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/record"
	"github.com/funnelwork/funnelwork/internal/wire"
)

// Upsert is one row of a batch.
type Upsert struct {
	ID wire.Field[string]
	Patch
	Wrong *fault.Fault // an error found before the batch; becomes the row's outcome
	NewID id.ID        // the ID of the company if the row creates one; zero: generated
}

// UpsertAll applies the rows in order. It returns one outcome for each row, in the same order, and one Change for every
// company that was created or changed: several rows for one company make one change. A failed row changes nothing and
// does not stop the others. The package comment describes how a row is matched to a company.
func UpsertAll(ctx context.Context, tx *postgres.Tx, in []Upsert) (out []record.Outcome, changed []Change, err error) {
	var b *batch
	err = record.Again(ctx, tx, func(err error) bool {
		_, taken := errors.AsType[*TakenError](err)
		return taken || externalid.Taken(err)
	}, func() (err error) {
		if b, err = lockBatch(ctx, tx, in); err != nil {
			return err
		}
		for i := range in {
			b.outcomes[i] = b.applyRow(&in[i], "companies/"+strconv.Itoa(i)+"/")
		}
		changed = b.queueWrites()
		return nil
	})
	if err != nil {
		return nil, nil, fmt.Errorf("batch: %w", err)
	}
	return b.outcomes, changed, nil
}

type entry = record.Entry[Company]

type batch struct {
	tx       *postgres.Tx
	outcomes []record.Outcome
	byID     map[id.ID]*entry
	byDomain map[string]*entry
	byKey    map[externalid.Key]*entry
	byName   map[string][]*entry // keyed by folded name
	order    []*entry            // touched or new, in the order of their first row
}

// matchKey returns the matching key of a row without an id: its normalized domain, or else its folded name.
func (u *Upsert) matchKey() (domain, name string) {
	if u.Domain.Set && !u.Domain.Null && strings.TrimSpace(u.Domain.Value) != "" {
		domain, _ = Domain(u.Domain.Value)
		return domain, ""
	}
	return "", compare.Text(u.Name.Value)
}

func (u *Upsert) hasID() bool { return u.ID.Set && !u.ID.Null }

// lockBatch reads and locks the companies that the rows may change.
func lockBatch(ctx context.Context, tx *postgres.Tx, in []Upsert) (*batch, error) {
	b := &batch{
		tx: tx, outcomes: make([]record.Outcome, len(in)), byID: map[id.ID]*entry{},
		byDomain: map[string]*entry{}, byName: map[string][]*entry{}, byKey: map[externalid.Key]*entry{},
	}
	ids, domains, names := []id.ID{}, []string{}, []string{}
	var keys []externalid.Key
	for i := range in {
		keys = append(keys, externalid.Sent(in[i].ExternalIDs)...)
		domain, name := in[i].matchKey()
		if domain != "" {
			domains = append(domains, domain)
		}
		if given, err := id.Parse(in[i].ID.Value); err == nil {
			ids = append(ids, given)
		} else if name != "" {
			names = append(names, name)
		}
	}
	if len(names) > 0 {
		tx.Queue(`SELECT pg_advisory_xact_lock(hashtextextended('company', hashtextextended($1::uuid::text, 0)))`,
			tx.Org())
	}
	externalid.LockKeys(tx, externalid.Company, keys)
	systems, values := externalid.Args(keys)
	found, err := table.LockAll(ctx, tx, `SELECT unnest($2::uuid[]) AS key
		UNION ALL SELECT h.id FROM unnest($3::text[]) AS a (domain) CROSS JOIN LATERAL (
			SELECT id FROM company WHERE org_id = $1 AND archived_at IS NULL AND domain = a.domain LIMIT 1) h
		UNION ALL SELECT h.id FROM unnest($4::text[]) AS a (name) CROSS JOIN LATERAL (
			SELECT id FROM company WHERE org_id = $1 AND archived_at IS NULL AND name_folded = a.name OFFSET 0) h
		UNION ALL `+externalid.LiveSQL(externalid.Company, "$5", "$6"), ids, domains, names, systems, values)
	if err != nil {
		return nil, err
	}
	for _, r := range found {
		b.addToIndex(&entry{Was: r, Now: r})
	}
	return b, nil
}

func (b *batch) addToIndex(e *entry) {
	c := &e.Now.Value
	b.byID[c.ID] = e
	if c.Domain != nil {
		b.byDomain[*c.Domain] = e
	}
	for _, k := range c.ExternalIDs.Keys() {
		b.byKey[k] = e
	}
	name := compare.Text(c.Name)
	b.byName[name] = append(b.byName[name], e)
}

func (b *batch) removeFromIndex(e *entry) {
	c := &e.Now.Value
	if c.Domain != nil {
		delete(b.byDomain, *c.Domain)
	}
	for _, k := range c.ExternalIDs.Keys() {
		delete(b.byKey, k)
	}
	name := compare.Text(c.Name)
	b.byName[name] = slices.DeleteFunc(b.byName[name], func(x *entry) bool { return x == e })
}

// applyRow applies one row in memory.
func (b *batch) applyRow(u *Upsert, path string) record.Outcome {
	if u.Wrong != nil {
		return record.Wrong(u.Wrong)
	}
	e, byKey, err := b.findMatch(u, path)
	switch {
	case err != nil:
		return record.Wrong(err)
	case e == nil:
		return b.createRow(u, path)
	}
	p := u.Patch
	if p.CreatedAt.Set { // only new companies take history; it is read-only for existing ones
		p.Refuse("created_at", json.RawMessage(strconv.Quote(p.CreatedAt.Value)))
	}
	if !byKey {
		p.Domain = wire.Field[string]{} // the domain matched the company, so it cannot change it
		if domain, _ := u.matchKey(); domain == "" {
			p.Name = wire.Field[string]{}
		}
	}
	ch, err := table.Next(e.Now, func(was, now *Company) error { return p.apply(was, now, path) })
	switch {
	case err != nil:
		return record.Wrong(err)
	case !ch.Changed():
		return record.Outcome{Result: record.Unchanged, ID: e.Now.Value.ID}
	}
	if d := ch.Value.Domain; d != nil {
		if holder := b.byDomain[*d]; holder != nil && holder != e {
			return record.Wrong(existsFault(holder.Now.Value.ID))
		}
	}
	for _, k := range ch.Value.ExternalIDs.Keys() {
		if holder := b.byKey[k]; holder != nil && holder != e {
			return record.Wrong(externalid.Exists(externalid.Company, k, holder.Now.Value.ID))
		}
	}
	b.removeFromIndex(e)
	e.Take(&table, ch)
	b.addToIndex(e)
	b.markTouched(e)
	return record.Outcome{Result: record.Updated, ID: e.Now.Value.ID}
}

// findMatch returns the company that a row matches, or nil for a new company. byKey reports whether an id has matched
// it, so that the row may change its domain and name.
func (b *batch) findMatch(u *Upsert, path string) (e *entry, byKey bool, err error) {
	if u.hasID() {
		given, err := id.Parse(u.ID.Value)
		if err != nil {
			return nil, false, fault.Invalid(path+"id", "invalid_uuid", "This is not a UUID.")
		}
		if e := b.byID[given]; e != nil {
			return e, true, nil
		}
		return nil, false, table.NotFound()
	}

	e, err = record.ByExternalIDs(b.byKey, externalid.Sent(u.ExternalIDs), externalid.Company)
	if e != nil || err != nil {
		return e, true, err
	}

	domain, name := u.matchKey()
	if domain != "" {
		return b.byDomain[domain], false, nil
	}
	switch named := b.byName[name]; {
	case strings.TrimSpace(name) == "":
		return nil, false, namelessFault(path)
	case len(named) == 0:
		return nil, false, nil
	case len(named) == 1:
		return named[0], false, nil
	default:
		return nil, false, ambiguousFault()
	}
}

func (b *batch) createRow(u *Upsert, path string) record.Outcome {
	c, err := u.Patch.newCompany(path, wire.Now())
	if err != nil {
		return record.Wrong(err)
	}
	if !u.NewID.IsZero() {
		c.ID = u.NewID
	}
	e := &entry{Now: Row{Value: c, Edit: 1}, New: true}
	b.addToIndex(e)
	b.markTouched(e)
	return record.Outcome{Result: record.Created, ID: c.ID}
}

func (b *batch) markTouched(e *entry) {
	if !slices.Contains(b.order, e) {
		b.order = append(b.order, e)
	}
}

// queueWrites queues the writes of the whole batch. New companies are inserted in the order of their domains, so that
// concurrent batches cannot deadlock.
func (b *batch) queueWrites() (changed []Change) {
	var fresh []*entry
	record.ReleaseExternalIDs(b.tx, externalid.Company, b.order, func(c *Company) (id.ID, externalid.IDs) {
		return c.ID, c.ExternalIDs
	})
	for _, e := range b.order {
		ch := e.Change()
		switch {
		case e.New:
			fresh = append(fresh, e)
		case ch.Changed():
			queueUpdate(b.tx, &ch)
		default:
			continue
		}
		changed = append(changed, ch)
	}
	slices.SortStableFunc(fresh, func(x, y *entry) int {
		return strings.Compare(textOf(x.Now.Value.Domain), textOf(y.Now.Value.Domain))
	})
	for _, e := range fresh {
		queueInsert(b.tx, &e.Now.Value)
	}
	return changed
}

func textOf(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}
