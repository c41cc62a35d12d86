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

var (
	bounceSubject = regexp.MustCompile(strings.Join([]string{
		`undeliver`, `failure notice`, `delivery (status notification|failure|failed|notification|report|has failed)`,
		`mail delivery (failed|failure|problem|error|system)`, `returned mail`, `returned to sender`,
		`mail could not be delivered`,
		`message (not|could not be) delivered`, `could(n't| not) be delivered`, `nondeliverable`, `delivery delayed`,
		`mail failure`, `delay(ed)? mail`, `still being retried`, `warning: (message|could not send)`, `non remis`,
		`unzustellbar`, `nicht zugestellt`, `zustellung fehlgeschlagen`, `échec de (la )?remise`,
		`no se puede entregar`,
		`no entregado`, `mancato recapito`, `non recapitabile`, `não foi (possível )?entreg`, `não entregue`,
		`onbestelbaar`, `kan inte levereras`, `nie można dostarczyć`, `недоставлен`, `не доставлен`, `配信不能`,
		`無法傳遞`, `退信`, `전송할 수 없`, `teslim edilemedi`, `message bloqué`, `delivery incomplete`, `user ` +
			`unknown`, `non-?delivery`, `mail failed`, `returning (message )?to sender`,
		`не доставлено`, `could not send`, `delivery error`, `processing error`,
	}, "|"))
	bounceText = regexp.MustCompile(strings.Join([]string{
		`this is the qmail-send program`, `could not be delivered`, `couldn't be delivered`, `was(n't| not) delivered`,
		`wasn't able to deliver`, `unable to deliver`, `delivery (to|has|of|failed|attempt)`, `undeliver`,
		`permanent (fatal )?error`, `permanent failure`, `user unknown`, `address(es)? (failed|not found)`,
		`running the courier mail server`, `message blocked`, `this is the mail system at host`, `could not deliver`,
		`mail delivery software`, `returned to you`, `recipient address rejected`, `has not (yet )?been delivered`,
		`not listed in`, `no such user`, `temporary (problem|error|failure)`, `transient (non-)?fatal errors?`,
		`will (be retried|keep trying|continue|retry)`, `has been delayed`, `delivery error`, `mailbox unavailable`,
		`kunne ikke leveres`, `konnte nicht zugestellt`, `nicht zugestellt`, `n'a pas (pu être|été) (remis|distribué)`,
		`no se (ha )?(pudo|podido) entregar`, `impossibile recapitare`, `não pôde ser entregue`,
		`niet (worden )?bezorgd`,
		`не (может быть|было|удалось) достав`, `配信できませんでした`, `無法傳遞`, `\b55[0-9][ -]`, `smtp error`, `did not ` +
			`reach`, `(has been|was|been) returned`,
		`returned mail follows`, `(failed|following) addresses`, `unknown host`, `transcript of session follows`,
		`error (was encountered|delivering|while (attempting|delivering))`, `permanent delivery errors`, `could ` +
			`not be (sent|processed)`,
		`no such user`, `not delivered`, `non-delivery report`, `n'a pas pu etre`, `не может быть доставлено`,
	}, "|"))
	stillTrying = regexp.MustCompile(strings.Join([]string{
		`will be retried`,
		`(has|have) not (yet )?been delivered (yet|after|to)?.{0,400}(no action|will continue|will keep|retr)`,
		`delivery (to the following recipients? )?(has been )?delayed`, `message delayed`, `still being retried`,
		`delayed mail`, `gmail will (keep trying|retry)`,
		`will (keep trying|continue trying|continue to try|keep retrying)`,
		`you do not need to resend`, `this is a warning message only`, `warning: could not send message`,
		`warning: message .{0,40}delayed`, `delivery incomplete`, `status notification \(delay\)`,
		`noch nicht zugestellt`, `(delivery )?attempts will continue`, `still (trying|attempting|in the queue)`,
		`only a temporary failure`, `(is|has been) delayed (for|by)`, `delayed \d+ hours?`, `(delivery|retry` +
			`|retries|attempts?) .{0,60}(will|to) (continue|be made|be retried)`,
		`(continue|keep)(s|d)? (to try|trying|attempting)`, `temporar\w+ (delayed|deferred)`, `(pas|non) encore ` +
			`(été )?(remis|livré|distribué)`,
		`(weiter|erneut) versuch`, `zustellung (ist |wurde |wird )?verzögert`, `(retraso|retrasad|demora) (en|de) ` +
			`(la )?entrega`,
		`ritard(o|ata) .{0,20}(consegna|recapito)`, `vertraagd`, `opóźnion`, `задерж`, `配信が遅れ|遅延`, `延迟|延遲`,
	}, "|"))
	below = regexp.MustCompile(`(?im)^(-{2,} ?(below this line is a copy|this is a copy of|the body of the message|` +
		`original message|the original message|unsent message|message header follows|returned message|` +
		`included is a copy).*|--- ?enclosed.*|(return-path|received): .*)$`)
	addressed = regexp.MustCompile(`[A-Za-z0-9.!#$%&'*+/=?^_{|}~-]+@[A-Za-z0-9-]+(?:\.[A-Za-z0-9-]+)+`)
	replied   = regexp.MustCompile(`(?i)\b([45]\d\d)[ \-#:]+\(?#?(?:([245]\.\d{1,3}\.\d{1,3})\b)?`)
	coded     = regexp.MustCompile(`(?:\(#?|#|\s|^|')([45]\.\d{1,3}\.\d{1,3})\b`)
)

