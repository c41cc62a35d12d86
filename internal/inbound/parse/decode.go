package parse

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"io"
	"mime"
	"strings"

	"golang.org/x/text/encoding/htmlindex"
)

func wordDecoder() *mime.WordDecoder { return &mime.WordDecoder{CharsetReader: charsetReader} }

// charsetReader returns a reader of UTF-8 for a text in a charset.
func charsetReader(charset string, r io.Reader) (io.Reader, error) {
	b, err := io.ReadAll(io.LimitReader(r, maxValue))
	if err != nil {
		return nil, fmt.Errorf("read encoded word: %w", err)
	}
	return strings.NewReader(toUTF8(b, charset)), nil
}

// toUTF8 returns a text as UTF-8. charset is the one that is declared, which may be wrong, unknown or "": a text is
// UTF-8 if it can be; one that is not legible in its charset is in the charset in which it reads best.
func toUTF8(b []byte, charset string) string {
	charset = strings.ToLower(strings.TrimSpace(charset))
	enc, err := htmlindex.Get(charset)
	is7Bit := strings.HasPrefix(charset, "iso-2022") || strings.HasPrefix(charset, "utf-16") || charset == "hz-gb-2312"
	if err == nil && is7Bit {
		return decodeAs(b, charset)
	}
	if looksLikeUTF8(b) || isASCII(b) && !bytes.Contains(b, []byte("\x1b$")) {
		return string(b)
	}

	known := err == nil && charset != "utf-8" && charset != "utf8" && charset != "us-ascii"
	if known {
		out, err := enc.NewDecoder().Bytes(b)
		if err == nil && isWide(charset) && !bytes.Contains(out, []byte("\uFFFD")) {
			return string(out)
		}
	} else {
		charset = ""
	}

	return decodeAs(b, guessCharset(b, charset))
}

// isWide reports whether a charset has characters of several bytes: few texts that are in another one are valid in it.
func isWide(charset string) bool {
	switch charset {
	case "shift_jis", "shift-jis", "sjis", "x-sjis", "euc-jp", "gbk", "gb2312", "gb18030", "big5", "big5-hkscs",
		"euc-kr", "ks_c_5601-1987":
		return true
	}
	return false
}

// decodeAs returns a text in a known charset as UTF-8.
func decodeAs(b []byte, charset string) string {
	enc, err := htmlindex.Get(charset)
	if err != nil {
		return strings.ToValidUTF8(string(b), "\uFFFD")
	}
	out, err := enc.NewDecoder().Bytes(b)
	if err != nil {
		return strings.ToValidUTF8(string(b), "\uFFFD")
	}
	return strings.ToValidUTF8(string(out), "\uFFFD")
}

func isASCII(b []byte) bool {
	for _, c := range b {
		if c >= 0x80 {
			return false
		}
	}
	return true
}

// decodeBody undoes a transfer encoding. It returns at most limit bytes, and whether there were more.
func decodeBody(body []byte, encoding string, limit int) (out []byte, more bool) {
	switch strings.ToLower(strings.TrimSpace(encoding)) {
	case "base64":
		out, more = decodeBase64(body, limit)
	case "quoted-printable":
		out, more = decodeQuoted(body, limit)
	default:
		out = body
	}
	if len(out) > limit {
		return out[:limit], true
	}
	return out, more
}

// decodeBase64 ignores every byte that is no digit of the encoding, and what follows the padding.
func decodeBase64(body []byte, limit int) (out []byte, more bool) {
	digits := make([]byte, 0, min(len(body), limit*4/3+8))
	for _, c := range body {
		if c == '=' {
			break
		}
		if isDigit64(c) {
			if len(digits) == cap(digits) {
				more = true
				break
			}
			digits = append(digits, c)
		}
	}
	if len(digits)%4 == 1 {
		digits = digits[:len(digits)-1]
	}
	out = make([]byte, base64.RawStdEncoding.DecodedLen(len(digits)))
	n, _ := base64.RawStdEncoding.Decode(out, digits) // what precedes an error is legible

	return out[:n], more
}

func isDigit64(c byte) bool {
	return c >= 'A' && c <= 'Z' || c >= 'a' && c <= 'z' || c >= '0' && c <= '9' || c == '+' || c == '/'
}

// sizeBase64 returns the size of an encoded file.
func sizeBase64(body []byte) int {
	n := 0
	for _, c := range body {
		if isDigit64(c) {
			n++
		}
	}
	return n * 3 / 4
}

// decodeQuoted leaves a malformed escape as it is.
func decodeQuoted(body []byte, limit int) (out []byte, more bool) {
	out = make([]byte, 0, min(len(body), limit))
	for len(body) > 0 {
		if len(out) >= limit {
			return out, true
		}
		line, rest := cutLine(body)
		ended := len(rest) > 0 || bytes.HasSuffix(body, []byte{'\n'})
		body = rest
		line = bytes.TrimRight(line, " \t")
		soft := bytes.HasSuffix(line, []byte{'='})
		if soft {
			line = line[:len(line)-1]
		}
		out = appendQuoted(out, line)
		if !soft && ended {
			out = append(out, '\n')
		}
	}

	return out, false
}

func appendQuoted(out, line []byte) []byte {
	for i := 0; i < len(line); i++ {
		if line[i] == '=' && i+2 < len(line) {
			hi, lo := hexDigit(line[i+1]), hexDigit(line[i+2])
			if hi < 16 && lo < 16 {
				out = append(out, hi<<4|lo)
				i += 2
				continue
			}
		}
		out = append(out, line[i])
	}
	return out
}

// hexDigit returns the value of a hexadecimal digit, or 16.
func hexDigit(c byte) byte {
	switch {
	case c >= '0' && c <= '9':
		return c - '0'
	case c >= 'A' && c <= 'F':
		return c - 'A' + 10
	case c >= 'a' && c <= 'f':
		return c - 'a' + 10
	}
	return 16
}
