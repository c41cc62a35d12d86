package sheet

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/funnelwork/funnelwork/internal/fault"
)

// Kinds of files that are read.
const (
	kindText  = "text"
	kindGzip  = "gzip"
	kindZip   = "zip"
	kindVCard = "vcard"
)

// signatures are the first bytes of files of other kinds.
var signatures = []struct{ start, name string }{
	{"%PDF", "a PDF document"},
	{"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "an old Excel workbook (.xls)"},
	{"{\\rtf", "an RTF document"},
	{"\x89PNG", "a PNG image"},
	{"\xff\xd8\xff", "a JPEG image"},
	{"GIF8", "a GIF image"},
	{"SQLite format 3\x00", "an SQLite database"},
	{"PAR1", "a Parquet file"},
	{"Rar!", "a RAR archive"},
	{"7z\xbc\xaf\x27\x1c", "a 7-Zip archive"},
	{"BZh", "a bzip2 archive"},
	{"\xfd7zXZ\x00", "an xz archive"},
	{"\x28\xb5\x2f\xfd", "a Zstandard archive"},
	{"\x09\x08", "an old Excel workbook (.xls)"},
	{"\x09\x04\x06\x00", "an old Excel workbook (.xls)"},
	{"\x09\x02\x06\x00", "an old Excel workbook (.xls)"},
	{"\x7fELF", "a program"},
	{"MZ\x90", "a program"},
}

// markups are the first words of files of other kinds, in lower case, behind white space and a byte order mark.
var markups = []struct{ start, name string }{
	{"<!doctype html", "an HTML page"},
	{"<html", "an HTML page"},
	{"<head", "an HTML page"},
	{"<body", "an HTML page"},
	{"<table", "an HTML page"},
	{"<meta", "an HTML page"},
	{"<style", "an HTML page"},
	{"<script", "an HTML page"},
	{"<div", "an HTML page"},
	{"<!--", "an HTML page"},
	{"<?xml", "an XML document"},
	{"<workbook", "an XML document"},
	{"{\"", "a JSON document"},
	{"{\n", "a JSON document"},
	{"{ ", "a JSON document"},
	{"[{", "a JSON document"},
	{"[\n", "a JSON document"},
	{"begin:vcalendar", "a calendar (iCalendar)"},
	{"mime-version:", "a mail or a web archive"},
}

// kindOf returns the kind of a file from its first bytes, or the fault for a file of a kind that is not read.
func kindOf(start []byte) (string, error) {
	switch {
	case bytes.HasPrefix(start, []byte("\x1f\x8b")):
		return kindGzip, nil
	case bytes.HasPrefix(start, []byte("PK\x03\x04")), bytes.HasPrefix(start, []byte("PK\x05\x06")):
		return kindZip, nil
	}

	for _, s := range signatures {
		if bytes.HasPrefix(start, []byte(s.start)) {
			return "", otherKind(s.name)
		}
	}

	return textKind(string(start))
}

// textKind returns the kind of a text from its beginning.
func textKind(start string) (string, error) {
	start = strings.ToLower(strings.TrimLeft(start[:min(len(start), 1024)], "\ufeff \t\r\n"))
	if strings.HasPrefix(start, "begin:vcard") {
		return kindVCard, nil
	}
	for _, m := range markups {
		if strings.HasPrefix(start, m.start) {
			return "", otherKind(m.name)
		}
	}

	return kindText, nil
}

// otherKind returns the fault for a file of a kind that is not read.
func otherKind(name string) *fault.Fault {
	return WrongFile("unsupported_file", fmt.Sprintf(
		"The file is %s. An import reads CSV, also compressed as .csv.gz, .xlsx and vCard files.", name))
}
