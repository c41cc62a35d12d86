package provider

import "strings"

// dropped makes e the event of a mail that the provider has not sent, with the reason that it gives. Somebody who has
// unsubscribed or complained there has done so. Only a bounce that the provider remembers, by one of the words in
// bounced, says that the address is dead: a mail that became too old, a limit or a list of the account says nothing of
// it.
func (e *Event) dropped(reason string, bounced ...string) {
	lower := strings.ToLower(reason)
	has := func(words ...string) bool {
		for _, word := range words {
			if strings.Contains(lower, word) {
				return true
			}
		}
		return false
	}
	switch {
	case has("unsubscri"):
		e.Kind, e.Code, e.Diagnostic, e.Permanent = Unsubscribed, "", "", false
	case has("spam report", "complain"):
		e.Kind, e.Code, e.Diagnostic, e.Permanent = Complained, "", "", false
	case has(bounced...):
		e.Kind, e.Permanent, e.Diagnostic = Bounced, true, reason
	default:
		e.Kind, e.Code, e.Diagnostic, e.Permanent = Bounced, "", reason, false
	}
}
