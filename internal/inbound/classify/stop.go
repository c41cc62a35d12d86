package classify

import (
	"regexp"
	"strings"

	"github.com/funnelwork/funnelwork/internal/inbound/parse"
)

// What a mail says about further mails.
const (
	noStop = iota
	mayStop
	stops
)

// readStop says whether a mail asks for no more mails: the request counts, and not its words.
func readStop(m *parse.Mail, a *Answered, reply string) int {
	text := withoutFooters(reply)
	if strings.TrimSpace(text) == "" {
		return subjectStop(m, a)
	}
	found := noStop
	for _, s := range sentencesOf(text) {
		found = max(found, sentenceStop(fold(s)))
		if found == stops {
			break
		}
	}
	if found == noStop && subjectStop(m, a) == stops && len(text) <= maxStop {
		found = mayStop
	}

	return found
}

// maxStop is the length of the longest text of a mail whose subject alone asks for no more mails.
const maxStop = 200

// subjectStop reads the subject of a mail without a text.
func subjectStop(m *parse.Mail, a *Answered) int {
	words, _ := ownWords(m, a)
	if words == "" || len(words) > 80 {
		return noStop
	}
	return sentenceStop(fold(words))
}

var (
	howTo      = regexp.MustCompile(`^(?:how|wie|comment|como|come|hoe|hur|hvordan|jak|как|nasil|miten)\b|^как `)
	signed     = regexp.MustCompile(signs)
	signsOther = regexp.MustCompile(`見積|請求書|行を|报价|报价单|发票|견적|청구`)
	misses     = regexp.MustCompile(`\b(?:miss|verpassen|manquer|rater|perder\w*|perdere|missen|missa|misse|ga glip|` +
		`przegapi\w*|пропустить|kacirmak)\b`)
)

// sentenceStop reads a folded sentence.
func sentenceStop(s string) int {
	if len(s) > 500 {
		s = strings.ToValidUTF8(s[:500], "")
	}
	s = strings.TrimRight(strings.TrimSpace(s), ".!… ")
	if signed.MatchString(s) && !signsOther.MatchString(s) {
		return stops
	}
	found := noStop
	all := compiled()
	var (
		is     object
		spoken []*rules
	)
	for i := range all {
		if r := &all[i]; r.verbs.MatchString(s) || r.phrases.MatchString(s) {
			spoken = append(spoken, r)
			is.read(r, s)
		}
	}
	for _, r := range spoken {
		found = max(found, r.sentenceStop(s, is))
	}
	if found == noStop && !is.forbidden && !is.other && thirdParty.MatchString(s) {
		return mayStop
	}

	return found
}

// object is what a sentence speaks of, in any language: many verbs are those of several.
type object struct{ forbidden, other, me, list bool }

func (o *object) read(r *rules, s string) {
	o.forbidden = o.forbidden || r.dont.MatchString(s) || r.holdsNot(s)
	o.other = o.other || r.other.MatchString(s)
	o.me = o.me || r.toMe.MatchString(s)
	o.list = o.list || r.toList.MatchString(s) || r.fromList.MatchString(s)
}

// holdsNot reports whether the parts of a verb have a negation between them.
func (r *rules) holdsNot(s string) bool {
	for _, verb := range []*regexp.Regexp{r.unsubscribe, r.removes} {
		if at := verb.FindStringIndex(s); at != nil && r.not.MatchString(s[at[0]:at[1]]) {
			return true
		}
	}
	return false
}

// thirdParty matches a request for somebody who is named.
var thirdParty = regexp.MustCompile(`\b(?:take|remove|delete|drop) (?:[\w.]+ ){1,3}(?:off|from) (?:your|the|` +
	`this) (?:\w+ )?(?:lists?|mailing|database|distribution|newsletter)\b|` +
	`\b(?:nehmen|streichen|loschen|entfernen) sie (?:[\w.]+ ){1,3}(?:aus|von) (?:dem|ihrem|ihrer|der|` +
	`eurer) (?:\w*verteiler|\w*liste)\b|` +
	`\b(?:retirez|supprimez|enlevez) (?:[\w.]+ ){1,3}de (?:votre|la) (?:liste|base)\b`)

func (r *rules) sentenceStop(s string, is object) int {
	if r.phrases.MatchString(s) && !misses.MatchString(s) {
		return stops
	}
	found := max(r.removal(s, is), r.refusal(s))
	if found == stops && howTo.MatchString(s) {
		return mayStop
	}
	return found
}

// removal reads a request to be removed.
func (r *rules) removal(s string, is object) int {
	leaves := r.unsubscribe.MatchString(s)
	removes := r.removes.MatchString(s) || r.takes != nil && r.takes.MatchString(s) && r.fromList.MatchString(s)
	switch {
	case !leaves && !removes, is.forbidden, is.other && (!is.me || !is.list || r.cannot.MatchString(s)):
		return noStop
	case r.person.MatchString(s), leaves && r.cannot.MatchString(s):
		return mayStop
	}

	return stops
}

// refusal reads a request not to be written to.
func (r *rules) refusal(s string) int {
	isOther := r.other.MatchString(s)
	switch {
	case misses.MatchString(s):
		return noStop
	case r.stops.MatchString(s) && !isOther:
		return stops
	case r.dontWrite.MatchString(s) && r.notMe.MatchString(s) && !isOther:
		return stops
	case r.dontWant.MatchString(s) && (r.notMe.MatchString(s) || r.notMails.MatchString(s)) && r.wants.MatchString(s) &&
		(r.toList.MatchString(s) || r.getsMore.MatchString(s)) && !isOther:
		return stops
	}

	return noStop
}
