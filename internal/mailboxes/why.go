package mailboxes

// why has what a mailbox shows of a status_reason: what it waits for, and what a person can do.
type why struct{ detail, action string }

var whys = map[string]why{
	ByPerson: {
		"A person holds the mailbox. Its mails wait.",
		"Resume the mailbox when it may send again.",
	},
	LoginNeeded: {
		"The provider does not accept the login of the connected account any more.",
		"Connect the account again.",
	},
	AuthRefused: {
		"The server refuses the user name or the password.",
		"Enter the current password of the mailbox, then test it.",
	},
	ConnectFailed: {
		"No connection to the server can be made that is secure enough.",
		"Check the host, the port and the kind of encryption, then test the mailbox.",
	},
	TestRefused: {
		"The server did not take the test mail.",
		"Check that the account may send as this address, then test the mailbox.",
	},
	TestUnanswered: {
		"The server did not say whether it took the test mail.",
		"Test the mailbox again.",
	},
	BadBounces: {
		"Too many of the last 200 mails came back.",
		"Check where the addresses come from before you resume the mailbox.",
	},
	BadComplaints: {
		"Too many recipients of the last 200 mails complained.",
		"Write only to people who expect it before you resume the mailbox.",
	},
	ByCap: {
		"The mailbox has sent as many mails in 24 hours as it may. The others wait.",
		"Wait, or raise the daily limit of the mailbox.",
	},
	NotAllowed: {
		"The inbox is not read: its server is not one that may be called.",
		"Enter a public mail server with port 993 or 143 and encryption.",
	},
	ServerSilent: {
		"A server of the mailbox does not respond.",
		"Check that the mail server runs and that the host and the port are right, then test the mailbox.",
	},
	SendingLimit: {
		"The provider's limit of mails is reached. The others wait, and are tried again when it has ended.",
		"Wait, or set the daily limit of the mailbox below that of the provider, or take a larger plan there.",
	},
	SenderNotAllowed: {
		"The server does not let this account send as the address of the mailbox. Its mails wait.",
		"Let the provider verify the address, or enter one that belongs to the account, then resume the mailbox.",
	},
	RelayDenied: {
		"The server does not send mails of this account to other servers. Its mails wait.",
		"Enter the provider's server for outgoing mail with a user name and a password, then resume the mailbox.",
	},
	SignInRequired: {
		"The server takes mails only after a sign-in that it accepts. The mails of the mailbox wait.",
		"Enter the user name and the password that the provider wants here, such as an app password, then resume it.",
	},
	AccountBlocked: {
		"The provider has blocked the account for sending. Its mails wait.",
		"Ask the provider to unblock the account, then resume the mailbox.",
	},
	DomainUnauthenticated: {
		"Servers refuse the domain of the mailbox: its SPF, DKIM or DMARC record is missing or wrong. Its mails wait.",
		"Set the domain's DNS records as the provider says, then resume the mailbox.",
	},
	ServerBlocked: {
		"The server that sends has a bad reputation, is on a block list or has no reverse DNS name. The mails wait.",
		"Ask the operator of the server to have it removed from the list, then resume the mailbox.",
	},
	untested: {
		"The mailbox was not tested since it was set up.",
		"Test the mailbox.",
	},
	"": {"The mailbox waits.", "Test the mailbox, or ask the administrator of the mail server."},
}

// untested is the key in whys of an unverified mailbox without a reason.
const untested = "untested"

// setStatusReason sets status_reason, status_detail, status_action and next_sync_at of a mailbox that is shown. A state
// of the mailbox comes first, then a server that is silent, the cap, and an inbox that cannot be read.
func (m *stored) setStatusReason(out *Mailbox, full bool) {
	if m.Sync != nil {
		out.NextSyncAt = m.Sync.NextAt
	} else if m.silence != nil {
		out.NextSyncAt = &m.silence.NextAt
	}
	if out.Status == Active {
		switch {
		case m.silence != nil:
			out.StatusReason = new(ServerSilent)
		case full:
			out.StatusReason = new(ByCap)
		case m.Sync != nil && m.Sync.Error != nil && unread[*m.Sync.Error]:
			out.StatusReason = m.Sync.Error
		default:
			return
		}
	}
	reason := orEmpty(out.StatusReason)
	if reason == "" && out.Status == Unverified {
		reason = untested
	}
	text, known := whys[reason]
	if !known {
		text = whys[""]
	}
	if reason == ServerSilent && m.silence != nil {
		text.detail = m.silence.Detail
	}
	if refusals[reason] && m.refusalReply != "" {
		text.detail += " The server says: " + m.refusalReply
	}
	if reasonsWithReply[reason] && m.checkDetail != "" {
		text.detail += " " + m.checkDetail
	}
	if reasonsWithReply[reason] && m.checkAction != "" {
		text.action = m.checkAction
	}
	out.StatusDetail, out.StatusAction = &text.detail, &text.action
}

// reasonsWithReply are the reasons of which the mailbox keeps the words of the server.
var reasonsWithReply = map[string]bool{AuthRefused: true, ConnectFailed: true, TestRefused: true}

// unread has the errors of a folder that a person has to do something about.
var unread = map[string]bool{AuthRefused: true, LoginNeeded: true, NotAllowed: true}
