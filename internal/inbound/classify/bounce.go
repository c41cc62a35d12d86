package classify

import (
	"regexp"
	"strings"

	"github.com/funnelwork/funnelwork/internal/inbound/parse"
	"github.com/funnelwork/funnelwork/internal/outreach/diagnosis"
)

var (
	quotedID = regexp.MustCompile(`(?im)^[>| \t]*message-id: ?\s*(?:<|&lt;)([^<>\s]+@[^<>\s&]+)(?:>|&gt;)`)
	daemons  = regexp.MustCompile(`^(mailer[-_.]?daemon|postmaster|mail[-_.]?daemon|daemon|maildaemon` +
		`|poo?st[-_.]?master|` +
		`bounces?|mdaemon|microsoftexchange[0-9a-f]+|double-bounce|mailerdaemon)\b`)
	daemonNames = regexp.MustCompile(`^(mail delivery|mailer[- ]daemon|postmaster|system administrator|` +
		`microsoft outlook|microsoft exchange|mail administrator|internet mail|mail system|systemadministrator)`)
)

// Failure is what a report says of one recipient.
type Failure struct {
	Recipient, Intended string // in lower case; Intended may be ""
	// Kind is the kind of the bounce; "": it was delivered.
	Kind, Code, Diagnostic string
}

// For narrows a report about several recipients to the one that the mail was sent to.
func (r *Result) For(address string) {
	for i := range r.Failures {
		f := &r.Failures[i]
		if address == "" || f.Recipient != address && f.Intended != address {
			continue
		}
		r.Class, r.Bounce = Bounce, f.Kind
		if f.Kind == "" {
			r.Class = DeliveryReport
		}
		r.Recipient, r.Code, r.Diagnostic = f.Recipient, f.Code, f.Diagnostic
		return
	}
}

// readReport reads a delivery status notification. Of several recipients the one that fared worst counts, until For is
// called.
func readReport(m *parse.Mail, r *Result) bool {
	rank := -1
	for i := range m.Statuses {
		s := &m.Statuses[i]
		if s.Action == "" && s.Code == "" {
			continue
		}
		f := failureOf(m, s)
		if len(m.Statuses) > 1 {
			r.Failures = append(r.Failures, f)
		}
		if n := severity(s); n > rank {
			rank = n
			r.Class, r.Bounce, r.Code, r.Recipient, r.Diagnostic = Bounce, f.Kind, f.Code, f.Recipient, f.Diagnostic
		}
	}
	if rank < 0 {
		return false
	}
	if r.Original = original(m); rank == delivered {
		r.Class = DeliveryReport
	}

	return true
}

// failureOf returns what a status says of its recipient. Where the reply says nothing, the text of the notice may.
func failureOf(m *parse.Mail, s *parse.Status) Failure {
	f := Failure{Recipient: s.Recipient, Intended: s.Intended, Code: s.Code, Diagnostic: s.Diagnostic}
	switch severity(s) {
	case delivered:
		return f
	case delayed:
		f.Kind = Delayed
		return f
	}
	text := s.Diagnostic
	if len(m.Statuses) == 1 && (strings.TrimSpace(text) == "" || !reasoned(text)) {
		text += "\n" + noticeText(m)
	}
	code := f.Code
	if strings.HasSuffix(code, ".0.0") { // it says nothing but whether the failure is permanent
		code = parse.Code(s.Diagnostic)
	}
	if code == "" || strings.HasSuffix(code, ".0.0") {
		code = replyCode(s.Diagnostic)
	}
	if code == "" {
		code = f.Code
	}
	reply := replyOf(code, text)
	reply.Host = s.Remote
	d := diagnosis.Of(reply)
	if f.Kind = kindBy(&d); f.Code == "" {
		f.Code = code
	}

	return f
}

// What a delivery status says, from the best to the worst.
const (
	delivered = iota
	delayed
	failed
)

func severity(s *parse.Status) int {
	switch {
	case s.Action == "failed":
		return failed
	case s.Action == "delayed":
		return delayed
	case s.Action == "" && strings.HasPrefix(s.Code, "4"):
		return failed
	case s.Action == "delivered", s.Action == "relayed", s.Action == "expanded", strings.HasPrefix(s.Code, "2"):
		return delivered
	}
	return failed
}

// readReturned recognises the mails in which a server says in words what was not delivered.
func readReturned(m *parse.Mail, a *Answered, r *Result) bool {
	text := noticeText(m)
	lower := oneSpaced(text)
	if !isBounceNotice(m, a, text, lower) {
		return false
	}

	r.Class, r.Original, r.Recipient = Bounce, original(m), failedRecipient(m, text)
	r.Diagnostic, r.Code = quotedReply(text)
	if stillTrying.MatchString(lower) || stillTrying.MatchString(oneSpaced(m.Subject)) {
		r.Bounce = Delayed
		return true
	}
	reason := r.Diagnostic
	if !reasoned(reason) {
		reason = text
	}
	r.Bounce = kindOf(r.Code, reason)
	r.Failures = noticedFailures(m, text)

	return true
}

