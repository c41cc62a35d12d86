package parse

import (
	"bytes"
	"strings"
)

// readStatuses reads a message/delivery-status: groups of fields, of which the first is about the mail and each further
// one about a recipient. Some servers write a single group.
func (r *reader) readStatuses(body []byte) {
	for len(body) > 0 && len(r.mail.Statuses) < 100 {
		var group Header
		group, body = r.splitHeader(bytes.TrimLeft(body, "\r\n"))
		if queue := firstWord(group.Get("X-Postfix-Queue-ID")); queue != "" {
			r.mail.QueueID = clip(queue, 100)
		}
		s := Status{
			Recipient: typedValue(group.Get("Final-Recipient")),
			Action:    strings.ToLower(firstWord(group.Get("Action"))),
			Code:      Code(firstWord(group.Get("Status"))), Diagnostic: typedValue(group.Get("Diagnostic-Code")),
		}
		s.Remote = strings.ToLower(firstWord(typedValue(group.Get("Remote-MTA"))))
		s.Intended = strings.ToLower(strings.Trim(typedValue(group.Get("Original-Recipient")), "<> "))
		if !strings.Contains(s.Recipient, "@") {
			s.Recipient = s.Intended
		}
		if s.Recipient == "" && s.Action == "" && s.Code == "" {
			continue
		}
		s.Recipient = strings.ToLower(strings.Trim(s.Recipient, "<> "))
		s.Diagnostic = clip(oneLine(s.Diagnostic), 1000)
		r.mail.Statuses = append(r.mail.Statuses, s)
	}
}

// typedValue returns the value of a field like "rfc822; ada@example.com".
func typedValue(s string) string {
	if _, value, ok := strings.Cut(s, ";"); ok {
		return strings.TrimSpace(value)
	}
	return strings.TrimSpace(s)
}

// firstWord returns the first word of s.
func firstWord(s string) string {
	if f := strings.Fields(s); len(f) > 0 {
		return f[0]
	}
	return ""
}

// Code returns the first enhanced status code of s (RFC 3463), or "".
func Code(s string) string {
	for i := 0; i < len(s); i++ {
		if c := s[i]; c != '2' && c != '4' && c != '5' || i > 0 && (isNumber(s[i-1]) || s[i-1] == '.') {
			continue
		}
		if n := codeLength(s[i:]); n > 0 {
			return s[i : i+n]
		}
	}
	return ""
}

// codeLength returns the length of the code d.ddd.ddd at the start of s, or 0.
func codeLength(s string) int {
	i := 1
	for range 2 {
		if i >= len(s) || s[i] != '.' {
			return 0
		}
		digits := i + 1
		for i++; i < len(s) && isNumber(s[i]); i++ {
		}
		if i == digits || i-digits > 3 {
			return 0
		}
	}
	if i+1 < len(s) && s[i] == '.' && isNumber(s[i+1]) { // an IP address
		return 0
	}

	return i
}

func isNumber(c byte) bool { return c >= '0' && c <= '9' }

// readFeedback reads a message/feedback-report.
func (r *reader) readFeedback(body []byte) {
	h, _ := r.splitHeader(bytes.TrimLeft(body, "\r\n"))
	f := &Feedback{Type: strings.ToLower(firstWord(h.Get("Feedback-Type")))}
	for _, name := range []string{"Original-Rcpt-To", "Removal-Recipient", "X-HmXmrOriginalRecipient"} {
		if all := parseAddresses(typedValue(h.Get(name)), 1); len(all) > 0 {
			f.Recipient = strings.ToLower(all[0].Email)
			break
		}
	}
	r.mail.Feedback = f
}
