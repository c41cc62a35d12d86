package sheet

import (
	"bufio"
	"bytes"
	"io"
	"strings"

	"golang.org/x/text/encoding/unicode"
	"golang.org/x/text/transform"

	"github.com/funnelwork/funnelwork/internal/fault"
)

// Encodings of a file.
const (
	UTF8        = "utf-8"
	UTF16LE     = "utf-16le"
	UTF16BE     = "utf-16be"
	Windows1252 = "windows-1252"
)

// encodingOf returns the encoding with a name in a request, or a fault. "" is detected, and utf-16 is UTF-16 of the
// byte order of its mark.
func encodingOf(name string) (string, error) {
	switch name = strings.ToLower(strings.TrimSpace(name)); name {
	case "", UTF8, UTF16LE, UTF16BE, Windows1252, "utf-16":
		return name, nil
	case "utf8":
		return UTF8, nil
	case "utf16", "utf-16-le", "utf-16-be", "utf16le", "utf16be":
		return strings.Replace(strings.ReplaceAll(name, "-", ""), "utf16", "utf-16", 1), nil
	case "cp1252", "cp-1252", "windows1252", "latin1", "latin-1", "iso-8859-1", "iso8859-1", "us-ascii", "ascii":
		return Windows1252, nil
	}
	return "", fault.Invalid("encoding", "invalid_value",
		"An encoding is utf-8, utf-16, utf-16le, utf-16be or windows-1252.")
}

var byteOrderMark = []byte("\ufeff")

// decoded returns a reader of the file's text, and its encoding: the wanted one, or else the detected one. The text of
// a file that is not UTF-16 has the bytes of the file; a lineReader converts its lines.
func decoded(in *bufio.Reader, want string) (*bufio.Reader, string) {
	start, _ := in.Peek(4096) // a failing source fails again when it is read

	encoding := want
	switch {
	case bytes.HasPrefix(start, byteOrderMark):
		encoding = UTF8
	case bytes.HasPrefix(start, []byte("\xff\xfe")):
		encoding = UTF16LE
	case bytes.HasPrefix(start, []byte("\xfe\xff")):
		encoding = UTF16BE
	case want == "utf-16" || want == "":
		encoding = guessUTF16(start)
		if encoding == "" {
			encoding = UTF8
			if want != "" {
				encoding = UTF16LE
			}
		}
	}

	switch encoding {
	case UTF16LE:
		in = utf16Reader(in, unicode.LittleEndian)
	case UTF16BE:
		in = utf16Reader(in, unicode.BigEndian)
	}
	for {
		mark, _ := in.Peek(len(byteOrderMark)) // as above
		if !bytes.Equal(mark, byteOrderMark) {
			return in, encoding
		}
		_, _ = in.Discard(len(byteOrderMark)) // buffered
	}
}

func utf16Reader(in io.Reader, order unicode.Endianness) *bufio.Reader {
	return bufio.NewReaderSize(transform.NewReader(in, unicode.UTF16(order, unicode.IgnoreBOM).NewDecoder()), peek)
}

// guessUTF16 returns the encoding of a text without a byte order mark that has a NUL in nearly every second byte, or
// "".
func guessUTF16(start []byte) string {
	if len(start) < 4 {
		return ""
	}

	var even, odd int
	for i, b := range start {
		switch {
		case b != 0:
		case i%2 == 0:
			even++
		default:
			odd++
		}
	}

	half := len(start) / 2
	switch {
	case odd*10 > half*7 && even*20 < half:
		return UTF16LE
	case even*10 > half*7 && odd*20 < half:
		return UTF16BE
	}

	return ""
}
