package diagnosis

import (
	"regexp"
	"strings"
)

// phrase is a row of the table of words: the first one that matches decides.
type phrase struct {
	about  Subject
	reason Reason
	words  *regexp.Regexp
	// unless, which may be nil, has words that mean something else.
	unless *regexp.Regexp
	// temporary reports that the words contradict a code that is permanent.
	temporary bool
}

func (p *phrase) matches(text string) bool {
	return p.words.MatchString(text) && (p.unless == nil || !p.unless.MatchString(text))
}

// anyOf returns an expression that matches each of the alternatives.
func anyOf(alternatives ...string) *regexp.Regexp {
	return regexp.MustCompile(strings.Join(alternatives, "|"))
}

// phrases is the table of words, in the order in which it is searched: what could be taken for something else comes
// first.
var phrases = join(recipientLimits, senderPhrases, recipientPhrases, messagePhrases, networkPhrases)

func join(tables ...[]phrase) (all []phrase) {
	for _, t := range tables {
		all = append(all, t...)
	}
	return all
}

// recipientLimits are limits of the recipient, whose words are those of the sender's limits as well.
var recipientLimits = []phrase{
	{about: Recipient, reason: ReceiveLimit, temporary: true, words: anyOf(
		`receiving (mail|messages|email|e-mail)s? (at a rate|too|more)`,
		`(recipient|user|mailbox|account|address|they|he) .{0,60}(can|may|allowed to|able to) receive`,
		`(receiv\w*|inbound|incoming) (rate|limit|quota)`, `too many (messages|mails|emails) (to|for) (this|the) `+
			`recipient`,
		`(messages|mails|emails) received .{0,40}(limit|hour|day)`, `recipient'?s? .{0,20}(message|mail) (rate )?limit`,
	)},
	{about: Recipient, reason: Full, temporary: true, words: anyOf(
		`(mailbox|mail box|inbox|maildrop|mail ?dir|mailfolder|folder|disk|storage|account storage|spool|user's)`+
			` .{0,50}(full|over ?-?quota|out of (space|storage)|exceed|quota|limit|overflow)`,
		`\b(mailbox|inbox|account|user|folder|disk)( is| was|'s)?( now| currently| too)? (full|over ?-?quota`+
			`|overquota)`,
		`over (its|the|their|his|her|your)?( \w+)? ?(storage |disk |mail |allowed |mailbox )?quota\b`, `over ?-?quota`,
		`overdrawn`,
		`(recipient|user|mailbox|account|disk|storage|maildir|mailfolder|imap|domain|size|allocated|inbox) ?quota`,
		`quota (is |was |has been |limit )?(exceeded|full|exhausted|reached|violation)`,
		`exceed(s|ed|ing)? .{0,30}(storage|disk|mailbox|space|size quota|quota)`, `out of storage space`,
		`insufficient (disk|mailbox|storage|system storage|space)`, `not enough (storage|disk|space)`,
		`no (storage )?space left`, `mailbox (size )?limit`, `account is over`, `is full\b`, `mailbox full`,
		`postfach (ist )?(voll|überfüllt)`, `boîte .{0,20}pleine`, `buz[oó]n .{0,20}llen`, `casella .{0,20}piena`,
		`caixa .{0,20}cheia`, `mailbox vol\b`, `skrzynka .{0,20}(pełna|przepełnion)`, `ящик .{0,20}(полон|переполнен)`,
	), unless: anyOf(
		sendingWords, `message (size|too)`, `message .{0,20}exceed`, `queue`, `file system`, `number of (messages`+
			`|recipients)`,
		`size (of|limit).{0,20}message`,
	)},
}

// sendingWords are beside a limit that is the sender's.
const sendingWords = `\bsend(ing|er)?\b|\bsent\b|outgoing|outbound|daily|hourly|per (hour|day|minute)|24[ -]?hours?|` +
	`submission|messages? (quota|rate)|relay|recipients? (rate|limit|per)|credits|smtp (quota|limit)`

// hostPhrases have the words that mean something else at some servers. NTT Docomo refuses mail by the filters of the
// recipient with the words of an unknown user, after the text of the mail.
var hostPhrases = []struct {
	suffix string
	phrase phrase
}{
	{"docomo.ne.jp", phrase{about: Recipient, reason: Unavailable, temporary: true, words: anyOf(`unknown user`)}},
}

// byHost interprets a reply by the words that its server is known for.
func (r *Reply) byHost(text string) (Diagnosis, bool) {
	for i := range hostPhrases {
		h := &hostPhrases[i]
		if strings.HasSuffix(strings.ToLower(strings.TrimSpace(r.Host)), h.suffix) && h.phrase.matches(text) {
			return Diagnosis{About: h.phrase.about, Reason: h.phrase.reason, Words: true}, true
		}
	}
	return Diagnosis{}, false
}
