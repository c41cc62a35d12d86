package contactimport_test

import (
	"strings"
	"testing"

	"github.com/funnelwork/funnelwork/internal/contacts/imports"
	"github.com/funnelwork/funnelwork/internal/id"
)

// TestCompaniesAreFoundByNameOrDomainAndMadeIfWanted imports names of companies without and with create_companies.
func TestCompaniesAreFoundByNameOrDomainAndMadeIfWanted(t *testing.T) {
	t.Parallel()
	d := open(t)
	known := id.New()
	d.exec(`INSERT INTO company (org_id, id, name, name_folded, domain, created_at, updated_at)
		VALUES ($1, $2, 'Known GmbH', 'known gmbh', 'known.example', now(), now())`, d.org, known)
	file := "email,first_name,last_name,Company\n" +
		"a@example.test,A,B,KNOWN gmbh\nb@example.test,A,B,https://www.known.example/x\n" +
		"c@example.test,A,B,New Ltd\nd@example.test,A,B,new ltd\ne@example.test,A,B,other.example\n" +
		"f@example.test,A,B,\n"

	plain := d.bring(file, imports.Choices{DryRun: true})
	if got := plain.Mapping["Company"]; got == nil || *got != "attributes.Company" {
		t.Errorf("without a wish the names go to %v", got)
	}
	mapping := []byte(`{"Company": "company"}`)
	i := d.bring(file, imports.Choices{Mapping: mapping, DryRun: true})
	if i.RowsCreated != 6 || i.WarningsCount != 3 {
		t.Errorf("%s, %d warnings; want 6 created, 3 warnings", counts(i), i.WarningsCount)
	}
	if strict := d.bring(file, imports.Choices{Mapping: mapping, DryRun: true, Strict: true}); strict.RowsFailed != 3 ||
		!strings.Contains(d.failed(strict), "unknown_company") {
		t.Errorf("strict: %s", d.failed(strict))
	}
	if n := d.one(`SELECT count(*) FROM company`); n != "1" {
		t.Fatalf("%s companies", n)
	}

	dry := d.bring(file, imports.Choices{MakeCompanies: true, DryRun: true})
	i = d.bring(file, imports.Choices{MakeCompanies: true})
	if i.RowsCreated != 6 || i.WarningsCount != 0 || counts(dry) != counts(i) {
		t.Errorf("%s, %d warnings; want 6 created; dry %s", counts(i), i.WarningsCount, counts(dry))
	}
	if got := d.one(`SELECT string_agg(coalesce(k.name, '-'), ' ' ORDER BY c.email) FROM contact c
		LEFT JOIN company k ON k.org_id = c.org_id AND k.id = c.company_id`); got !=
		"Known GmbH Known GmbH New Ltd New Ltd other.example -" {
		t.Error(got)
	}
	if n := d.one(`SELECT count(*) FROM event WHERE type = 'company.created'`); n != "2" {
		t.Errorf("%s companies are announced", n)
	}
	again := d.bring(file, imports.Choices{MakeCompanies: true})
	if again.RowsUnchanged != 6 || d.one(`SELECT count(*) FROM company`) != "3" {
		t.Errorf("again: %s", counts(again))
	}
}
