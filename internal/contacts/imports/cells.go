package imports

import (
	"context"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/funnelwork/funnelwork/internal/compare"
	"github.com/funnelwork/funnelwork/internal/contacts"
	"github.com/funnelwork/funnelwork/internal/contacts/exports"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/sheet"
	"github.com/funnelwork/funnelwork/internal/wire"
)

// reader converts the cells of a record to a row of a batch.
type reader struct {
	columns   []Column
	types     map[string]contacts.Type // of custom fields, by key
	locale    locale
	stages    []string
	owners    map[string]string // ids of members by folded address and by folded name
	countries map[string]string // codes by name
	companies map[string]id.ID  // by the cells that name them
}

// newReader returns a reader of the import's rows. It reads the org's definitions that the columns need.
func (i *Import) newReader(ctx context.Context, tx *postgres.Tx, types map[string]contacts.Type) (*reader, error) {
	l, err := localeOf(i.locale)
	if err != nil {
		return nil, err
	}

	r := &reader{columns: i.columns, types: types, locale: l}
	for _, c := range i.columns {
		if c.Field == nil {
			continue
		}
		switch *c.Field {
		case "stage":
			err = tx.QueryRow(ctx, `SELECT stages FROM org WHERE id = $1`, []any{tx.Org()}, &r.stages)
		case "owner_id":
			r.owners, err = readOwners(ctx, tx)
		case "country":
			r.countries = countries()
		}
		if err != nil && !postgres.None(err) {
			return nil, fmt.Errorf("read definitions: %w", err)
		}
	}

	return r, nil
}

// readOwners returns the ids of the org's members by address and by whole name. A name that two members share is left
// out.
func readOwners(ctx context.Context, tx *postgres.Tx) (map[string]string, error) {
	rows, err := tx.Query(ctx, `SELECT m.user_id::text, u.email_folded, u.first_name || ' ' || u.last_name
		FROM member m JOIN app_user u ON u.id = m.user_id WHERE m.org_id = $1 AND m.removed_at IS NULL`, tx.Org())
	if err != nil {
		return nil, err
	}

	owners, names := map[string]string{}, map[string]int{}
	var user, email, name string
	if _, err = pgx.ForEachRow(rows, []any{&user, &email, &name}, func() error {
		owners[email] = user
		if name = compare.Text(strings.TrimSpace(name)); name != "" {
			owners[name] = user
			names[name]++
		}
		return nil
	}); err != nil {
		return nil, err
	}

	for name, n := range names {
		if n > 1 {
			delete(owners, name)
		}
	}

	return owners, nil
}

// upsert returns the row for the cells. A blank cell leaves its field unchanged.
func (r *reader) upsert(rec *sheet.Record) contacts.Upsert {
	var u contacts.Upsert
	for i := range r.columns {
		c := &r.columns[i]
		cell := rec.Cell(i)
		if c.Field == nil || strings.TrimSpace(cell) == "" {
			continue
		}
		r.set(&u, c, sheet.Text(cell))
	}
	return u
}

// order returns the order of the parts of a column's dates.
func (r *reader) order(c *Column) string {
	if r.locale.dates != "" {
		return r.locale.dates
	}
	return c.Dates
}

// moment returns the time that a cell means, or the cell, so that the batch refuses it.
func (r *reader) moment(c *Column, cell string) string {
	cell = strings.TrimSpace(cell)
	if at, ok := momentOf(cell, r.order(c)); ok {
		return at
	}
	return cell
}

func (r *reader) set(u *contacts.Upsert, c *Column, cell string) {
	trimmed := strings.TrimSpace(cell)
	switch field := *c.Field; field {
	case "id":
		u.ID = wire.Some(trimmed)
	case "email":
		u.Email = wire.Some(trimmed)
	case "first_name":
		u.FirstName = wire.Some(cell)
	case "last_name":
		u.LastName = wire.Some(cell)
	case fullName:
		r.setName(u, cell)
	case "time_zone":
		u.TimeZone = wire.Some(trimmed)
	case "country":
		if code, is := r.countries[plain(trimmed)]; is {
			trimmed = code
		}
		u.Country = wire.Some(trimmed)
	case "company_id":
		u.CompanyID = wire.Some(trimmed)
	case company:
		r.setCompany(u, trimmed)
	case "owner_id":
		if id, is := r.owners[compare.Text(trimmed)]; is {
			trimmed = id
		}
		u.OwnerID = wire.Some(trimmed)
	case "stage":
		u.Stage = wire.Some(stageOf(cell, r.stages))
	case "tag":
		u.Tag = wire.Some(exports.SplitKeys(cell))
	case "segment":
		u.Segment = wire.Some(exports.SplitKeys(cell))
	case "created_at":
		u.CreatedAt = wire.Some(r.moment(c, cell))
	default:
		if isExternal(field) {
			setExternal(u, field, trimmed)
			return
		}
		r.setOther(u, c, cell)
	}
}

// setCompany sets the company that a cell names, unless the row has its id. One that is not found stays a text, so that
// the batch refuses it.
func (r *reader) setCompany(u *contacts.Upsert, cell string) {
	if u.CompanyID.Set {
		return
	}
	if found, is := r.companies[cell]; is {
		cell = found.String()
	}
	u.CompanyID = wire.Some(cell)
}

// setName sets the names that the row does not have in columns of their own.
func (r *reader) setName(u *contacts.Upsert, cell string) {
	first, last := splitName(cell)
	if !u.FirstName.Set && first != "" {
		u.FirstName = wire.Some(first)
	}
	if !u.LastName.Set && last != "" {
		u.LastName = wire.Some(last)
	}
}

// setOther sets an optional text, a part of the consent or a custom field.
func (r *reader) setOther(u *contacts.Upsert, c *Column, cell string) {
	if t := contacts.TextNamed(*c.Field); t != nil {
		*t.In(&u.Patch) = wire.Some(cell)
		return
	}
	if part := contacts.ConsentNamed(*c.Field); part != nil {
		if strings.HasSuffix(*c.Field, "_at") {
			cell = r.moment(c, cell)
		}
		u.Consent.Set = true
		*part.In(&u.Consent.Value) = wire.Some(cell)
		return
	}

	key, _ := c.key()
	if !u.Attributes.Set {
		u.Attributes = wire.Some(map[string]any{})
	}
	l := r.locale
	l.dates = r.order(c)
	u.Attributes.Value[key] = value(r.types[key], cell, l)
}
