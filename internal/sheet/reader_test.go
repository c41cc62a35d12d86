package sheet_test

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/unicode"

	"github.com/funnelwork/funnelwork/internal/fault"
	"github.com/funnelwork/funnelwork/internal/sheet"
)

// known reports whether a cell is one of the names that these tests use in headers.
func known(name string) bool {
	return slices.Contains([]string{"email", "first name", "name"}, strings.ToLower(strings.TrimSpace(name)))
}

// read reads a file to its end and returns its rows as lines: the row's number, its defect and its cells.
func read(t *testing.T, file string, o sheet.Options) (*sheet.Reader, []string) {
	t.Helper()
	o.Known = known
	r, err := sheet.NewReader(strings.NewReader(file), o)
	if err != nil {
		t.Fatalf("%.60q: %v", file, err)
	}
	defer r.Close()
	var lines []string
	for {
		rec, err := r.Next()
		if errors.Is(err, io.EOF) {
			return r, lines
		}
		if err != nil {
			t.Fatalf("%.60q: %v", file, err)
		}
		text := fmt.Sprintf("%d %s%s", rec.Row, rec.Defect, strings.Join(rec.Cells, "|"))
		if rec.Blank {
			text = fmt.Sprintf("%d blank", rec.Row)
		}
		if rec.Converted {
			text += " converted"
		}
		if rec.Defect != "" {
			text = fmt.Sprintf("%d %s %s", rec.Row, rec.Defect, rec.Text)
		}
		lines = append(lines, text)
	}
}

