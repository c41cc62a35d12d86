package classify

import (
	"regexp"
	"strings"
)

// hardCodes are the enhanced codes that mean that the address does not exist (RFC 3463, RFC 7505), and two of Exchange.
var hardCodes = []string{
	"5.1.1", "5.1.2", "5.1.3", "5.1.6", "5.1.10", "5.2.1", "5.4.4", "5.4.310", "5.1.350", "5.1.351",
}

// The words of a server's reply, in lower case.
var (
	noAddress = regexp.MustCompile(strings.Join([]string{
		`user unknown`, `unknown user`, `no such (user|person|mailbox|recipient|address|account|domain|customer)`,
		`does(n't| not) exist`, `do(es)? not have an account`, `doesn't have an? .{0,40}account`,
		`(mailbox|user|recipient|address|account|addressee) (was )?(not|couldn't be|could not be|wasn't) found`,
		`recipnotfound`,
		`recipientnotfound`, `address not found`, `addressee unknown`, `recipient unknown`,
		`unknown (recipient|address|local part|local user|mailbox|account)`,
		`invalid (recipient|mailbox|address|user)`, `not a valid (mailbox|recipient|user|address)`,
		`not listed in`, `no mailbox here`, `unrouteable address`, `unroutable address`, `not our customer`,
		`is not a known user`, `not a known user`, `mailbox (is )?(unavailable|disabled|inactive|not available|closed)`,
		`account (is |has been |was )?(disabled|inactive|closed|deleted|deactivated|suspended|terminated)`,
		`(has been|is) (disabled|discontinued|deactivated)`,
		`no longer (valid|exists|works|with|on server|available|active)`,
		`user (is )?(unavailable|disabled|inactive|suspended)`,
		`recipient (address )?rejected: (user|undeliverable|access denied|unknown|invalid|mailbox)`,
		`(host|domain|name)( name)? (or domain name )?(not found|unknown|does not exist)`, `no such host`,
		`unknown host`, `null mx`,
		`nullmx`, `name or service not known`,
		`domain (name )?(is )?(not found|invalid|does not accept mail|has no mx)`,
		`nxdomain`, `non-?existent`, `mailbox not found`, `couldn't be found`, `wasn't found at`, `bad destination`,
		`not a member`, `not in directory`, `no account by that name`, `unknown in (local|virtual|relay) `,
		`utilisateur inconnu`, `empfänger unbekannt`, `benutzer unbekannt`, `destinatario desconocido`, `dd this user`,
		`invalid mailbox`, `not exist`, `this account (is|has)`, `email account that you tried to reach`,
	}, "|"))
	fullOrLater = regexp.MustCompile(strings.Join([]string{
		`(mailbox|mail box|inbox|account|folder|user).{0,30}(is |was )?(full|over( |-)?quota|exceed)`, `quota`,
		`insufficient (system )?storage`,
		`disk (space|full|usage)`, `too (large|big)`, `exceeds? .{0,30}(size|limit|maximum)`, `size limit`,
		`temporar`, `try again`,
		`timed? ?out`, `time-?out`, `connection (refused|reset|lost|dropped)`, `greylist`, `graylist`, `deferred`,
		`retry time`,
		`too many (connections|recipients|hops|messages)`, `rate limit`, `service (un)?available`,
		`not available at this time`,
		`loop`, `expired`, `couldn't connect`, `could not connect`, `unreachable`, `no route`, `server busy`,
		`out of memory`,
		`storage (space|limit)`, `receiving (mail|messages) (at a rate|too quickly)`, `over its limit`,
		`network error`, `i/o error`,
		`queue too long`, `has been in the queue`, `unable to lock`, `system error`,
	}, "|"))
	refusedByPolicy = regexp.MustCompile(strings.Join([]string{
		`spam`, `blocked`, `block ?list`, `black ?list`, `\brbl\b`, `dnsbl`, `spamhaus`, `barracuda`, `proofpoint`,
		`policy`, `policies`,
		`dmarc`, `\bspf\b`, `dkim`, `reputation`, `not authorized`, `not permitted`, `permission to`, `not allowed`,
		`access denied`,
		`virus`, `malware`, `relay`, `unauthenticated`, `authentication`, `\bptr\b`, `reverse dns`,
		`content (rejected|filter)`,
		`unsolicited`, `banned`, `rejected (due to|because|for)`, `suspicious`, `poor`,
		`listed (in|at|on)\b.{0,40}\b(bl|rbl|dnsbl|spamcop)`,
		`sender (is )?(rejected|denied|address rejected|verify failed)`, `restricted`, `prohibited`,
		`administrative`, `abuse`,
		`attachment`, `message (refused|rejected)`, `helo`, `ehlo`, `does not accept (mail|messages) from`,
	}, "|"))
)

