package emails

import (
	"regexp"
	"strings"
)

// MaxServerID is the maximum length of the id that a server gives a mail. The start of a longer one is no id.
const MaxServerID = 900

// serverIDs find the id that a server gives a mail in its last reply. A Message-ID in angle brackets is that of a
// server which replaces ours, as Exchange does. SES and Postmark replace it, too, by their id and a domain of their
// own. The events of SES, Postmark and SendGrid name the id, and the reports of other servers name their queue ids.
var serverIDs = []*regexp.Regexp{
	regexp.MustCompile(`<([^<>@\s]+@[^<>@\s]+)>`),
	regexp.MustCompile(`(?i)\bqueued as ([0-9A-Za-z_-]{6,})`),
	regexp.MustCompile(`(?i)\bid=([0-9A-Za-z-]{10,})`),
	regexp.MustCompile(`(?i)^ok ([0-9A-Za-z-]{24,})$`),
}

// serverID returns the id in the text of a server's last reply, or "".
func serverID(text string) string {
	for _, id := range serverIDs {
		if found := id.FindStringSubmatch(strings.TrimSpace(text)); found != nil && len(found[1]) <= MaxServerID {
			return found[1]
		}
	}
	return ""
}