// maxNotice is how many bytes of a notice are read.
const maxNotice = 8 << 10

// noticeText returns the text of the notice, without the mail that is returned below it.
func noticeText(m *parse.Mail) string {
	text := m.Text
	if len(text) > maxNotice {
		text = strings.ToValidUTF8(text[:maxNotice], "")
	}
	if at := below.FindStringIndex(text); at != nil && at[0] > 0 {
		text = text[:at[0]]
	}
	return text
}

// failedRecipient returns the address that a notice is about, in lower case.
func failedRecipient(m *parse.Mail, text string) string {
	if given := m.Header.Get("X-Failed-Recipients"); given != "" {
		one, _, _ := strings.Cut(given, ",")
		return strings.ToLower(strings.TrimSpace(one))
	}
	own := ownAddresses(m)
	for _, found := range addressed.FindAllString(text, 20) {
		local, _, _ := strings.Cut(strings.ToLower(found), "@")
		if found = strings.ToLower(found); !own[found] && !daemons.MatchString(local) {
			return found
		}
	}

	return ""
}

// ownAddresses returns the addresses of the report's own header, in lower case.
func ownAddresses(m *parse.Mail) map[string]bool {
	own := map[string]bool{strings.ToLower(m.From.Email): true}
	for _, a := range m.To {
		own[strings.ToLower(a.Email)] = true
	}
	return own
}

// quotedReply returns the reply of a server that a notice quotes, and its code.
func quotedReply(text string) (reply, code string) {
	at := replied.FindStringSubmatchIndex(text)
	if at == nil {
		if found := coded.FindStringSubmatchIndex(text); found != nil {
			return lineAround(text, found[2]), text[found[2]:found[3]]
		}
		return "", ""
	}
	reply = lineAround(text, at[0])
	if at[4] >= 0 {
		return reply, text[at[4]:at[5]]
	}

	if code = parse.Code(reply); code != "" && code[0] != '2' {
		return reply, code
	}

	return reply, text[at[2]:at[3]]
}

// lineAround returns the rest of the paragraph from index i.
func lineAround(text string, i int) string {
	out := text[i:]
	if end := strings.Index(out, "\n\n"); end >= 0 {
		out = out[:end]
	}
	out = strings.Join(strings.Fields(out), " ")
	if len(out) > 1000 {
		out = strings.ToValidUTF8(out[:1000], "")
	}
	return out
}

// replyCode returns the SMTP code of a server's reply, or "".
func replyCode(s string) string {
	if found := replied.FindStringSubmatch(s); found != nil {
		return found[1]
	}
	return ""
}
