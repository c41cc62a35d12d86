package api

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strconv"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"github.com/funnelwork/funnelwork/internal/contacts"
	"github.com/funnelwork/funnelwork/internal/fault"
)

// contactBatchBody is the body of a batch, as the document describes it.
type contactBatchBody struct {
	Contacts []contactRow `json:"contacts" minItems:"1" maxItems:"1000" doc:"Worked in the order sent. A row that is wrong is answered as an error and stops no other"`
}

// contactRows is that body as it was sent: huma would refuse all of it for one row that does not fit.
type contactRows struct{ sent json.RawMessage }

// UnmarshalJSON keeps b.
func (r *contactRows) UnmarshalJSON(b []byte) error { r.sent = append(r.sent[:0], b...); return nil }

// Schema is that of contactBatchBody.
func (*contactRows) Schema(r huma.Registry) *huma.Schema { return batchSchema(r) }

func batchSchema(r huma.Registry) *huma.Schema {
	return r.Schema(reflect.TypeFor[contactBatchBody](), true, "")
}

// complaintsPerRow is how many wrong places of one row are told.
const complaintsPerRow = 20

// rows holds the body to the document. What is wrong with one row becomes that row's fault, anything else is an error.
func (a *App) rows(body *contactRows) ([]contacts.Upsert, error) {
	var sent any
	if err := json.Unmarshal(body.sent, &sent); err != nil {
		return nil, fmt.Errorf("decode batch: %w", err) // it has passed the strict scanner
	}
	found, at := &huma.ValidateResult{}, huma.NewPathBuffer([]byte("body"), len("body"))
	schemas := a.huma.OpenAPI().Components.Schemas
	huma.Validate(schemas, batchSchema(schemas), at, huma.ModeWriteToServer, sent, found)
	wrong, rest := map[int]*fault.Fault{}, []error(nil)
	for _, err := range found.Errors {
		i, of := rowOf(err)
		if of == nil {
			rest = append(rest, err)
			continue
		}
		if wrong[i] == nil {
			wrong[i] = fault.New(fault.ValidationFailed, "The row has invalid fields.")
		}
		if f := wrong[i]; len(f.Fields) < complaintsPerRow {
			f.Fields = append(f.Fields, complaint(of.Location, of.Message, sent))
		}
	}
	if rest != nil {
		return nil, refusal(0, "", body.sent, rest)
	}
	var raw struct {
		Contacts []json.RawMessage `json:"contacts"`
	}
	if err := json.Unmarshal(body.sent, &raw); err != nil {
		return nil, fmt.Errorf("decode batch: %w", err)
	}
	all := make([]contacts.Upsert, len(raw.Contacts))
	for i := range all {
		if all[i].Wrong = wrong[i]; wrong[i] != nil {
			continue
		}
		var row contactRow
		if err := json.Unmarshal(raw.Contacts[i], &row); err != nil {
			return nil, fmt.Errorf("decode row: %w", err) // it has passed the schema
		}
		all[i] = row.upsert()
	}
	return all, nil
}

// rowOf is the row that a complaint of huma's is about; nil for one about the whole.
func rowOf(err error) (int, *huma.ErrorDetail) {
	d, ok := err.(huma.ErrorDetailer)
	if !ok {
		return 0, nil
	}
	detail := d.ErrorDetail()
	place, ok := strings.CutPrefix(detail.Location, "body.contacts[")
	if !ok {
		return 0, nil
	}
	number, _, _ := strings.Cut(place, "]")
	i, _ := strconv.Atoi(number) // it is huma's own
	return i, detail
}
