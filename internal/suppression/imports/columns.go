package imports

import (
	"slices"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"

	"github.com/funnelwork/funnelwork/internal/fault"
	"github.com/funnelwork/funnelwork/internal/form"
	"github.com/funnelwork/funnelwork/internal/sheet"
	"github.com/funnelwork/funnelwork/internal/suppression"
	"github.com/funnelwork/funnelwork/internal/uploads"
)

// column is a column of a file.
type column struct {
	Name   string  `json:"name"`
	Field  *string `json:"field"`            // nil: left out
	Filled bool    `json:"filled,omitempty"` // the column has a value
	Reason string  `json:"reason,omitempty"` // why it is left out
}

// Reasons for which a column is left out.
const (
	reasonUnknown  = "unknown_column"
	reasonRepeated = "field_of_another_column"
)

// address is the field of a column with addresses and domains.
const address = "address"

// fieldNames are the names of columns by field, in plain form and the best one first: those of this platform, and those
// of the files that other senders export, in English, German, French, Spanish, Portuguese, Italian and Dutch.
var fieldNames = map[string][]string{
	suppression.Email: strings.Fields(`email email_address e_mail e_mail_address mail recipient recipient_email to
		subscriber contact_email e_mail_adresse email_adresse mailadresse adresse_e_mail adresse_email courriel
		correo correo_electronico endereco_de_email endereco_de_e_mail indirizzo_e_mail indirizzo_email
		posta_elettronica e_mailadres emailadres email_1 e_mail_1_value person_email_work`),
	address:            strings.Fields("address destination value"),
	suppression.Domain: strings.Fields("domain email_domain domaine dominio domein"),
	"purpose":          {"purpose"},
	"reason":           {"reason"},
	"note":             {"note"},
}

// plainName returns a column's name in lower case, without accents, with an underscore between its words.
func plainName(name string) string {
	var b strings.Builder
	for _, r := range norm.NFD.String(strings.ToLower(name)) {
		switch {
		case unicode.Is(unicode.Mn, r):
		case unicode.IsLetter(r), unicode.IsDigit(r):
			b.WriteRune(r)
		default:
			b.WriteByte(' ')
		}
	}
	return strings.Join(strings.Fields(b.String()), "_")
}

// fieldOf returns the field that a column's name means and the place of the name among the field's names, or "".
func fieldOf(name string) (field string, place int) {
	word := plainName(name)
	for field, names := range fieldNames {
		if place = slices.Index(names, word); place >= 0 {
			return field, place
		}
	}
	return "", 0
}

// knownName reports whether a cell is the name of a column.
func knownName(cell string) bool {
	field, _ := fieldOf(cell)
	return field != ""
}

// mapColumns returns the columns for the names in a header. A file without an address or a domain is refused. Of two
// columns for one field, the one with the better name gets it.
func mapColumns(names []string) ([]column, error) {
	all, best, places := make([]column, len(names)), map[string]int{}, make([]int, len(names))
	for i, name := range names {
		all[i] = column{Name: name, Reason: reasonUnknown}
		field, place := fieldOf(name)
		if field == "" {
			continue
		}
		all[i].Reason = reasonRepeated
		places[i] = place
		if other, is := best[field]; !is || place < places[other] {
			best[field] = i
		}
	}
	for field, i := range best {
		all[i].Field = &field
		all[i].Reason = ""
	}

	for _, f := range []string{suppression.Email, suppression.Domain, address} {
		if _, is := best[f]; is {
			return all, nil
		}
	}

	return nil, sheet.WrongFile("required", "A column has to be called email, domain or address. "+
		"The line that was read as the header is: "+strings.Join(names[:min(len(names), 20)], ", "))
}

// parseEntry returns the suppression that a record asks for, and warnings about cells that were left out, or why it is
// refused.
func (i *Import) parseEntry(r *sheet.Record) (n suppression.New, warnings []uploads.Warning, code, detail string) {
	if r.Defect != "" {
		return n, nil, r.Defect, sheet.DefectDetail(r.Defect)
	}

	n = suppression.New{Purpose: i.Purpose, Reason: i.Reason, Source: "import", By: i.by}
	other := "" // an address or a domain
	for c := range i.columns {
		cell := strings.TrimSpace(sheet.Text(r.Cell(c)))
		switch field := i.columns[c].Field; {
		case field == nil || cell == "":
		case *field == address:
			other = cell
		default:
			setField(&n, *field, cell)
		}
	}
	if !setAddress(&n, other) {
		return n, nil, "conflicting_addresses", "The row has several addresses or domains that differ."
	}

	wrong := checkEntry(&n)
	if wrong != nil && !i.Strict {
		for _, w := range wrong.Fields {
			field := strings.TrimPrefix(w.Pointer, "#/")
			column := i.columnOf(field)
			if column == "" {
				continue
			}
			warnings = append(warnings, uploads.Warning{Row: r.Row, Column: column, Code: w.Code, Detail: w.Detail})
			switch field {
			case "purpose":
				n.Purpose = i.Purpose
			case "reason":
				n.Reason = i.Reason
			case "note":
				n.Note = ""
			}
		}
		if len(warnings) == len(wrong.Fields) {
			wrong = checkEntry(&n)
		}
	}
	if wrong == nil {
		return n, warnings, "", ""
	}

	var parts []string
	for _, w := range wrong.Fields {
		parts = append(parts, strings.TrimPrefix(w.Pointer, "#/")+": "+w.Detail)
	}

	return n, nil, wrong.Fields[0].Code, strings.Join(parts, " ")
}

// checkEntry returns what is wrong with n, or nil.
func checkEntry(n *suppression.New) *fault.Fault {
	f := form.At("")
	n.Check(f)
	return fault.Of(f.Fault())
}

// columnOf returns the name of the column of a field that can be left out, or "".
func (i *Import) columnOf(field string) string {
	for _, c := range i.columns {
		if c.Field != nil && *c.Field == field && slices.Contains([]string{"purpose", "reason", "note"}, field) {
			return c.Name
		}
	}
	return ""
}

// setAddress sets the address or the domain from a cell that may have either, unless the row has one of them in a
// column of its own. A domain beside one of its addresses is dropped. It returns false if the cells differ.
func setAddress(n *suppression.New, cell string) bool {
	if strings.HasSuffix(strings.ToLower(n.Email), "@"+strings.ToLower(n.Domain)) {
		n.Domain = ""
	}
	if cell == "" || n.Email != "" && n.Domain != "" { // Check refuses both
		return true
	}
	if n.Email != "" || n.Domain != "" {
		return strings.EqualFold(cell, n.Email) || strings.EqualFold(strings.TrimPrefix(cell, "@"), n.Domain)
	}
	if at := strings.LastIndexByte(cell, '@'); at > 0 {
		n.Email = cell
	} else {
		n.Domain = cell[at+1:]
	}
	return true
}

func setField(n *suppression.New, field, cell string) {
	switch field {
	case suppression.Email:
		n.Email = cell
	case suppression.Domain:
		n.Domain = strings.TrimPrefix(cell, "@")
	case "purpose":
		n.Purpose = strings.ToLower(cell)
	case "reason":
		n.Reason = strings.ToLower(cell)
	case "note":
		n.Note = cell
	}
}
