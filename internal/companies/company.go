package companies

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/jackc/pgx/v5"

	"github.com/funnelwork/funnelwork/internal/compare"
	"github.com/funnelwork/funnelwork/internal/events"
	"github.com/funnelwork/funnelwork/internal/externalid"
	"github.com/funnelwork/funnelwork/internal/fault"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/record"
	"github.com/funnelwork/funnelwork/internal/wire"
)

// Company is an organization that contacts work for, as the API and the webhooks show it.
type Company = events.Company

// Row is a company with its edit counter.
type Row = record.Row[Company]

// Change is the result of a change to a company.
type Change = record.Change[Company]

var table = record.Table[Company]{
	Name: "company", Absent: "There is no such company.",
	Columns: "id, name, domain, website, industry, size, phone, owner_id, external_ids, created_at, " +
		"updated_at, archived_at",
	Scan: func(c *Company) []any {
		return []any{
			&c.ID, &c.Name, &c.Domain, &c.Website, &c.Industry, &c.Size, &c.Phone, &c.OwnerID,
			&c.ExternalIDs, &c.CreatedAt,
			&c.UpdatedAt, &c.ArchivedAt,
		}
	},
	Stamps: func(c *Company) (*wire.Time, **wire.Time) { return &c.UpdatedAt, &c.ArchivedAt },
}

// TakenError is a unique violation: a live company of the org already has the domain. Resolve converts it to a fault.
type TakenError struct {
	Domain string
	cause  error
}

func (t *TakenError) Error() string { return fmt.Sprintf("domain is taken: %v", t.cause) }

func (t *TakenError) Unwrap() error { return t.cause }

// existsFault returns the 409 fault for a domain that the live company holder has. holder is the zero id if that
// company no longer exists.
func existsFault(holder id.ID) *fault.Fault {
	f := fault.New(fault.CompanyExists, "A company with this domain exists.")
	if !holder.IsZero() {
		f.ExistingID = holder.String()
	}
	return f
}

// Resolve converts a TakenError in err, of a domain or an external id, to a fault that names the company that has it.
// It returns any other err unchanged. It reads in a new transaction, because the one with the violation has ended.
func Resolve(ctx context.Context, db *postgres.DB, org id.ID, err error) error {
	t, ok := errors.AsType[*TakenError](err)
	if !ok {
		return externalid.Resolve(ctx, db, org, err)
	}
	var holder id.ID
	if look := db.ReadTx(ctx, org, func(tx *postgres.Tx) error {
		err := tx.QueryRow(ctx, `SELECT id FROM company WHERE org_id = $1 AND domain = $2 AND archived_at IS NULL`,
			[]any{org, t.Domain}, &holder)
		if postgres.None(err) {
			return nil
		}
		return err
	}); look != nil {
		return fmt.Errorf("look up the company with the domain: %w", look)
	}
	return existsFault(holder).Because(t)
}

// refuseTaken converts a violation of company_domain by q to a TakenError, and one of an external id to an
// externalid.TakenError.
func refuseTaken(q *pgx.QueuedQuery, c *Company) {
	q.Fn = func(br pgx.BatchResults) error {
		_, err := br.Exec()
		if postgres.Violates(err, "company_domain") && c.Domain != nil {
			return &TakenError{Domain: *c.Domain, cause: err}
		}
		return externalid.Refused(err, externalid.Company, c.ExternalIDs.Keys())
	}
}

// Get returns one company of the org. An archived company is returned only with archivedToo. If there is no such
// company, the error is a not_found fault.
func Get(ctx context.Context, tx *postgres.Tx, i id.ID, archivedToo bool) (Row, error) {
	return table.Get(ctx, tx, i, archivedToo)
}

// Create queues a new company made from p and returns it as it will be stored, without a read. An invalid p is a
// validation fault at once. A taken domain is a TakenError when the transaction is sent.
func Create(tx *postgres.Tx, p *Patch) (Row, error) {
	c, err := p.newCompany("", wire.Now())
	if err != nil {
		return Row{}, err
	}
	externalid.LockSent(tx, externalid.Company, p.ExternalIDs)
	queueInsert(tx, &c)
	return Row{Value: c, Edit: 1}, nil
}

