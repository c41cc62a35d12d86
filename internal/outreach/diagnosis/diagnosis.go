package diagnosis

import (
	"regexp"
	"strings"
	"time"
)

// Subject is what a reply speaks of.
type Subject string

// The subjects.
const (
	Recipient Subject = "recipient"
	Sender    Subject = "sender"
	Message   Subject = "message"
	Network   Subject = "network"
)

// Reason says more about the subject.
type Reason string

// Reasons of a recipient.
const (
	NoSuchAddress Reason = "no_such_address"
	Closed        Reason = "closed" // an account that was closed, or moved
	Suspended     Reason = "suspended"
	Full          Reason = "mailbox_full"
	ReceiveLimit  Reason = "receive_limit" // gets more mail than it may
	Unavailable   Reason = "unavailable"   // the mailbox, for a while or for a reason that is not said
)

// Reasons of a sender.
const (
	SendingLimit    Reason = "sending_limit" // of an hour, a day, or a plan
	SendingRate     Reason = "sending_rate"  // too fast; soon over
	NotAllowed      Reason = "sender_not_allowed"
	RelayDenied     Reason = "relay_denied"
	SignIn          Reason = "sign_in_required"
	AccountBlocked  Reason = "account_blocked"
	Unauthenticated Reason = "domain_unauthenticated" // SPF, DKIM, DMARC, or an unverified domain
	Reputation      Reason = "server_blocked"         // the IP address or the domain has a bad name, or no reverse DNS
)

// Reasons of a message and of the network.
const (
	TooLarge    Reason = "too_large"
	Content     Reason = "content" // spam, a virus, an attachment, a policy
	Malformed   Reason = "malformed"
	NoRoute     Reason = "no_route" // no connection, or no answer in time
	Loop        Reason = "loop"
	Busy        Reason = "busy"
	Greylisted  Reason = "greylisted"
	ServerError Reason = "server_error"
	Unclear     Reason = "unclear"
)

// Reply is a reply of a server. Any member may be empty.
type Reply struct {
	Code     int    // such as 550
	Enhanced string // such as 5.1.1
	Text     string
	Host     string // of the server, if it is known
}

// Diagnosis is what a reply means.
type Diagnosis struct {
	About  Subject
	Reason Reason
	// Permanent reports that the server will not change its mind by itself.
	Permanent bool
	// Words reports that the text decided, and not a code alone.
	Words bool
	// After is how long the server asks to wait; 0: it does not say.
	After time.Duration
}

// IsHard reports whether the address is dead: nothing will ever be delivered to it.
func (d *Diagnosis) IsHard() bool {
	return d.About == Recipient && d.Permanent && (d.Reason == NoSuchAddress || d.Reason == Closed)
}

// IsPolicy reports whether the reply is a decision about the sender or the content of the mail, so that the recipient's
// address is not concerned.
func (d *Diagnosis) IsPolicy() bool {
	return d.About == Sender && d.Reason != SendingRate || d.About == Message && d.Reason == Content
}

// Of interprets a reply.
func Of(r Reply) Diagnosis {
	text := words(r.Text)
	if r.Enhanced == "" {
		r.Enhanced = enhancedIn(r.Text)
	}
	if r.Code == 0 {
		r.Code = codeIn(r.Text)
	}
	d := r.interpret(text)
	if d.After = waitIn(strings.ToLower(r.Text)); d.After == 0 && d.Reason == SendingLimit &&
		hourlyLimit.MatchString(text) {
		d.After = time.Hour
	}
	return d
}

func (r *Reply) interpret(text string) Diagnosis {
	permanent := r.isPermanent()
	if reason, ok := senderCodes[r.Enhanced]; ok {
		return Diagnosis{About: Sender, Reason: reason, Permanent: permanent}
	}
	if d, ok := r.byHost(text); ok {
		return d
	}
	for i := range phrases {
		p := &phrases[i]
		if p.matches(text) {
			return Diagnosis{About: p.about, Reason: p.reason, Permanent: permanent && !p.temporary, Words: true}
		}
	}
	d := r.byCode()
	d.Permanent = permanent && d.Permanent
	return d
}

// isPermanent reports whether the codes say that another attempt is of no use. Without a code it is unknown, and the
// text decides. Of two codes that contradict each other the one of the session is newer.
func (r *Reply) isPermanent() bool {
	switch {
	case r.Code != 0:
		return r.Code >= 500
	case r.Enhanced != "":
		return r.Enhanced[0] == '5'
	}
	return true
}

// byCode interprets a reply whose text says nothing.
func (r *Reply) byCode() Diagnosis {
	if d, ok := codes[r.Enhanced]; ok {
		d.Permanent = true
		return d
	}
	if len(r.Enhanced) > 4 {
		if d, ok := codes[r.Enhanced[:4]]; ok {
			d.Permanent = true
			return d
		}
	}
	if d, ok := replyCodes[r.Code]; ok {
		d.Permanent = true
		return d
	}
	return Diagnosis{About: Network, Reason: Unclear}
}

var (
	address  = regexp.MustCompile(`<?[^\s<>@:;,"'()]+@[a-z0-9\[\].-]+>?`)
	link     = regexp.MustCompile(`https?://\S+|www\.\S+`)
	anyCode  = regexp.MustCompile(`(?:^|[^\d.])([245]\.\d{1,3}\.\d{1,3})(?:$|[^\d.]|\.(?:$|\D))`)
	anyReply = regexp.MustCompile(`(?:^|[\s:(])([45]\d\d)(?:[ \-]|$)`)
)

// words returns a text in lower case and on one line, without what people chose freely and what would be taken for
// words of the server: addresses and links.
func words(text string) string {
	if len(text) > longestText {
		text = text[:longestText]
	}
	text = strings.ToLower(strings.ToValidUTF8(text, "?"))
	text = link.ReplaceAllString(text, "")
	text = address.ReplaceAllString(text, "<address>")
	text = marks.ReplaceAllString(text, " ")
	return strings.Join(strings.Fields(strings.NewReplacer("’", "'", "`", "'", "\"", "").Replace(text)), " ")
}

// marks are the codes of a reply, which some servers repeat in each line.
var marks = regexp.MustCompile(`(?:^|\s|\(|#)(?:[45]\d\d(?:-| |$)|#?[245]\.\d{1,3}\.\d{1,3}\b)`)

// longestText is how many bytes of a text are read.
const longestText = 8 << 10

func enhancedIn(text string) string {
	if found := anyCode.FindStringSubmatch(text); found != nil && found[1][0] != '2' {
		return found[1]
	}
	return ""
}

func codeIn(text string) int {
	found := anyReply.FindStringSubmatch(text)
	if found == nil {
		return 0
	}
	n := 0
	for _, c := range found[1] {
		n = 10*n + int(c-'0')
	}
	return n
}
