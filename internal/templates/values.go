package templates

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/funnelwork/funnelwork/internal/companies"
	"github.com/funnelwork/funnelwork/internal/contacts"
	"github.com/funnelwork/funnelwork/internal/fault"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/outreach/compose"
	"github.com/funnelwork/funnelwork/internal/postgres"
)

// Sender is the person or mailbox that a mail comes from.
type Sender struct {
	Name          string // merge value sender.name; "": the name of the org
	SignatureHTML string // appended to the mail; "": none
}

// frozen are the merge values of one mail in their stored form.
type frozen struct {
	Contact        map[string]any `json:"contact"`
	Company        map[string]any `json:"company,omitempty"`
	Sender         string         `json:"sender"`
	Org            string         `json:"org"`
	UnsubscribeURL string         `json:"unsubscribe_url"`
	PreferencesURL string         `json:"preferences_url"`
}

// Collect reads the merge values of a mail to the live contact and returns them as JSON. unsubscribe is the address of
// the page that ends mails to it.
func Collect(ctx context.Context, tx *postgres.Tx, contact id.ID, s Sender, unsubscribe string,
) (json.RawMessage, error) {
	row, err := contacts.Get(ctx, tx, contact, false)
	if err != nil {
		return nil, err
	}

	f := frozen{
		Sender: s.Name, UnsubscribeURL: unsubscribe,
		PreferencesURL: strings.Replace(unsubscribe, UnsubscribePath, PreferencesPath, 1),
	}
	if f.Org, err = orgName(ctx, tx); err != nil {
		return nil, err
	}
	if f.Sender == "" {
		f.Sender = f.Org
	}
	if f.Contact, err = selectMembers(&row.Contact, contactFields); err != nil {
		return nil, err
	}
	if row.CompanyID != nil {
		company, err := companies.Get(ctx, tx, *row.CompanyID, false)
		if gone, ok := errors.AsType[*fault.Fault](err); ok && gone.Code == fault.NotFound {
			err = nil
		}
		if err != nil {
			return nil, err
		}
		if f.Company, err = selectMembers(&company.Value, companyFields); err != nil {
			return nil, err
		}
	}
	b, err := json.Marshal(f)
	if err != nil {
		return nil, fmt.Errorf("encode merge values: %w", err)
	}

	return b, nil
}

type nameKey struct{}

// orgName returns the name of the org of tx, which is read once a transaction.
func orgName(ctx context.Context, tx *postgres.Tx) (name string, err error) {
	if name, ok := tx.Value(nameKey{}).(string); ok {
		return name, nil
	}
	if err := tx.QueryRow(ctx, `SELECT name FROM org WHERE id = $1`, []any{tx.Org()}, &name); err != nil {
		return "", fmt.Errorf("read org: %w", err)
	}
	tx.SetValue(nameKey{}, name)
	return name, nil
}

// selectMembers returns the members of v with the given names.
func selectMembers(v any, names []string) (map[string]any, error) {
	all := map[string]any{}
	b, err := json.Marshal(v)
	if err == nil {
		err = decodeNumbers(b, &all)
	}
	if err != nil {
		return nil, fmt.Errorf("encode merge values: %w", err)
	}

	out := make(map[string]any, len(names))
	for _, name := range names {
		if all[name] != nil {
			out[name] = all[name]
		}
	}

	return out, nil
}

// decodeNumbers keeps the digits of numbers, so that values have the same text before and after they are stored.
func decodeNumbers(b []byte, v any) error {
	d := json.NewDecoder(bytes.NewReader(b))
	d.UseNumber()
	return d.Decode(v)
}

// Thaw returns the values that Collect returned as JSON.
func Thaw(stored json.RawMessage) (*compose.Values, error) {
	var f frozen
	if err := decodeNumbers(stored, &f); err != nil {
		return nil, fmt.Errorf("decode merge values: %w", err)
	}
	return &compose.Values{
		Contact: f.Contact, Company: f.Company, Sender: f.Sender, Org: f.Org,
		UnsubscribeURL: f.UnsubscribeURL, PreferencesURL: f.PreferencesURL,
	}, nil
}
