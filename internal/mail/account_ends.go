package mail

import (
	"fmt"
	"strings"
	"time"
)

// AccountsEnd returns the mail that warns of the end of a login at a platform and lists the affected accounts.
func AccountsEnd(to, platform string, accounts []string, at time.Time) Message {
	names := make([]string, 0, maxNames+1)
	for _, a := range accounts[:min(len(accounts), maxNames)] {
		names = append(names, quote(a))
	}
	if more := len(accounts) - len(names); more > 0 {
		names = append(names, fmt.Sprintf("and %d more", more))
	}
	platform = quote(platform)
	day := at.UTC().Format("2 January 2006")
	return notice(to, "Connect "+platform+named(" to %", "")+" again before "+day,
		"The login that "+named("% has", "we have")+" at "+platform+" for "+strings.Join(names,
			", ")+" ends on "+day+".",
		"The platform sets this end, and only somebody who logs in there again can move it. After it nothing can "+
			"be posted or read.",
		"Connecting the same account again keeps everything that belongs to it.")
}
