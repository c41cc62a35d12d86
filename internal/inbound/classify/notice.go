package classify

import (
	"regexp"
	"strings"

	"github.com/funnelwork/funnelwork/internal/inbound/parse"
)

// What the words of a mail say about its author.
const (
	isText = iota
	mayBeNotice
	isNotice
)

// enough points make a text an automatic reply: what a person writes about an absence has fewer.
const enough = 4

// judgeNotice says whether a program wrote a mail whose header does not say so. Words alone are hints: they need a
// subject that a program has written, a header, or a text that says nothing else. isNamed reports that the mail answers
// another one by its Message-ID, as most programs do not.
func judgeNotice(m *parse.Mail, a *Answered, reply string, isNamed bool) int {
	words, isAnswer := ownWords(m, a)
	if !isAnswer && namesProgram(words) {
		return isNotice
	}
	header := headerPoints(m)
	subject := 0
	if autoSubject.MatchString(words) || awaySubject.MatchString(words) {
		subject = 2
	}

	n := readNotice(m, reply)
	points := header + subject + n.points
	mostly := 2*n.covered >= n.sentences
	switch {
	case n.points < 2, points < enough && !n.isWhole():
		return isText
	case points < enough:
		return mayBeNotice
	case n.isWhole(), mostly && n.said == 0 && !isNamed && (header >= 2 || !isAnswer):
		return isNotice
	case n.said == 0 && (mostly || subject+header > 0):
		return mayBeNotice
	}

	return isText
}

// headerPoints says how much the header looks like an automatic reply's.
func headerPoints(m *parse.Mail) (points int) {
	switch strings.ToLower(strings.TrimSpace(m.Header.Get("Precedence"))) {
	case "bulk", "junk", "auto_reply":
		points++
	}
	if m.ReturnPath == "<>" {
		points += 2
	}
	if m.Header.Has("X-Auto-Response-Suppress") {
		points++
	}
	if noReply.MatchString(strings.ToLower(m.From.Email)) {
		points += 2
	}

	return points
}

// notice is what a text has of an automatic reply.
type notice struct {
	points             int
	sentences, covered int // without greetings; those that an automatic reply has
	said               int // sentences that only a person writes
}

// isWhole reports whether a text is nothing but an automatic reply.
func (n *notice) isWhole() bool { return n.said == 0 && n.covered == n.sentences }

// maxRead is how many bytes of a text are read as an automatic reply.
const maxRead = 1500

// readNotice reads the sentences of a text.
func readNotice(m *parse.Mail, reply string) (n notice) {
	start := strings.ToLower(strings.TrimSpace(reply))
	if len(start) > maxRead {
		start = strings.ToValidUTF8(start[:maxRead], "")
	}
	var has [5]bool
	for _, s := range sentencesOf(start) {
		if saysSo.MatchString(s) || asks.MatchString(s) {
			n.sentences++
			n.said++
			continue
		}
		if isGreeting(s) {
			continue
		}
		n.sentences++
		is := kindsOf(s)
		for i := range is {
			has[i] = has[i] || is[i]
		}
		if is != [5]bool{} {
			n.covered++
		}
	}
	for i, worth := range [5]int{enough, 2, 1, 1, 1} {
		if has[i] {
			n.points += worth
		}
	}
	if until(m, reply) != nil {
		n.points++
	}

	return n
}

// isGreeting reports whether a sentence is a greeting, a closing line or a name.
func isGreeting(s string) bool {
	s = strings.TrimRight(s, ",.! ")
	if greeting.MatchString(s) {
		return true
	}
	return len(s) <= 40 && len(strings.Fields(s)) <= 3 && !strings.ContainsFunc(s, isIdeograph) &&
		kindsOf(s) == [5]bool{} &&
		!saysSo.MatchString(s)
}

// kindsOf reports which kinds of sentences of automatic replies a sentence is.
func kindsOf(s string) (is [5]bool) {
	for i, kind := range []*regexp.Regexp{machineText, away, alternative, thanks, promise} {
		is[i] = kind.MatchString(s)
	}
	return is
}

// isIdeograph reports whether a letter belongs to a script without spaces between words.
func isIdeograph(r rune) bool { return r >= 0x0E00 && r <= 0x0E7F || r >= 0x3040 && r <= 0x9FFF }
