package parse

import (
	"bytes"
	"hash"
	"mime"
	"strconv"
	"strings"
)

// reader walks the parts of a mail.
type reader struct {
	mail       *Mail
	text, html strings.Builder
	parts      int
	files      hash.Hash // to which attachments are written; nil: they are not
	dropped    bool      // the last field of the header was dropped, and with it the lines that continue it
}

// readPart reads a part with its header. depth is 0 for the mail itself.
func (r *reader) readPart(h Header, body []byte, depth int) {
	if r.parts++; r.parts > maxParts || depth > maxDepth {
		r.mail.Cut = true
		return
	}
	kind, params := mediaType(h.Get("Content-Type"))
	if depth == 0 {
		r.mail.ContentType = kind
	}
	encoding := h.Get("Content-Transfer-Encoding")
	switch {
	case strings.HasPrefix(kind, "multipart/"):
		if kind == "multipart/report" && r.mail.ReportType == "" {
			r.mail.ReportType = strings.ToLower(params["report-type"])
		}
		r.readMultipart(body, params["boundary"], depth)
	case kind == "message/delivery-status", kind == "message/global-delivery-status":
		r.readStatuses(r.readLimited(body, encoding))
	case kind == "message/feedback-report":
		r.readFeedback(r.readLimited(body, encoding))
	case kind == "message/disposition-notification", kind == "message/global-disposition-notification":
		r.mail.Receipt, _ = r.splitHeader(r.readLimited(body, encoding))
	case kind == "message/rfc822", kind == "message/global", kind == "text/rfc822-headers",
		kind == "message/global-headers", kind == "text/rfc822":
		r.readInnerMail(h, r.readLimited(body, encoding), kind, params, depth)
	case isFile(h, kind, params):
		r.addAttachment(h, body, kind, params)
		r.writeFile(body, encoding)
	case kind == "text/html":
		charset := params["charset"]
		if charset == "" {
			charset = metaCharset(r.readLimited(body[:min(len(body), 8<<10)], encoding))
		}
		r.appendText(&r.html, body, encoding, charset)
	default:
		r.appendText(&r.text, body, encoding, params["charset"])
	}
}

// isFile reports whether a part is a file and not the text of the mail.
func isFile(h Header, kind string, params map[string]string) bool {
	if !strings.HasPrefix(kind, "text/") {
		return kind != ""
	}
	disposition, more := mediaType(h.Get("Content-Disposition"))
	return disposition == "attachment" || more["filename"] != "" || params["name"] != "" && disposition != "inline" ||
		kind != "text/plain" && kind != "text/html"
}

// readLimited returns the first bytes of a decoded part.
func (r *reader) readLimited(body []byte, encoding string) []byte {
	out, more := decodeBody(body, encoding, maxText)
	r.mail.Cut = r.mail.Cut || more
	return out
}

// appendText appends a decoded text to b.
func (r *reader) appendText(b *strings.Builder, body []byte, encoding, charset string) {
	room := maxText - b.Len()
	if room <= 0 {
		r.mail.Cut = true
		return
	}
	out, more := decodeBody(body, encoding, room)
	r.mail.Cut = r.mail.Cut || more
	if b.Len() > 0 {
		b.WriteByte('\n')
	}
	s := strings.ReplaceAll(toUTF8(out, charset), "\r\n", "\n")
	b.WriteString(strings.ReplaceAll(strings.ReplaceAll(s, "\r", "\n"), "\x00", ""))
}

// readInnerMail reads the mail within a mail: that which is returned or reported, or an attached one.
func (r *reader) readInnerMail(h Header, inner []byte, kind string, params map[string]string, depth int) {
	head, body := r.splitHeader(inner)
	if r.mail.Original == nil {
		r.mail.Original = head
		if r.mail.Original == nil {
			r.mail.Original = Header{}
		}
	}
	if depth == 0 { // the whole mail is a returned one
		r.appendText(&r.text, body, "", "")
		return
	}

	if kind == "message/rfc822" || kind == "message/global" {
		r.addAttachment(h, inner, kind, params)
		r.writeFile(inner, "")
	}
}