// Update applies p to the live company i. An archived or unknown company is a not_found fault. If match refuses the
// edit, its error is returned. A taken domain is a TakenError when the transaction is sent. A patch without effect
// writes nothing.
func Update(ctx context.Context, tx *postgres.Tx, i id.ID, match record.Match, p *Patch) (Change, error) {
	externalid.LockSent(tx, externalid.Company, p.ExternalIDs)
	ch, err := table.Update(ctx, tx, i, match, func(was, now *Company) error { return p.apply(was, now, "") })
	if err != nil || !ch.Changed() {
		return ch, err
	}
	queueUpdate(tx, &ch)
	return ch, nil
}

// Archive hides the company from lists and look-ups; see record.Table.Archive.
func Archive(ctx context.Context, tx *postgres.Tx, i id.ID, match record.Match) (Change, error) {
	return table.Archive(ctx, tx, i, match)
}

// Restore undoes Archive. If another company has taken the domain, the error is a TakenError when the transaction is
// sent.
func Restore(ctx context.Context, tx *postgres.Tx, i id.ID) (Change, error) {
	ch, q, err := table.Restore(ctx, tx, i)
	if q != nil {
		refuseTaken(q, &ch.Before)
	}
	return ch, err
}

// Events returns the events of a change, in order.
func Events(ch *Change) []events.Event {
	switch _, shelved := ch.Previous["archived_at"]; {
	case ch.Before.ID.IsZero():
		return []events.Event{events.CompanyCreated{Company: ch.Value}}
	case !ch.Changed():
		return nil
	case shelved && ch.Value.ArchivedAt != nil:
		return []events.Event{events.CompanyArchived{Company: ch.Value}}
	case shelved:
		return []events.Event{events.CompanyRestored{Company: ch.Value}}
	}
	return []events.Event{events.CompanyUpdated{Company: ch.Value, Previous: ch.Previous}}
}

func queueInsert(tx *postgres.Tx, c *Company) {
	refuseTaken(tx.Queue(`INSERT INTO company (org_id, id, name, name_folded, domain, website, industry, size, phone,
		owner_id, created_at, updated_at, external_ids)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)`,
		tx.Org(), c.ID, c.Name, compare.Text(c.Name), c.Domain, c.Website, c.Industry, c.Size, c.Phone, c.OwnerID,
		c.CreatedAt, c.UpdatedAt, c.ExternalIDs.Text()), c)
	addWords(tx, c.ID, wordsOf(c))
}

func queueUpdate(tx *postgres.Tx, ch *Change) {
	c := &ch.Value
	refuseTaken(tx.Queue(`UPDATE company SET name = $3, name_folded = $4, domain = $5, website = $6, industry = $7,
		size = $8, phone = $9,
			owner_id = $10, updated_at = $11, external_ids = $12, edit = edit + 1 WHERE org_id = $1 AND id = $2`,
		tx.Org(), c.ID, c.Name, compare.Text(c.Name), c.Domain, c.Website, c.Industry, c.Size, c.Phone, c.OwnerID,
		c.UpdatedAt, c.ExternalIDs.Text()), c)
	before, after := wordsOf(&ch.Before), wordsOf(c)
	takeWords(tx, c.ID, withoutAll(before, after))
	addWords(tx, c.ID, withoutAll(after, before))
}

// wordsOf returns the words by which the parameter q finds a company.
func wordsOf(c *Company) []string {
	if c.Domain == nil {
		return compare.Words(c.Name)
	}
	return compare.Words(c.Name, *c.Domain)
}

func addWords(tx *postgres.Tx, company id.ID, words []string) {
	if len(words) > 0 {
		tx.Queue(`INSERT INTO company_word (org_id, word, company_id) SELECT $1, w, $2 FROM unnest($3::text[]) w`,
			tx.Org(), company, words)
	}
}

func takeWords(tx *postgres.Tx, company id.ID, words []string) {
	if len(words) > 0 {
		tx.Queue(`DELETE FROM company_word WHERE org_id = $1 AND word = ANY ($3::text[]) AND company_id = $2`,
			tx.Org(), company, words)
	}
}

// withoutAll returns the elements of a that are not in b.
func withoutAll(a, b []string) []string {
	return slices.DeleteFunc(slices.Clone(a), func(s string) bool { return slices.Contains(b, s) })
}
