package imports

import (
	"context"
	"slices"
	"strings"

	"github.com/funnelwork/funnelwork/internal/fault"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/sheet"
)

// companies returns the companies that the rows of a block name. A dry run makes none, and returns an id that no
// company has for each that it would make.
func (w Work) companies(ctx context.Context, tx *postgres.Tx, i *Import, all []sheet.Record) (map[string]id.ID, error) {
	at := slices.IndexFunc(i.columns, func(c Column) bool { return c.Field != nil && *c.Field == company })
	if at < 0 || w.Companies == nil {
		return nil, nil
	}

	var texts []string
	seen := map[string]bool{}
	for n := range all {
		text := strings.TrimSpace(sheet.Text(all[n].Cell(at)))
		if _, err := id.Parse(text); text == "" || err == nil || seen[text] || all[n].Defect != "" {
			continue
		}
		seen[text] = true
		texts = append(texts, text)
	}
	if len(texts) == 0 {
		return nil, nil
	}

	found, err := w.Companies(ctx, tx, texts, i.MakeCompanies && !i.DryRun, i.SuppressEvents)
	if err == nil && i.MakeCompanies && i.DryRun {
		for _, t := range texts {
			if _, is := found[t]; !is {
				found[t] = id.New()
			}
		}
	}

	return found, err
}

// explain returns f with the companies that are not found named as such.
func (i *Import) explain(f *fault.Fault) *fault.Fault {
	if f == nil || len(f.Fields) == 0 {
		return f
	}
	out := *f
	out.Fields = slices.Clone(f.Fields)
	for n := range out.Fields {
		out.Fields[n] = explainCompany(i.columns, out.Fields[n])
	}
	return &out
}

// explainCompany returns the error about a company that a column of names does not name.
func explainCompany(columns []Column, w fault.FieldError) fault.FieldError {
	named := func(field string) bool {
		return slices.ContainsFunc(columns, func(c Column) bool { return c.Field != nil && *c.Field == field })
	}
	if w.Pointer == "#/company_id" && w.Code == "invalid_uuid" && named(company) && !named("company_id") {
		w.Pointer = "#/" + company
		w.Code = "unknown_company"
		w.Detail = "No company, or more than one, has this name or domain. create_companies=true makes those that " +
			"are missing."
	}
	return w
}
