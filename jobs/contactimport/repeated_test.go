package contactimport_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/funnelwork/funnelwork/internal/contacts/imports"
)

// TestRowsFarApartAboutOneContactChangeItOnce imports a file whose blocks have rows about the same contacts, with
// values that differ, and then the same file again.
func TestRowsFarApartAboutOneContactChangeItOnce(t *testing.T) {
	t.Parallel()
	d := open(t)
	var b strings.Builder
	b.WriteString("email,first_name,last_name,job_title,note\n")
	for n := range 3500 {
		k := n
		if n%5 == 4 {
			k = n % 300 // of the first block, several times
		}
		note := ""
		if n < 300 {
			note = "first"
		}
		fmt.Fprintf(&b, "Person%d@example.test,First%d,Last,Title %d,%s\n", k, k, n, note)
	}
	dry := d.bring(b.String(), imports.Choices{DryRun: true})
	i := d.bring(b.String(), imports.Choices{})
	if i.RowsCreated != 2860 || i.RowsRepeated != 640 || counts(dry) != counts(i) {
		t.Errorf("%s; dry %s", counts(i), counts(dry))
	}
	if got := d.one(`SELECT job_title || ' ' || (attributes ->> 'note') FROM contact
		WHERE email = 'Person4@example.test'`); got != "Title 3304 first" {
		t.Errorf("the contact of several rows has %q", got)
	}
	if n := d.one(`SELECT count(*) FROM event WHERE type = 'contact.updated'`); n != "0" {
		t.Errorf("%s contacts are announced as updated", n)
	}
	again := d.bring(b.String(), imports.Choices{})
	if again.RowsUpdated+again.RowsCreated != 0 || again.RowsUnchanged != 2860 {
		t.Errorf("the second import: %s", counts(again))
	}
	if n := d.one(`SELECT count(*) FROM event WHERE type LIKE 'contact.%' AND type <> 'contact.created'`); n != "0" {
		t.Errorf("%s events of changes", n)
	}
}
