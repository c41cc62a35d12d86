package classify

import (
	"strconv"

	"github.com/funnelwork/funnelwork/internal/outreach/diagnosis"
)

// replyOf returns the reply of which a report has a code, enhanced or not, and a text.
func replyOf(code, text string) diagnosis.Reply {
	r := diagnosis.Reply{Text: text}
	if n, err := strconv.Atoi(code); err == nil {
		r.Code = n
	} else {
		r.Enhanced = code
	}
	return r
}

// Diagnose interprets a code, enhanced or not, and a text, which may both be "".
func Diagnose(code, text string) diagnosis.Diagnosis { return diagnosis.Of(replyOf(code, text)) }

// reasoned reports whether a server's reply has words that tell the kind of a bounce.
func reasoned(text string) bool {
	d := Diagnose("", text)
	return d.Words
}

// kindOf returns the kind of a bounce from an enhanced or an SMTP code, which may be "", and the words of the reply.
func kindOf(code, text string) string {
	d := Diagnose(code, text)
	return kindBy(&d)
}

// kindBy returns the kind of a bounce with a diagnosis.
func kindBy(d *diagnosis.Diagnosis) string {
	switch {
	case d.IsHard():
		return Hard
	case d.IsPolicy():
		return Policy
	}
	return Soft
}

// BounceOf returns the kind of a bounce of which a provider tells a code and the reply of the server, which may both be
// "", and whether it is permanent. The provider is believed unless the reply tells otherwise.
func BounceOf(code, text string, isPermanent bool) string {
	d := Diagnose(code, text)
	switch {
	case d.IsPolicy():
		return Policy
	case !isPermanent:
		return Soft
	case d.IsHard(), d.Reason == diagnosis.Unclear && (code == "" || code[0] != '4'):
		return Hard
	}
	return Soft
}
