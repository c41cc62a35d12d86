package api

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strconv"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"github.com/funnelwork/funnelwork/api/httpx"
	"github.com/funnelwork/funnelwork/internal/fault"
)

// batchRows is the raw JSON of a batch's body B, a struct with one array of rows. huma would refuse the whole body for
// one invalid row.
type batchRows[B any] struct{ sent json.RawMessage }

// UnmarshalJSON stores a copy of b.
func (r *batchRows[B]) UnmarshalJSON(b []byte) error {
	r.sent = append(r.sent[:0], b...)
	return nil
}

// Schema returns B's schema.
func (*batchRows[B]) Schema(r huma.Registry) *huma.Schema {
	return r.Schema(reflect.TypeFor[B](), true, "")
}

// complaintsPerRow is the maximum number of field errors reported for one row.
const complaintsPerRow = 20

// rowsOf validates a batch's body against the API document and decodes the rows. The errors of a row become that row's
// fault in wrong, and the row stays zero. Any other error is returned.
func rowsOf[R, B any](a *App, body *batchRows[B]) (rows []R, wrong map[int]*fault.Fault, err error) {
	name := reflect.TypeFor[B]().Field(0).Tag.Get("json")
	var sent any
	if err := json.Unmarshal(body.sent, &sent); err != nil {
		return nil, nil, fmt.Errorf("decode batch: %w", err) // it has passed the strict scanner
	}

	found := &huma.ValidateResult{}
	at := huma.NewPathBuffer([]byte("body"), len("body"))
	schemas := a.Huma.OpenAPI().Components.Schemas
	huma.Validate(schemas, body.Schema(schemas), at, huma.ModeWriteToServer, sent, found)
	wrong = map[int]*fault.Fault{}
	var rest []error
	for _, err := range found.Errors {
		i, of := rowOf(name, err)
		if of == nil {
			rest = append(rest, err)
			continue
		}
		if wrong[i] == nil {
			wrong[i] = fault.New(fault.ValidationFailed, "The row has invalid fields.")
		}
		if f := wrong[i]; len(f.Fields) < complaintsPerRow {
			f.Fields = append(
				f.Fields,
				httpx.Complaint(
					of.Location,
					of.Message,
					sent,
					httpx.Shape{Schemas: schemas, Body: body.Schema(schemas)},
				),
			)
		}
	}

	if rest != nil {
		return nil, nil, httpx.Refusal(
			0,
			"",
			body.sent,
			rest,
			httpx.Shape{Schemas: schemas, Body: body.Schema(schemas)},
		)
	}

	var raw map[string][]json.RawMessage
	if err := json.Unmarshal(body.sent, &raw); err != nil {
		return nil, nil, fmt.Errorf("decode batch: %w", err)
	}

	rows = make([]R, len(raw[name]))
	for i := range rows {
		if wrong[i] != nil {
			continue
		}
		// A number may pass a schema without bounds and still overflow the field's type.
		if err := httpx.Unmarshal(raw[name][i], &rows[i]); err != nil {
			var zero R
			kind, at, _ := httpx.MisfitOf(err.Error())
			rows[i] = zero
			wrong[i] = fault.New(fault.ValidationFailed, "The row has invalid fields.")
			wrong[i].Fields = []fault.FieldError{
				httpx.Complaint("", fmt.Sprintf("%s%s:%s[%d].%s", httpx.Misfit, kind, name, i, at),
					sent, httpx.Shape{}),
			}
		}
	}

	return rows, wrong, nil
}

// rowOf returns the index of the row to which huma's error refers, and nil for an error about the whole body.
func rowOf(name string, err error) (int, *huma.ErrorDetail) {
	d, ok := err.(huma.ErrorDetailer)
	if !ok {
		return 0, nil
	}

	detail := d.ErrorDetail()
	place, ok := strings.CutPrefix(detail.Location, "body."+name+"[")
	if !ok {
		return 0, nil
	}

	number, _, _ := strings.Cut(place, "]")
	i, _ := strconv.Atoi(number) // huma wrote the index
	return i, detail
}
