package parse

import "bytes"

// maxJunk is how many lines before a header are passed over.
const maxJunk = 30

// skipJunk returns a mail from its header on: a byte order mark, empty lines, the line of an mbox file and lines of
// programs that have passed it on may precede it. A mail whose first line is a field stays as it is, and so does one
// without a header.
func skipJunk(raw []byte) []byte {
	trimmed := bytes.TrimPrefix(raw, []byte("\xEF\xBB\xBF"))
	if line, _ := cutLine(trimmed); isField(line) {
		return trimmed
	}
	rest := trimmed
	for range maxJunk {
		line, after := cutLine(rest)
		if isKnownField(line) {
			return rest
		}
		if rest = after; len(rest) == 0 {
			break
		}
	}

	return raw
}

// isField reports whether a line looks like a field of a header.
func isField(line []byte) bool {
	name, _, ok := bytes.Cut(line, []byte{':'})
	if !ok || len(name) == 0 || len(name) > 76 {
		return false
	}
	for _, c := range name {
		if c <= ' ' || c >= 0x7f {
			return false
		}
	}
	return true
}

// isKnownField reports whether a line is a field with which headers begin.
func isKnownField(line []byte) bool {
	name, _, ok := bytes.Cut(line, []byte{':'})
	if !ok {
		return false
	}
	for _, known := range [][]byte{
		[]byte("Return-Path"), []byte("Received"), []byte("Delivered-To"), []byte("From"), []byte("To"), []byte("Date"),
		[]byte("Subject"), []byte("Message-ID"), []byte("MIME-Version"), []byte("Content-Type"), []byte("Reply-To"),
		[]byte("DKIM-Signature"), []byte("Authentication-Results"), []byte("ARC-Seal"), []byte("X-Original-To"),
		[]byte("Sender"), []byte("Envelope-To"), []byte("X-Received"),
	} {
		if bytes.EqualFold(bytes.TrimSpace(name), known) {
			return true
		}
	}
	return false
}
