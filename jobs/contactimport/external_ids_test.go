package contactimport_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/funnelwork/funnelwork/internal/contacts/exports"
	"github.com/funnelwork/funnelwork/internal/contacts/imports"
)

// TestRowsFindContactsByExternalIDs imports files with columns of ids of other systems, and what is exported then.
func TestRowsFindContactsByExternalIDs(t *testing.T) {
	t.Parallel()
	d := open(t)
	file := "Record ID,email,first_name,last_name,external_id:legacy\n" +
		"101,a@example.test,A,B,x-1\n102,b@example.test,A,B,\n103,c@example.test,A,B,x-3\n"
	dry := d.bring(file, imports.Choices{DryRun: true})
	i := d.bring(file, imports.Choices{})
	if i.RowsCreated != 3 || i.WarningsCount != 0 || counts(dry) != counts(i) {
		t.Errorf("%s, %d warnings; dry %s", counts(i), i.WarningsCount, counts(dry))
	}
	if f := i.Mapping["Record ID"]; f == nil || *f != "external_ids.hubspot" {
		t.Errorf("Record ID is mapped to %v", f)
	}
	if again := d.bring(file, imports.Choices{}); again.RowsUnchanged != 3 {
		t.Errorf("the second run: %s", counts(again))
	}

	// The ids alone find the contacts, whose addresses may have changed.
	moved := d.bring("external_id:hubspot,email\n101,new@example.test\n102,b@example.test\n", imports.Choices{})
	if moved.RowsUpdated != 1 || moved.RowsUnchanged != 1 {
		t.Errorf("by external id: %s", counts(moved))
	}
	if got := d.one(`SELECT string_agg(email, ' ' ORDER BY email) FROM contact`); got !=
		"b@example.test c@example.test new@example.test" {
		t.Error(got)
	}
	without := d.bring("external_id:hubspot,job_title\n103,Boss\n104,Nobody\n", imports.Choices{})
	if without.RowsUpdated != 1 || without.RowsFailed != 1 {
		t.Errorf("without addresses: %s\n%s", counts(without), d.failed(without))
	}
	long := d.bring("external_id:hubspot,email\n"+strings.Repeat("9", 256)+",c@example.test\n", imports.Choices{})
	if long.RowsUnchanged != 1 || long.WarningsCount != 1 {
		t.Errorf("a long id: %s, %d warnings", counts(long), long.WarningsCount)
	}

	for _, w := range []exports.Wanted{
		{Format: exports.CSV},
		{Format: exports.XLSX},
		{Format: exports.CSV, Fields: []string{"external_ids.hubspot", "email"}},
	} {
		back := d.bring(d.file(w), imports.Choices{})
		if back.RowsUnchanged != 3 || back.WarningsCount != 0 {
			t.Errorf("an export imported again: %s, %d warnings", counts(back), back.WarningsCount)
		}
	}
	header, _, _ := strings.Cut(d.file(exports.Wanted{Format: exports.CSV}), "\n")
	for _, column := range []string{"external_ids.hubspot", "external_ids.legacy"} {
		if !slices.Contains(strings.Split(strings.TrimSpace(header), ","), column) {
			t.Errorf("no column %s in %s", column, header)
		}
	}
	if lines := d.file(exports.Wanted{Format: exports.NDJSON}); !strings.Contains(lines,
		`"external_ids":{"hubspot":"101","legacy":"x-1"}`) {
		t.Error(lines)
	}
}
