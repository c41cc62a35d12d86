package mail

import "net/url"

// The console's pages that links point to; each takes its token as ?token=.
const (
	resetPage  = "/reset-password"
	verifyPage = "/verify-email"
	invitePage = "/accept-invite"
)

// Reset returns the mail with the link to set a new password. base is the public address without a trailing slash.
func Reset(to, base, token string) Message {
	return compose(to, "Reset your "+named("% ", "")+"password",
		"Somebody, hopefully you, asked for a new password for your "+named("% ",
			"")+"account. The link is good for one hour and for one use.",
		"Set a new password", link(base, resetPage, token),
		"If it was not you, do nothing: your password stays as it is.")
}

// Verify returns the mail with the link to verify an address.
func Verify(to, base, token string) Message {
	return compose(to, "Confirm your mail address",
		"Welcome"+named(" to %", "")+". Please confirm that this address is yours. The link is good for seven days.",
		"Confirm the address", link(base, verifyPage, token),
		"If you did not sign up, do nothing.")
}

// Invite returns the mail with the link to join an org.
func Invite(to, base, token, org string) Message {
	return compose(to, "You are invited to “"+quote(org)+"”"+named(" on %", ""),
		"You are invited to join “"+quote(org)+"”"+named(" on %", "")+". The link is good for seven days.",
		"Accept the invitation", InviteLink(base, token),
		"If you do not know the sender, do nothing.")
}

// InviteLink returns the URL that accepts an invitation.
func InviteLink(base, token string) string { return link(base, invitePage, token) }

// ConfirmConsent returns the mail that asks a contact of an org to confirm the consent to get its mails. target is the
// page that confirms it.
func ConfirmConsent(to, org, target string) Message {
	return compose(to, "Please confirm that “"+quote(org)+"” may write to you",
		"“"+quote(org)+"” was asked to write to this address. Confirm that you want its mails.",
		"Confirm", target, "If you did not ask for this, do nothing: you will get no mails.")
}

func link(base, page, token string) string { return base + page + "?token=" + url.QueryEscape(token) }

// compose renders the text and the HTML. The only untrusted input is org names, which quote makes safe.
func compose(to, subject, lead, label, target, tail string) Message {
	return addressed(to,
		Template{Subject: subject, Before: []string{lead}, Label: label, Target: target, After: []string{tail}})
}

// addressed returns a mail in the platform's name.
func addressed(to string, l Template) Message {
	m := Message{To: to, Letter: &l}
	m.write(platform)
	return m
}
