package classify

import (
	"regexp"
	"strings"

	"github.com/funnelwork/funnelwork/internal/inbound/parse"
)

// answerPrefix matches what mail programs write before the subject of an answer or of a forwarded mail.
var answerPrefix = regexp.MustCompile(`^(?:` + strings.Join([]string{
	`re`, `res`, `ref`, `réf`, `réponse`, `rép`, `rép`, `r`, `rif`, `i`, `rv`, `enc`, `fw`, `fwd`, `tr`, `aw`,
	`antwort`, `wg`,
	`antw`, `doorst`, `betr`, `sv`, `vs`, `vb`, `vl`, `vá`, `továbbítás`, `odp`, `pd`, `ynt`, `yan`, `i̇lt`, `ilt`,
	`отв`, `ответ`, `на`,
	`пер`, `відп`, `fs`, `απ`, `πρθ`, `σχετ`, `atb`, `ats`, `hl`, `tl`, `bls`, `balas`, `trả lời`, `răsp`, `回复`,
	`答复`, `回覆`,
	`答覆`, `转发`, `轉寄`, `返信`, `転送`, `답장`, `회신`, `전달`, `השב`, `תגובה`, `הועבר`, `رد`, `إعادة`, `پاسخ`, `ตอบกลับ`,
}, "|") + `)(?: ?[\[(^]\d{1,3}[\])]?| ?\*\d{1,3})?\s?[:：]\s*`)

// tagged matches what lists, ticket systems and gateways write before a subject.
var tagged = regexp.MustCompile(`^(?:\[[^\]]{1,40}\]|\(ext(?:ernal)?\)|\*+ ?ext(?:ern)?(?:al)? ?\*+|ext(?:ernal)?:)\s*`)

// maxSubject is how many bytes of a subject are read.
const maxSubject = 1000

// stripPrefixes returns a subject in lower case without the prefixes of answers, and whether there was one.
func stripPrefixes(subject string) (bare string, isAnswer bool) {
	if len(subject) > maxSubject {
		subject = strings.ToValidUTF8(subject[:maxSubject], "")
	}
	bare = strings.ToLower(strings.TrimSpace(subject))
	for range 20 {
		if at := tagged.FindStringIndex(bare); at != nil {
			bare = bare[at[1]:]
			continue
		}
		at := answerPrefix.FindStringIndex(bare)
		if at == nil {
			break
		}
		bare, isAnswer = bare[at[1]:], true
	}

	return strings.TrimSpace(bare), isAnswer
}

// isAnswerSubject reports whether a subject begins as that of an answer.
func isAnswerSubject(subject string) bool {
	_, isAnswer := stripPrefixes(subject)
	return isAnswer
}

// ownWords returns what a subject adds to that of the mail which is answered, in lower case, and whether it is that of
// an answer. The words of our own subject say nothing about an answer.
func ownWords(m *parse.Mail, a *Answered) (words string, isAnswer bool) {
	words, isAnswer = stripPrefixes(m.Subject)
	if a == nil {
		return words, isAnswer
	}
	ours, _ := stripPrefixes(a.Subject)
	ours, words = strings.Join(strings.Fields(ours), " "), strings.Join(strings.Fields(words), " ")
	if ours == "" {
		return words, isAnswer
	}

	if at := strings.LastIndex(words, ours); at >= 0 {
		words = strings.TrimSpace(words[:at] + words[at+len(ours):])
	} else if squeeze(words) == squeeze(ours) { // folded within a word, or without punctuation
		words = ""
	}

	return words, isAnswer
}

// squeeze returns the letters and digits of a text.
func squeeze(s string) string {
	return strings.Map(func(r rune) rune {
		if strings.ContainsRune(" \t-–—_.,:;!?'\"’“”„()[]…", r) {
			return -1
		}
		return r
	}, s)
}

// namesProgram reports whether the words of a subject are those that a mail program writes before the subject of an
// automatic reply, and nothing that a person would go on from.
func namesProgram(words string) bool {
	at := autoSubject.FindStringIndex(words)
	return at != nil && (strings.HasSuffix(strings.TrimSpace(words[:at[1]]), ":") ||
		autoSubjectEnd.MatchString(words[at[1]:]))
}
