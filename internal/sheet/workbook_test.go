package sheet_test

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/xuri/excelize/v2"

	"github.com/funnelwork/funnelwork/internal/fault"
	"github.com/funnelwork/funnelwork/internal/sheet"
)

func TestTheFirstSheetOfAWorkbookIsReadAsItIsShown(t *testing.T) {
	t.Parallel()
	book := excelize.NewFile()
	date, err := book.NewStyle(&excelize.Style{NumFmt: 14})
	if err != nil {
		t.Fatal(err)
	}
	for cell, v := range map[string]any{
		"A1": "email", "B1": "name", "C1": "size", "D1": "since",
		"A2": "a@x.test", "B2": "Ann, \"B\"\nC", "C2": 42, "D2": time.Date(2024, 1, 31, 0, 0, 0, 0, time.UTC),
		"A4": "b@x.test", "C4": "007",
	} {
		if err := book.SetCellValue("Sheet1", cell, v); err != nil {
			t.Fatal(err)
		}
	}
	if err := book.SetCellStyle("Sheet1", "D2", "D2", date); err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := book.Write(&b); err != nil {
		t.Fatal(err)
	}
	_, got := read(t, b.String(), sheet.Options{})
	want := []string{"2 a@x.test|Ann, \"B\"\nC|42|2024-01-31", "3 blank", "4 b@x.test||007"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	_, err = sheet.NewReader(strings.NewReader(b.String()[:b.Len()/2]), sheet.Options{})
	if f := fault.Of(err); f == nil || f.Fields[0].Code != "damaged_file" {
		t.Errorf("cut in half: %v", err)
	}
}

func TestCardsAreReadAsRows(t *testing.T) {
	t.Parallel()
	r, got := read(t, "BEGIN:VCARD\r\nVERSION:3.0\r\nN:Lovelace;Ada;;;\r\nFN:Ada Lovelace\r\n"+
		"item1.EMAIL;TYPE=INTERNET:a@x.test\r\nTEL;TYPE=CELL:+44 1\r\nNOTE:one\\, two\\n\r\n  three\r\n"+
		"PHOTO;ENCODING=b:AAAA\r\nEND:VCARD\r\nBEGIN:VCARD\r\nVERSION:4.0\r\nFN:Bob\r\nEMAIL:b@x.test\r\nEND:VCARD\r\n",
		sheet.Options{})
	want := []string{"2 Ada Lovelace|Ada|Lovelace|a@x.test|+44 1|one, two\n three", "3 Bob|||b@x.test||"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	header := []string{"Full Name", "First Name", "Last Name", "Email", "Mobile Phone", "Notes"}
	if diff := cmp.Diff(header, r.Header); diff != "" {
		t.Errorf("the header (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]sheet.OmittedColumn{{Column: "PHOTO", Reason: "not_text"}}, r.LeftOut); diff != "" {
		t.Errorf("left out (-want +got):\n%s", diff)
	}
}
