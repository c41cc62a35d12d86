package imports

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/funnelwork/funnelwork/internal/contacts"
	"github.com/funnelwork/funnelwork/internal/postgres"
)

// inherit makes a file of refused rows be read as the file was that they are from: its rows alone may not tell the
// order of dates, the types of columns or which of two columns for one field has values. It finds the latest import of
// the org with the same header, and sets what the request did not choose.
func (s *Staged) inherit(ctx context.Context, tx *postgres.Tx, c *Choices) error {
	if !s.source.Refused {
		return nil
	}

	var former []byte
	var locale string
	err := tx.QueryRow(ctx, `SELECT columns, locale FROM contact_import
		WHERE org_id = $1 AND id <> $2 AND status <> 'uploading' AND source ->> 'header_text' = $3
		ORDER BY id DESC LIMIT 1`, []any{tx.Org(), s.ID, s.source.HeaderText}, &former, &locale)
	switch {
	case postgres.None(err):
		return nil
	case err != nil:
		return fmt.Errorf("read former import: %w", err)
	}

	columns := []Column{}
	if err := json.Unmarshal(former, &columns); err != nil {
		return fmt.Errorf("read former columns: %w", err)
	}
	if len(columns) != len(s.columns) {
		return nil
	}
	if c.Locale == "" {
		c.Locale = locale
	}
	for i := range s.columns {
		s.columns[i].resemble(&columns[i])
	}

	return nil
}

// resemble sets what the column's values do not tell.
func (c *Column) resemble(former *Column) {
	c.former = former
	c.Filled = c.Filled || former.Filled
	if c.Dates == "" {
		c.Dates = former.Dates
	}
	if former.Type == contacts.String {
		c.Type = contacts.String
	}
}
