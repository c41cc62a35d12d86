package parse

import (
	"bytes"
	"hash"
	"io"
	"strings"
)

// WriteEssence writes what the author of a mail has written, and no server changes on the way: From, Date, Subject and
// the decoded parts. It writes to a hash, whose errors it ignores.
func WriteEssence(w hash.Hash, raw []byte) {
	r := reader{mail: &Mail{}, files: w}
	h, body := r.splitHeader(skipJunk(raw))
	r.mail.readHeader(h)
	h.writeOrigin(w)
	r.readPart(h, body, 0)
	for _, text := range []string{r.text.String(), r.html.String()} {
		writeText(w, strings.Join(strings.Fields(text), " ")+"\x00")
	}
}

// SameOrigin reports whether the headers of two mails have the same From, Date and Subject.
func SameOrigin(one, other []byte) bool {
	var a, b bytes.Buffer
	r := reader{mail: &Mail{}}
	first, _ := r.splitHeader(skipJunk(one))
	second, _ := r.splitHeader(skipJunk(other))
	first.writeOrigin(&a)
	second.writeOrigin(&b)
	return bytes.Equal(a.Bytes(), b.Bytes())
}

// writeOrigin writes who has sent a mail, when, and with which subject.
func (h Header) writeOrigin(w io.Writer) {
	from := ""
	if all := parseAddresses(h.Get("From"), 1); len(all) > 0 {
		from = strings.ToLower(all[0].Email)
	}
	date := strings.TrimSpace(h.Get("Date"))
	if at := parseDate(h.Get("Date")); !at.IsZero() {
		date = at.String()
	}
	writeText(w, from+"\x00"+date+"\x00"+oneLine(decodeWords(h.Get("Subject")))+"\x00")
}

// writeFile writes an attachment to r.files, if they are wanted, without the line ends of its encoding.
func (r *reader) writeFile(body []byte, encoding string) {
	if r.files == nil {
		return
	}
	isBase64 := strings.EqualFold(strings.TrimSpace(encoding), "base64")
	writeText(r.files, "file\x00")
	for len(body) > 0 {
		var line []byte
		line, body = cutLine(body)
		_, _ = r.files.Write(bytes.TrimRight(line, " \t"))
		if !isBase64 {
			writeText(r.files, "\n")
		}
	}
}