// isBounceNotice reports whether a mail is a notice in words. The words of our own subject say nothing. A person who
// writes about a delivery, or passes a notice on, is no mail system, and what they write answers a mail or has no
// address of its own.
func isBounceNotice(m *parse.Mail, a *Answered, text, lower string) bool {
	isSystem := fromMailSystem(m)
	subject, _ := ownWords(m, a)
	points := 0
	if isSystem || m.Header.Has("X-Failed-Recipients") || m.ReportType == "delivery-status" {
		points++
	}
	says := bounceText.MatchString(lower)
	if bounceSubject.MatchString(oneSpaced(subject)) {
		points++
	}
	if says && (points > 0 || isSystem) {
		points++
	}
	if isSystem && m.Original != nil {
		points++
	}
	switch {
	case points < 2:
		return false
	case isSystem || m.ReportType == "delivery-status" || m.Header.Has("X-Failed-Recipients"):
		return true
	case len(m.References) > 0:
		return false
	}
	begins := says && bounceText.MatchString(lower[:min(len(lower), noticeStart)]) && lonelyAddress.MatchString(text)

	return begins || quotesServer(m, text, lower) && !passedOn.MatchString(strings.ToLower(m.Subject))
}

// noticeStart is where a notice says what it is.
const noticeStart = 200

var (
	// passedOn is the prefix of a mail that a person forwards or answers.
	passedOn = regexp.MustCompile(`^\s*(re|aw|fwd?|wg|tr|rv|i|enc|sv|vs|antw|odp|rif|res|vb|ynt|ref)\s?(\[\d+\])?:`)
	// lonelyAddress is an address on a line of its own, as notices list them.
	lonelyAddress = regexp.MustCompile(`(?m)^\W*("[^"\n]*" ?)?<?[^\s<>@"]+@[\w-]+(\.[\w-]+)+>?:?\W*$`)
)

// oneSpaced returns a text in lower case on one line.
func oneSpaced(text string) string { return strings.Join(strings.Fields(strings.ToLower(text)), " ") }

// fromMailSystem reports whether a mail system sent the mail, by its envelope or by its name.
func fromMailSystem(m *parse.Mail) bool {
	if m.ReturnPath == "<>" {
		return true
	}
	for _, from := range []string{m.From.Email, strings.Trim(m.ReturnPath, "<>")} {
		local, _, _ := strings.Cut(strings.ToLower(from), "@")
		if daemons.MatchString(local) {
			return true
		}
	}
	return daemonNames.MatchString(strings.ToLower(m.From.Name))
}

// readRejected recognises the notice of a reader that refuses a mail which its server had taken (RFC 5429): an answer
// about what it did with the mail, not of a person.
func readRejected(m *parse.Mail, r *Result) bool {
	if m.Receipt == nil || !strings.Contains(oneSpaced(m.Receipt.Get("Disposition")), "deleted") {
		return false
	}
	text := noticeText(m)
	if !rejects.MatchString(oneSpaced(m.Subject)) && !rejects.MatchString(oneSpaced(text)) {
		return false
	}
	r.Class, r.Original = Bounce, original(m)
	if r.Recipient = strings.ToLower(addressed.FindString(m.Receipt.Get("Final-Recipient"))); r.Recipient == "" {
		r.Recipient = failedRecipient(m, text)
	}
	r.Diagnostic, r.Code = quotedReply(text)
	r.Bounce = kindOf(r.Code, text)

	return true
}

var rejects = regexp.MustCompile(`\b(rejected|refused|undeliverable|quota exceeded)\b`)

// noticedFailures returns what a notice in words says of each recipient, if there are several.
func noticedFailures(m *parse.Mail, text string) (all []Failure) {
	about := map[string]*strings.Builder{}
	var order []string
	own := ownAddresses(m)
	found := addressed.FindAllStringIndex(text, 40)
	for i, at := range found {
		address := strings.ToLower(text[at[0]:at[1]])
		local, _, _ := strings.Cut(address, "@")
		if own[address] || daemons.MatchString(local) {
			continue
		}
		end := len(text)
		if i+1 < len(found) {
			end = found[i+1][0]
		}
		if about[address] == nil {
			about[address] = &strings.Builder{}
			order = append(order, address)
		}
		about[address].WriteString(text[at[1]:end] + "\n")
	}
	if len(order) < 2 {
		return nil
	}
	for _, address := range order {
		section := about[address].String()
		f := Failure{Recipient: address}
		if f.Diagnostic, f.Code = quotedReply(section); f.Code == "" && !reasoned(section) {
			continue
		}
		f.Kind = kindOf(f.Code, section)
		all = append(all, f)
	}

	return all
}

// quotesServer reports whether a notice has what a person who writes about a delivery does not write: a server's code,
// or the header of the mail that is returned.
func quotesServer(m *parse.Mail, text, lower string) bool {
	return m.Header.Has("X-Failed-Recipients") || len(m.Original) > 0 || replied.MatchString(text) ||
		quotedID.MatchString(m.Text) || strings.Contains(lower, "#5.")
}