// reasoned reports whether a server's reply has words that tell the kind of a bounce.
func reasoned(text string) bool {
	text = strings.ToLower(text)
	return noAddress.MatchString(text) || fullOrLater.MatchString(text) || refusedByPolicy.MatchString(text)
}

// kindOf returns the kind of a bounce from an enhanced or an SMTP code, which may be "", and the words of the reply.
func kindOf(code, text string) string {
	text = strings.ToLower(text)
	for _, hard := range hardCodes {
		if code == hard && !wrongHard(code, text) {
			return Hard
		}
	}
	switch {
	case strings.HasPrefix(code, "4"):
		if code == "4.4.4" && strings.Contains(text, "not found") {
			return Hard
		}
		return Soft
	case isLater(code):
		return Soft
	case strings.HasPrefix(code, "5.7."):
		if noSuchUser(text) {
			return Hard
		}
		return Policy
	}
	return kindOfWords(code, text)
}

// BounceOf returns the kind of a bounce of which a provider tells a code and the reply of the server, which may both be
// "", and whether it is permanent. The provider is believed unless the reply tells otherwise.
func BounceOf(code, text string, isPermanent bool) string {
	kind := kindOf(code, text)
	switch {
	case kind == Policy:
		return Policy
	case !isPermanent:
		return Soft
	case kind == Hard, !strings.HasPrefix(code, "4") && !isLater(code) && !reasoned(text):
		return Hard
	}
	return Soft
}

// isLater reports whether an enhanced code means a permanent failure that is not the address's.
func isLater(code string) bool {
	return code == "5.2.2" || code == "5.2.3" || strings.HasPrefix(code, "5.3.") || code == "5.4.6" ||
		code == "5.4.7" || code == "5.4.14" || code == "5.4.300" || code == "5.4.316"
}

// wrongHard reports whether the words contradict the code: some servers send 5.1.1 or 5.2.1 for anything.
func wrongHard(code, text string) bool {
	if noAddress.MatchString(text) {
		return false
	}
	return code == "5.2.1" && (fullOrLater.MatchString(text) || refusedByPolicy.MatchString(text)) ||
		refusedByPolicy.MatchString(text) && strongPolicy.MatchString(text) || strings.Contains(text, "quota")
}

var strongPolicy = regexp.MustCompile(`spam|block ?list|black ?list|spamhaus|dmarc|\bspf\b|reputation|rbl`)

// noSuchUser reports whether a reply with a code of a policy says that the address does not exist.
func noSuchUser(text string) bool {
	return noAddress.MatchString(text) && !strongPolicy.MatchString(text) &&
		!strings.Contains(text, "relay") && !strings.Contains(text, "sender")
}

func kindOfWords(code, text string) string {
	denied := strings.Contains(text, "access denied") && (code == "5.4.1" || strings.Contains(text, "5.4.1"))
	policy, gone, later := refusedByPolicy.MatchString(text), noAddress.MatchString(text), fullOrLater.MatchString(text)
	switch {
	case denied: // how Exchange Online refuses unknown recipients at its edge
		return Hard
	case policy && strongPolicy.MatchString(text):
		return Policy
	case later && strings.Contains(text, "quota"), later && fullMailbox.MatchString(text):
		return Soft
	case gone:
		return Hard
	case later:
		return Soft
	case policy:
		return Policy
	case code == "550", code == "551", code == "553", code == "5.1.0", code == "5.1.4":
		return Hard
	case code == "554", code == "521", code == "571":
		return Policy
	}
	return Soft
}

var fullMailbox = regexp.MustCompile(`(mailbox|mail box|inbox|account|folder).{0,30}(is |was )?(full|over)`)
