package parse

import "strings"

// maxReply is how many bytes of a text are searched for the end of the reply.
const maxReply = 256 << 10

// ReplyTo returns what a person has written, above, below or between the lines of the mail that is answered, without
// that mail and without the signature. answered is the text of that mail, or "": its lines are no part of the reply,
// even if the mail program has not marked them.
func ReplyTo(text, answered string) string {
	if len(text) > maxReply {
		text = strings.ToValidUTF8(text[:maxReply], "")
	}
	r := replyReader{
		lines: strings.Split(strings.ReplaceAll(text, "\r\n", "\n"), "\n"),
		ours:  keysOf(answered),
	}
	r.whole = strings.ReplaceAll(r.ours, "\n", "")
	r.read()

	return r.String()
}

// replyReader collects the lines of a reply.
type replyReader struct {
	lines []string
	ours  string   // keys of the lines of the mail that is answered, each with a line end before and after it
	whole string   // the same without line ends
	tried int      // lines that may introduce a quotation, and do not
	kept  []string // of the part above, between or below quotations that is being read
	parts []string
}

func (r *replyReader) read() {
	for i := 0; i < len(r.lines); {
		line := strings.TrimSpace(r.lines[i])
		n := 0
		switch {
		case line == "":
		case isQuoted(line):
			r.endPart()
			i += r.quotedLines(i)
			continue
		case isSeparator(r.lines, i):
			n = 1 + headerLines(r.lines[min(i+1, len(r.lines)):])
		case headerLines(r.lines[i:]) > 0:
			r.dropRule()
			n = headerLines(r.lines[i:])
		case r.tried < maxTried:
			if n = attributionLines(r.lines[i:]); n == 0 && (endsInColon(line) || strings.Contains(line, "@")) {
				r.tried++
			}
		}
		if n > 0 {
			r.endPart()
			if i += n; !isQuoted(nextLine(r.lines[i:])) {
				r.readUnmarked(i)
				return
			}
			continue
		}
		if !r.isOurs(i, shortestOurs) {
			r.kept = append(r.kept, strings.TrimRight(r.lines[i], " \t\u00a0"))
		}
		i++
	}
	r.endPart()
}

// maxTried is how many lines are read that may be the sentence above a quotation, and are not.
const maxTried = 500

// isQuoted reports whether a line is marked as one of the mail that is answered.
func isQuoted(line string) bool {
	return strings.HasPrefix(line, ">") || strings.HasPrefix(line, "&gt;") || strings.HasPrefix(line, "| ")
}

// quotedLines returns how many lines from i on are quoted, with those that a server has wrapped without marking them.
func (r *replyReader) quotedLines(i int) int {
	n := 1
	for ; i+n < len(r.lines); n++ {
		line := strings.TrimSpace(r.lines[i+n])
		if isQuoted(line) {
			continue
		}
		isWrapped := line != "" && len(r.lines[i+n-1]) >= 66 && isQuoted(strings.TrimSpace(r.lines[i+n-1])) &&
			i+n+1 < len(r.lines) && isQuoted(strings.TrimSpace(r.lines[i+n+1]))
		if !isWrapped {
			break
		}
	}
	return n
}

// nextLine returns the first of a few lines that is not empty.
func nextLine(lines []string) string {
	for _, line := range lines[:min(len(lines), 5)] {
		if line = strings.TrimSpace(line); line != "" {
			return line
		}
	}
	return ""
}

// readUnmarked reads what follows the line that introduces a quotation without marks. If the mail that is answered is
// known, what is not of it is a part of the reply, unless most of it is something else.
func (r *replyReader) readUnmarked(from int) {
	known, other := 0, 0
	var kept []string
	for i, line := range r.lines[from:] {
		trimmed := strings.TrimSpace(line)
		switch {
		case trimmed == "":
			kept = append(kept, "")
		case isQuoted(trimmed):
		case r.isOurs(from+i, shortestQuoted):
			known++
		default:
			other++
			kept = append(kept, strings.TrimRight(line, " \t\u00a0"))
		}
	}
	if known > 0 && known >= other {
		r.kept = kept
		r.endPart()
	}
}

// dropRule removes the line that a mail program draws above the mail that is answered.
func (r *replyReader) dropRule() {
	for n := len(r.kept); n > 0; n-- {
		last := strings.TrimSpace(r.kept[n-1])
		if last != "" && (len(last) < 4 || strings.Trim(last, "_-*=") != "") {
			return
		}
		r.kept = r.kept[:n-1]
		if last != "" {
			return
		}
	}
}

// endPart ends the part that is being read, without its signature.
func (r *replyReader) endPart() {
	r.kept = r.kept[:signatureAt(r.kept, len(r.parts) > 0)]
	r.dropRule()
	if part := strings.Trim(strings.Join(r.kept, "\n"), "\n \t\u00a0\ufeff"); part != "" {
		r.parts = append(r.parts, part)
	}
	r.kept = nil
}

func (r *replyReader) String() string {
	out := strings.Join(r.parts, "\n\n")
	for strings.Contains(out, "\n\n\n") {
		out = strings.ReplaceAll(out, "\n\n\n", "\n\n")
	}
	return out
}