func TestARowIsReadAsItWasMeant(t *testing.T) {
	t.Parallel()
	for name, x := range map[string]struct {
		file string
		want []string
	}{
		"unclosed in the last cell": {
			"email,name\na@x.test,\"Ann\nb@x.test,Bob\nc@x.test,Cy\n",
			[]string{`2 unclosed_quote a@x.test,"Ann`, "3 b@x.test|Bob", "4 c@x.test|Cy"},
		},
		"unclosed before quoted rows": {
			"email,name\na@x.test,\"Ann\nb@x.test,\"Bob\"\nc@x.test,\"Cy\"\n",
			[]string{`2 unclosed_quote a@x.test,"Ann`, "3 b@x.test|Bob", "4 c@x.test|Cy"},
		},
		"unclosed up to a quote of a later row": {
			"email,name,note\na@x.test,\"Ann,x\nb@x.test,Bob,y\nc@x.test,Cy,\"z\"\n",
			[]string{`2 unclosed_quote a@x.test,"Ann,x`, "3 b@x.test|Bob|y", "4 c@x.test|Cy|z"},
		},
		"opened and closed around rows": {
			"email,name\na@x.test,\"Ann\nb@x.test,Bob\nc@x.test,Cy\"\nd@x.test,Dan\n",
			[]string{
				`2 unclosed_quote a@x.test,"Ann`, "3 b@x.test|Bob", `4 c@x.test|Cy"`, "5 d@x.test|Dan",
			},
		},
		"unclosed with lines that are no rows": {
			"email,name,note\na@x.test,\"Ann,x\nmore\n\nb@x.test,Bob,y\n",
			[]string{"2 unclosed_quote a@x.test,\"Ann,x\nmore\n", "3 b@x.test|Bob|y"},
		},
		"unclosed in the last row": {
			"email,name\nb@x.test,Bob\na@x.test,\"Ann\n",
			[]string{"2 b@x.test|Bob", `3 unclosed_quote a@x.test,"Ann`},
		},
		"unclosed before a cell of two lines": {
			"email,name\na@x.test,\"Ann\nb@x.test,\"Bob\nthe second\"\n",
			[]string{`2 unclosed_quote a@x.test,"Ann`, "3 b@x.test|Bob\nthe second"},
		},
		"a cell of lines": {
			"email,note\na@x.test,\"one\r\ntwo, too\n\"\"three\"\"\"\n",
			[]string{"2 a@x.test|one\r\ntwo, too\n\"three\""},
		},
		"quotes that are not doubled": {
			"email,note\na@x.test,\"says \"hi\" to, you\"\nb@x.test,5\" wide\nc@x.test,\"Big\" Mac\n",
			[]string{`2 a@x.test|says "hi" to, you`, `3 b@x.test|5" wide`, `4 c@x.test|"Big" Mac`},
		},
		"blanks before quotes": {
			"email, \"name\"\na@x.test, \"Ann, B\"\n",
			[]string{"2 a@x.test|Ann, B"},
		},
		"a row too long with cells of lines": {
			"email,a,b,c,d\na@x.test,\"line\nbreak\",1,2,\"\n\",x\nb@x.test,1,2,3,4\n",
			[]string{
				"2 wrong_column_count a@x.test,\"line\nbreak\",1,2,\"\n\",x", "3 b@x.test|1|2|3|4",
			},
		},
		"short, long and blank rows": {
			"email,name,note\na@x.test,Ann\nb@x.test,Bob,x,\n\n,,\nc@x.test,Cy,x,y\n",
			[]string{
				"2 a@x.test|Ann", "3 b@x.test|Bob|x|", "4 blank", "5 blank",
				"6 wrong_column_count c@x.test,Cy,x,y",
			},
		},
		"line ends of all kinds": {
			"email,name\ra@x.test,Ann\r\nb@x.test,Bob\nc@x.test,Cy\r",
			[]string{"2 a@x.test|Ann", "3 b@x.test|Bob", "4 c@x.test|Cy"},
		},
		"a declared delimiter": {
			"sep=;\nemail;name\na@x.test;A,B,C,D\n",
			[]string{"3 a@x.test|A,B,C,D"},
		},
		"decimal commas": {
			"email;size;rate\na@x.test;1,5;2,5\nb@x.test;1,5;2,5\n",
			[]string{"2 a@x.test|1,5|2,5", "3 b@x.test|1,5|2,5"},
		},
		"tabs": {"email\tname\na@x.test\tA, B\n", []string{"2 a@x.test|A, B"}},
		"bars": {"email|name|tags\na@x.test|A|x,y\nb@x.test|B|\n", []string{"2 a@x.test|A|x,y", "3 b@x.test|B|"}},
		"notes above the header": {
			"Report of people\nExported on 2024-01-02, by Ann\n\nemail,name,note\na@x.test,Ann,x\n",
			[]string{"5 a@x.test|Ann|x"},
		},
		"padded notes above the header": {
			"Report;;\n;;\nemail;name;note\na@x.test;Ann;x\n",
			[]string{"4 a@x.test|Ann|x"},
		},
		"two byte order marks": {"\ufeff\ufeffemail,name\na@x.test,Ann\n", []string{"2 a@x.test|Ann"}},
		"a line of Windows-1252": {
			"email,name\na@x.test,J\xf6rg \x80\nb@x.test,Jörg\nc@x.test,\x81\n",
			[]string{"2 a@x.test|Jörg € converted", "3 b@x.test|Jörg", "4 invalid_utf8 c@x.test,\u0081"},
		},
		"refused rows": {
			"row,code,detail,email,name\n7,invalid_email,\"No, none.\",a@x.test,Ann\n9,unclosed_quote,x,b@x.test,\"B\n",
			[]string{"2 a@x.test|Ann", `3 unclosed_quote b@x.test,"B`},
		},
		"a column called code": {"email,code,detail\na@x.test,1,2\n", []string{"2 a@x.test|1|2"}},
		"one column":           {"email\na@x.test\n\nb@x.test\n", []string{"2 a@x.test", "3 blank", "4 b@x.test"}},
	} {
		_, got := read(t, x.file, sheet.Options{})
		if diff := cmp.Diff(x.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

func TestAnEncodingIsDetectedOrGiven(t *testing.T) {
	t.Parallel()
	const text = "email;name\na@x.test;Jörg €\n"
	utf16 := func(order unicode.Endianness, mark unicode.BOMPolicy) string {
		s, err := unicode.UTF16(order, mark).NewEncoder().String(text)
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	windows, err := charmap.Windows1252.NewEncoder().String(text)
	if err != nil {
		t.Fatal(err)
	}
	for name, x := range map[string]struct{ file, given, want string }{
		"UTF-8":                   {text, "", "utf-8"},
		"UTF-16LE with a mark":    {utf16(unicode.LittleEndian, unicode.UseBOM), "", "utf-16le"},
		"UTF-16BE with a mark":    {utf16(unicode.BigEndian, unicode.UseBOM), "", "utf-16be"},
		"UTF-16LE without a mark": {utf16(unicode.LittleEndian, unicode.IgnoreBOM), "", "utf-16le"},
		"UTF-16BE without a mark": {utf16(unicode.BigEndian, unicode.IgnoreBOM), "", "utf-16be"},
		"UTF-16BE that is given":  {utf16(unicode.BigEndian, unicode.IgnoreBOM), "utf-16be", "utf-16be"},
		"Windows-1252":            {windows, "windows-1252", "windows-1252"},
		"Latin-1":                 {windows, "ISO-8859-1", "windows-1252"},
	} {
		r, got := read(t, x.file, sheet.Options{Encoding: x.given})
		if diff := cmp.Diff([]string{"2 a@x.test|Jörg €"}, got); diff != "" || r.Encoding != x.want {
			t.Errorf("%s: %s (-want +got):\n%s", name, r.Encoding, diff)
		}
	}
}

func TestAFileOfAnotherKindIsRefusedWithItsName(t *testing.T) {
	t.Parallel()
	for file, want := range map[string]string{
		"%PDF-1.7\n...":                             "a PDF document",
		"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1\x00":      "an old Excel workbook (.xls)",
		"<!DOCTYPE html>\n<html><body>":             "an HTML page",
		"\ufeff\r\n  <HTML><table><tr><td>email":    "an HTML page",
		"<table border=1><tr><th>email</th></tr>":   "an HTML page",
		"<?xml version=\"1.0\"?><Workbook>":         "an XML document",
		`{"email":"a@x.test"}`:                      "a JSON document",
		`[{"email":"a@x.test"}]`:                    "a JSON document",
		"\x89PNG\r\n\x1a\n":                         "a PNG image",
		"PK\x03\x04xxxx":                            "damaged",
		"\x1f\x8bxxxxxxxxxxxxxxxxxx":                "damaged",
		string(gzipped(t, "%PDF-1.7\n")):            "a PDF document",
		string(gzipped(t, string(gzipped(t, "a")))): "a gzip archive inside another one",
	} {
		_, err := sheet.NewReader(strings.NewReader(file), sheet.Options{Known: known})
		if f := fault.Of(err); f == nil || !strings.Contains(f.Fields[0].Detail, want) {
			t.Errorf("%.20q: %v, want %s", file, err, want)
		}
	}
}

func gzipped(t *testing.T, text string) []byte {
	t.Helper()
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	if _, err := io.WriteString(w, text); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestACompressedFileIsRead(t *testing.T) {
	t.Parallel()
	_, got := read(t, string(gzipped(t, "email,name\na@x.test,Ann\n")), sheet.Options{})
	if diff := cmp.Diff([]string{"2 a@x.test|Ann"}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	cut := gzipped(t, "email,name\n"+strings.Repeat("a@x.test,Ann\n", 9))
	_, err := sheet.NewReader(bytes.NewReader(cut[:len(cut)-12]), sheet.Options{})
	if f := fault.Of(err); f == nil || f.Fields[0].Code != "damaged_file" {
		t.Errorf("cut short: %v", err)
	}
}
