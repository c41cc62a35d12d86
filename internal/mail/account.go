package mail

import (
	"fmt"
	"strings"
)

// maxNames is the maximum number of accounts named in a mail.
const maxNames = 10

// AccountsLost returns the mail that reports the end of a login at a platform and lists the affected accounts.
func AccountsLost(to, platform string, accounts []string) Message {
	names := make([]string, 0, maxNames+1)
	for _, a := range accounts[:min(len(accounts), maxNames)] {
		names = append(names, quote(a))
	}
	if more := len(accounts) - len(names); more > 0 {
		names = append(names, fmt.Sprintf("and %d more", more))
	}
	platform = quote(platform)
	return notice(to, "Reconnect "+platform+named(" to %", ""),
		platform+" no longer accepts the login that "+named("% has", "we have")+" for: "+strings.Join(names, ", ")+".",
		"This happens when a password is changed, a permission is taken back, or a login comes to its end. Nothing "+
			"can be posted or read there until somebody connects it again.",
		"Connecting the same account again keeps everything that belongs to it.")
}
