package classify

import (
	"strings"
	"time"

	"github.com/funnelwork/funnelwork/internal/inbound/parse"
)

// Classes.
const (
	Human          = "human"
	AutoReply      = "auto_reply"
	Bounce         = "bounce"
	Complaint      = "complaint"
	Unsubscribe    = "unsubscribe_request"
	List           = "list"
	DeliveryReport = "delivery_report"
	Unknown        = "unknown"
)

// Kinds of bounces.
const (
	Hard    = "hard"
	Soft    = "soft"
	Delayed = "delayed"
	Policy  = "policy"
)

// Result is the class of a mail, with what follows from it.
type Result struct {
	Class string
	// Bounce is the kind of a bounce, Code its enhanced status code or the reply code of the server, Recipient the
	// address that the mail was not delivered to, and Diagnostic the reply of the server. Any but Bounce may be "".
	Bounce, Code, Recipient, Diagnostic string
	// Original is the Message-ID of the mail that was returned, reported or confirmed, without angle brackets; "": it
	// is not said.
	Original string
	// Until is the day on which the person is back, as an automatic reply says; nil: it does not say.
	Until *time.Time
	// Reply is what a person has written, without the quoted mail.
	Reply string
}

// Classes returns every class.
func Classes() []string {
	return []string{Human, AutoReply, Bounce, Complaint, Unsubscribe, List, DeliveryReport, Unknown}
}

// IsMachine reports whether no person wrote a mail of the class.
func IsMachine(class string) bool {
	switch class {
	case Human, Unsubscribe, Unknown:
		return false
	}
	return true
}

// Of returns the class of a mail.
func Of(m *parse.Mail) Result {
	r := Result{Reply: parse.Reply(m.Text)}
	switch {
	case complaint(m, &r), report(m, &r), returned(m, &r):
	case automatic(m, r.Reply):
		r.Class, r.Until = AutoReply, until(m, r.Reply)
	case isList(m):
		r.Class = List
	case asksToStop(m, r.Reply):
		r.Class = Unsubscribe
	case fromDaemon(m), m.From.Email == "", r.Reply == "" && len(m.Attachments) == 0 && m.Subject == "":
		r.Class = Unknown
	default:
		r.Class = Human
	}
	return r
}

// complaint reads a feedback report.
func complaint(m *parse.Mail, r *Result) bool {
	if m.Feedback == nil || m.Feedback.Type == "not-spam" || m.Feedback.Type == "auth-failure" ||
		m.Feedback.Type == "dmarc" {
		return false
	}
	r.Class, r.Recipient, r.Original = Complaint, m.Feedback.Recipient, original(m)
	return true
}

// isList reports whether a mailing list or a newsletter sent the mail. A member's answer refers to another mail.
func isList(m *parse.Mail) bool {
	if len(m.References) > 0 {
		return false
	}
	precedence := strings.ToLower(m.Header.Get("Precedence"))
	return m.Header.Has("List-Id") || m.Header.Has("List-Post") ||
		m.Header.Has("List-Unsubscribe") &&
			(precedence == "bulk" || precedence == "list" || m.Header.Has("Feedback-ID")) ||
		m.Header.Has("List-Unsubscribe-Post")
}

// fromDaemon reports whether a program sent the mail.
func fromDaemon(m *parse.Mail) bool {
	if m.ReturnPath == "<>" {
		return true
	}
	local, _, _ := strings.Cut(strings.ToLower(m.From.Email), "@")
	return daemons.MatchString(local) || daemonNames.MatchString(strings.ToLower(m.From.Name))
}

// original returns the Message-ID of the mail that was returned.
func original(m *parse.Mail) string {
	if i := m.Original.MessageID(); i != "" {
		return i
	}
	if i := m.Receipt.Get("Original-Message-ID"); i != "" {
		return strings.Trim(strings.TrimSpace(i), "<>")
	}
	if found := quotedID.FindStringSubmatch(m.Text); found != nil {
		return found[1]
	}
	if found := quotedID.FindStringSubmatch(m.HTML); found != nil {
		return strings.TrimSuffix(strings.TrimPrefix(found[1], "&lt;"), "&gt;")
	}
	if len(m.References) > 0 {
		return m.References[0]
	}
	return ""
}
