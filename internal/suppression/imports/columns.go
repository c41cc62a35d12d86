package imports

import (
	"slices"
	"strings"

	"github.com/funnelwork/funnelwork/internal/fault"
	"github.com/funnelwork/funnelwork/internal/form"
	"github.com/funnelwork/funnelwork/internal/sheet"
	"github.com/funnelwork/funnelwork/internal/suppression"
)

// column is a column of a file.
type column struct {
	Name  string  `json:"name"`
	Field *string `json:"field"` // nil: ignored
}

// address is the field of a column with addresses and domains.
const address = "address"

// fieldOf returns the field that a column's name means, or nil. The names are those of this platform and of the files
// that other senders export.
func fieldOf(name string) *string {
	name = strings.Join(strings.FieldsFunc(strings.ToLower(name), func(r rune) bool {
		return strings.ContainsRune(" \t-_.", r)
	}), "_")
	switch name {
	case "email", "e_mail", "mail", "email_address", "e_mail_address", "recipient":
		name = suppression.Email
	case address, "destination", "value":
		name = address
	case suppression.Domain, "purpose", "reason", "note":
	default:
		return nil
	}
	return &name
}

// mapped returns the columns for the names in a header. A file without an address or a domain is refused, and so is one
// with two columns for one field.
func mapped(names []string) ([]column, error) {
	all, fields := make([]column, len(names)), []string{}
	for i, name := range names {
		all[i] = column{Name: name, Field: fieldOf(name)}
		if all[i].Field == nil {
			continue
		}
		if slices.Contains(fields, *all[i].Field) {
			return nil, sheet.WrongFile("duplicate_field", "Two columns have names of the same field: "+*all[i].Field)
		}
		fields = append(fields, *all[i].Field)
	}
	for _, f := range []string{suppression.Email, suppression.Domain, address} {
		if slices.Contains(fields, f) {
			return all, nil
		}
	}
	return nil, sheet.WrongFile("required", "A column has to be called email, domain or address.")
}

// entry returns the suppression that a record asks for, or why it is refused.
func (i *Import) entry(r *sheet.Record) (n suppression.New, code, detail string) {
	if r.Defect != "" {
		return n, r.Defect, sheet.DefectDetail(r.Defect)
	}
	n = suppression.New{Purpose: i.Purpose, Reason: i.Reason, Source: "import", By: i.by}
	for c, cell := range r.Cells {
		cell = strings.TrimSpace(sheet.Text(cell))
		if i.columns[c].Field == nil || cell == "" {
			continue
		}
		switch *i.columns[c].Field {
		case suppression.Email:
			n.Email = cell
		case suppression.Domain:
			n.Domain = strings.TrimPrefix(cell, "@")
		case address:
			if at := strings.LastIndexByte(cell, '@'); at > 0 {
				n.Email = cell
			} else {
				n.Domain = cell[at+1:]
			}
		case "purpose":
			n.Purpose = strings.ToLower(cell)
		case "reason":
			n.Reason = strings.ToLower(cell)
		case "note":
			n.Note = cell
		}
	}
	f := form.At("")
	n.Check(f)
	wrong := fault.Of(f.Fault())
	if wrong == nil {
		return n, "", ""
	}
	var parts []string
	for _, w := range wrong.Fields {
		parts = append(parts, strings.TrimPrefix(w.Pointer, "#/")+": "+w.Detail)
	}
	return n, wrong.Fields[0].Code, strings.Join(parts, " ")
}
