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
	// Failures has what a report about several recipients says of each.
	Failures []Failure
	// Original is the Message-ID of the mail that was returned, reported or confirmed, without angle brackets; "": it
	// is not said.
	Original string
	// Until is the day on which the person is back, as an automatic reply says; nil: it does not say.
	Until *time.Time
	// Reply is what a person has written, without the quoted mail.
	Reply string
	// Sure is false if a person should settle the class: what was written may mean something else.
	Sure bool
}

// Answered is the mail of ours that a mail answers.
type Answered struct {
	Subject string
	Text    string // "": not kept any more
	Named   bool   // the answer names its Message-ID, or came to its own address
	// ByRecipient reports that the answer is from the address that the mail was sent to.
	ByRecipient bool
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

// Of returns the class of a mail of which nothing but itself is known.
func Of(m *parse.Mail) Result { return About(m, nil) }

// About returns the class of a mail that answers another one; nil: that one is not known.
func About(m *parse.Mail, a *Answered) Result {
	ours := ""
	if a != nil {
		ours = a.Text
	}
	r := Result{Reply: parse.ReplyTo(m.Text, ours), Sure: true}
	isPerson := isPersonal(m, a)
	switch {
	case complaint(m, &r), readProvider(m, &r),
		!isPerson && (readReport(m, &r) || readRejected(m, &r) || readReturned(m, a, &r)):
	case isUnsubscribeMail(m, a, r.Reply):
		r.Class = Unsubscribe
	case m.Receipt != nil || automaticHeader(m.Header):
		r.Class, r.Until = AutoReply, until(m, r.Reply)
	case isList(m), isOtherFeedback(m):
		r.Class = List
	case isFromDaemon(m), m.From.Email == "", r.Reply == "" && len(m.Attachments) == 0 && m.Subject == "":
		r.Class, r.Sure = Unknown, false
	default:
		readWords(m, a, &r)
		readRequest(m, a, &r)
	}

	return r
}

// readRequest makes a person's mail a request for no more mails if it is one.
func readRequest(m *parse.Mail, a *Answered, r *Result) {
	if r.Class != Human {
		return
	}
	switch readStop(m, a, r.Reply) {
	case stops:
		r.Class, r.Sure = Unsubscribe, true
	case mayStop:
		r.Sure = false
	}
}

// readWords tells a person's text from a program's whose header does not say so.
func readWords(m *parse.Mail, a *Answered, r *Result) {
	isNamed := a != nil && a.Named || len(m.References) > 0
	switch judgeNotice(m, a, r.Reply, isNamed) {
	case isNotice:
		r.Class, r.Until = AutoReply, until(m, r.Reply)
	case mayBeNotice:
		r.Class, r.Sure, r.Until = Human, false, until(m, r.Reply)
	default: // a server that sends a mail by itself gives it the null return path
		r.Class, r.Sure = Human, isNamed || m.ReturnPath != "<>" || isAnswerSubject(m.Subject)
	}
}

// isPersonal reports whether a mail is an answer and nothing but its words may say that a server wrote it.
func isPersonal(m *parse.Mail, a *Answered) bool {
	words, isAnswer := ownWords(m, a)
	return m.From.Email != "" && !isFromDaemon(m) && m.ReportType == "" && !m.Header.Has("X-Failed-Recipients") &&
		(a != nil && a.Named && a.ByRecipient || len(m.References) > 0 && !bounceSubject.MatchString(words) ||
			isAnswer && m.Original == nil && len(m.Statuses) == 0)
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

// isFromDaemon reports whether the sender has the address or the name of a program that delivers mails. The null return
// path alone says nothing about the author: some servers give it to what people write.
func isFromDaemon(m *parse.Mail) bool {
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
