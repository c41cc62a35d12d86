package classify

import (
	"strings"

	"github.com/funnelwork/funnelwork/internal/inbound/parse"
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
