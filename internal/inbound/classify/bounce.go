package classify

import (
	"regexp"
	"strings"

	"github.com/funnelwork/funnelwork/internal/inbound/parse"
)

var (
	quotedID = regexp.MustCompile(`(?im)^[>| \t]*message-id: ?\s*(?:<|&lt;)([^<>\s]+@[^<>\s&]+)(?:>|&gt;)`)
	daemons  = regexp.MustCompile(`^(mailer[-_.]?daemon|postmaster|mail[-_.]?daemon|daemon|maildaemon|post-?master|` +
		`bounces?|mdaemon|microsoftexchange[0-9a-f]+|double-bounce|mailerdaemon)\b`)
	daemonNames = regexp.MustCompile(`^(mail delivery|mailer[- ]daemon|postmaster|system administrator|` +
		`microsoft outlook|microsoft exchange|mail administrator|internet mail|mail system|systemadministrator)`)
)

// report reads a delivery status notification.
func report(m *parse.Mail, r *Result) bool {
	if len(m.Statuses) == 0 {
		return false
	}
	var worst *parse.Status
	rank := -1
	for i := range m.Statuses {
		s := &m.Statuses[i]
		if s.Action == "" && s.Code == "" {
			continue
		}
		if n := severity(s); n > rank {
			worst, rank = s, n
		}
	}
	if worst == nil {
		return false
	}
	r.Code, r.Recipient, r.Diagnostic, r.Original = worst.Code, worst.Recipient, worst.Diagnostic, original(m)
	switch rank {
	case delivered:
		r.Class = DeliveryReport
	case delayed:
		r.Class, r.Bounce = Bounce, Delayed
	default:
		text := worst.Diagnostic
		if strings.TrimSpace(text) == "" || !reasoned(text) {
			text += "\n" + notice(m)
		}
		r.Class, r.Bounce = Bounce, kindOf(worst.Code, text)
		if r.Code == "" {
			r.Code = replyCode(worst.Diagnostic)
		}
	}
	return true
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

// returned recognises the mails in which a server says in words what was not delivered.
func returned(m *parse.Mail, r *Result) bool {
	text := notice(m)
	lower := strings.ToLower(text)
	subject := strings.ToLower(m.Subject)
	points := 0
	if fromDaemon(m) || m.Header.Has("X-Failed-Recipients") || m.ReportType == "delivery-status" {
		points++
	}
	if bounceSubject.MatchString(subject) {
		points++
	}
	if points > 0 && bounceText.MatchString(lower) {
		points++
	}
	if points < 2 || !quotesServer(m, text, lower) && !fromDaemon(m) {
		return false
	}
	r.Class, r.Original, r.Recipient = Bounce, original(m), failedRecipient(m, text)
	r.Diagnostic, r.Code = diagnostic(text)
	switch {
	case stillTrying.MatchString(lower) || stillTrying.MatchString(subject):
		r.Bounce = Delayed
	default:
		reason := r.Diagnostic
		if !reasoned(reason) {
			reason = text
		}
		r.Bounce = kindOf(r.Code, reason)
	}
	return true
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
		`無法傳遞`, `退信`, `전송할 수 없`, `teslim edilemedi`, `message bloqué`, `delivery incomplete`, `user unknown`,
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
		`не (может быть|было|удалось) достав`, `配信できませんでした`, `無法傳遞`, `\b55[0-9][ -]`, `smtp error`,
	}, "|"))
	stillTrying = regexp.MustCompile(strings.Join([]string{
		`will be retried`,
		`(has|have) not (yet )?been delivered (yet|after|to)?.{0,400}(no action|will continue|will keep|retr)`,
		`delivery (to the following recipients? )?(has been )?delayed`, `message delayed`, `still being retried`,
		`delayed mail`, `gmail will (keep trying|retry)`,
		`will (keep trying|continue trying|continue to try|keep retrying)`,
		`you do not need to resend`, `this is a warning message only`, `warning: could not send message`,
		`warning: message .{0,40}delayed`, `delivery incomplete`, `status notification \(delay\)`,
		`noch nicht zugestellt`,
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

// notice returns the text of the notice, without the mail that is returned below it.
func notice(m *parse.Mail) string {
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
	own := map[string]bool{strings.ToLower(m.From.Email): true}
	for _, a := range m.To {
		own[strings.ToLower(a.Email)] = true
	}
	for _, found := range addressed.FindAllString(text, 20) {
		local, _, _ := strings.Cut(strings.ToLower(found), "@")
		if found = strings.ToLower(found); !own[found] && !daemons.MatchString(local) {
			return found
		}
	}
	return ""
}

// diagnostic returns the reply of a server that a notice quotes, and its code.
func diagnostic(text string) (reply, code string) {
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