// addAttachment lists an attachment.
func (r *reader) addAttachment(h Header, body []byte, kind string, params map[string]string) {
	if len(r.mail.Attachments) >= maxFiles {
		r.mail.Cut = true
		return
	}
	_, more := mediaType(h.Get("Content-Disposition"))
	name := more["filename"]
	if name == "" {
		name = params["name"]
	}
	a := Attachment{Name: clip(oneLine(decodeWords(name)), 255), Type: clip(kind, 200), Size: len(body)}
	switch strings.ToLower(strings.TrimSpace(h.Get("Content-Transfer-Encoding"))) {
	case "base64":
		a.Size = sizeBase64(body)
	case "quoted-printable":
		a.Size -= 2 * bytes.Count(body, []byte{'='})
	}
	if size, digest, ok := leftOut(h); ok {
		if a.Size = size; strings.EqualFold(strings.TrimSpace(h.Get("Content-Transfer-Encoding")), "base64") {
			a.Size = size * 3 / 4
		}
		if r.files != nil {
			writeText(r.files, "left out\x00"+digest)
		}
	}
	r.mail.Attachments = append(r.mail.Attachments, a)
}

// leftOut returns what the header of a part says of a content that was left out.
func leftOut(h Header) (size int, digest string, ok bool) {
	first, digest, found := strings.Cut(strings.TrimSpace(h.Get(LeftOut)), " ")
	size, err := strconv.Atoi(first)
	if !found || err != nil || size < 0 || size > MaxReceived {
		return 0, "", false
	}
	return size, digest, true
}

// clip returns at most n bytes of s, in whole characters.
func clip(s string, n int) string {
	if len(s) <= n {
		return s
	}
	return strings.ToValidUTF8(s[:n], "")
}

// readMultipart reads the parts between the lines of a boundary. A missing boundary is guessed.
func (r *reader) readMultipart(body []byte, boundary string, depth int) {
	if boundary == "" {
		boundary = guessBoundary(body)
	}
	if boundary == "" {
		r.appendText(&r.text, body, "", "")
		return
	}
	delimiter := []byte("--" + boundary)
	rest, ok := afterDelimiter(body, delimiter)
	if !ok { // no part has begun
		r.appendText(&r.text, body, "", "")
		return
	}

	for ok && r.parts <= maxParts {
		var one []byte
		if one, rest, ok = untilDelimiter(rest, delimiter); len(one) > 0 {
			h, inner := r.splitHeader(one)
			r.readPart(h, inner, depth+1)
		}
	}
	if ok {
		r.mail.Cut = true
	}
}

// afterDelimiter returns what follows the first line of the delimiter.
func afterDelimiter(body, delimiter []byte) (rest []byte, ok bool) {
	_, rest, ok = untilDelimiter(body, delimiter)
	return rest, ok
}

// untilDelimiter returns what precedes the next line of the delimiter, and what follows it. ok is false if no part
// follows.
func untilDelimiter(body, delimiter []byte) (before, rest []byte, ok bool) {
	for from := 0; from < len(body); {
		i := bytes.Index(body[from:], delimiter)
		if i < 0 {
			break
		}
		i += from
		after := body[i+len(delimiter):]
		if i > 0 && body[i-1] != '\n' || len(after) > 0 && !bytes.ContainsRune([]byte("\r\n\t -"), rune(after[0])) {
			from = i + len(delimiter)
			continue
		}
		last := bytes.HasPrefix(after, []byte("--"))
		line, rest := cutLine(after)
		if !last && len(bytes.TrimSpace(line)) > 0 {
			from = i + len(delimiter)
			continue
		}
		before = bytes.TrimSuffix(bytes.TrimSuffix(body[:i], []byte{'\n'}), []byte{'\r'})
		return before, rest, !last
	}

	return body, nil, false
}

// guessBoundary returns the boundary that the first line with two hyphens names, or "".
func guessBoundary(body []byte) string {
	for range 100 {
		line, rest := cutLine(body)
		if bytes.HasPrefix(line, []byte("--")) && len(line) > 6 && len(line) < 80 && !bytes.ContainsAny(line, " \t") {
			return string(line[2:])
		}
		if body = rest; len(body) == 0 {
			break
		}
	}
	return ""
}

// mediaType parses a Content-Type or Content-Disposition. Of a malformed value it returns the type, and the parameters
// boundary and charset if they are legible.
func mediaType(s string) (kind string, params map[string]string) {
	if s == "" {
		return "", nil
	}
	kind, params, err := mime.ParseMediaType(s)
	if err == nil {
		return kind, params
	}
	kind, rest, _ := strings.Cut(s, ";")
	params = map[string]string{}
	for one := range strings.SplitSeq(rest, ";") {
		name, value, ok := strings.Cut(one, "=")
		if ok {
			params[strings.ToLower(strings.TrimSpace(name))] = strings.Trim(strings.TrimSpace(value), `"`)
		}
	}

	return strings.ToLower(strings.TrimSpace(kind)), params
}
