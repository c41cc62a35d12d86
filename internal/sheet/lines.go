package sheet

import (
	"bufio"
	"errors"
	"io"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/encoding/charmap"
)

// line is a line of a file. A cell in quotes may span several.
type line struct {
	text      string // in UTF-8
	end       string // "\n", "\r\n", "\r", or "" at the end of the file
	converted bool   // the line was read as Windows-1252
}

// lineReader reads a text line by line. It converts lines that are no UTF-8, and holds one line.
type lineReader struct {
	in      *bufio.Reader
	windows bool // every line is Windows-1252
	buf     []byte
}

// errLong ends a file that has a line above the size limit.
var errLong = errors.New("a line is too long")

// next returns the next line, or io.EOF. A text that ends with a line end has no line behind it.
func (l *lineReader) next() (line, error) {
	l.buf = l.buf[:0]
	for {
		chunk, err := l.in.Peek(max(1, l.in.Buffered()))
		if len(chunk) == 0 {
			if errors.Is(err, io.EOF) && len(l.buf) > 0 {
				return l.decode(""), nil
			}
			return line{}, err
		}

		at := indexLineEnd(chunk)
		if at < 0 {
			l.buf = append(l.buf, chunk...)
			_, _ = l.in.Discard(len(chunk)) // buffered
			if len(l.buf) > maxRecord {
				return line{}, errLong
			}
			continue
		}

		l.buf = append(l.buf, chunk[:at]...)
		end := string(chunk[at : at+1])
		_, _ = l.in.Discard(at + 1) // buffered
		if end == "\r" {
			if next, _ := l.in.Peek(1); len(next) == 1 && next[0] == '\n' {
				_, _ = l.in.Discard(1) // buffered
				end = "\r\n"
			}
		}
		if len(l.buf) > maxRecord {
			return line{}, errLong
		}

		return l.decode(end), nil
	}
}

func indexLineEnd(b []byte) int {
	for i, c := range b {
		if c == '\n' || c == '\r' {
			return i
		}
	}
	return -1
}

func (l *lineReader) decode(end string) line {
	if !l.windows && utf8.Valid(l.buf) {
		return line{text: string(l.buf), end: end}
	}

	var b strings.Builder
	for _, c := range l.buf {
		b.WriteRune(charmap.Windows1252.DecodeByte(c))
	}
	// A byte without a character in Windows-1252 becomes the control character of ISO 8859-1, see hasUndefined.
	text := strings.ReplaceAll(b.String(), string(utf8.RuneError), "\u0081")

	return line{text: text, end: end, converted: !l.windows}
}

// Original returns the bytes of a text that was read from UTF-8 or, if converted, from Windows-1252.
func Original(text string, converted bool) []byte {
	if !converted {
		return []byte(text)
	}

	b := make([]byte, 0, len(text))
	for _, r := range text {
		c, ok := charmap.Windows1252.EncodeRune(r)
		if !ok {
			c = byte(r) // a control character below 0xa0
		}
		b = append(b, c)
	}

	return b
}

// hasUndefined reports whether s has a control character that stands for a byte without a character in Windows-1252.
func hasUndefined(s string) bool {
	for i := 0; i+1 < len(s); i++ {
		if s[i] != 0xc2 {
			continue
		}
		switch s[i+1] {
		case 0x81, 0x8d, 0x8f, 0x90, 0x9d:
			return true
		}
	}
	return false
}
