package diagnosis

import (
	"regexp"
	"strconv"
	"time"
)

// longestWait bounds what a server may ask for.
const longestWait = 24 * time.Hour

// askedWait is how servers say when to try again: "retry after 30 minutes", "wait 3600 seconds".
var askedWait = regexp.MustCompile(
	`(?:try again|retry|wait|resume|resend|come back|again)(?: (?:after|in|for|at least|about|approximately|until))*` +
		` (\d{1,6}) ?(seconds?|secs?|s|minutes?|mins?|m|hours?|hrs?|h)\b`)

// hourlyLimit is a limit that ends within an hour.
var hourlyLimit = regexp.MustCompile(`hourly|\bper[ -]hour|/ ?h(our)?\b|this hour|an hour|stundenlimit`)

// waitIn returns how long a text asks to wait, or 0.
func waitIn(text string) time.Duration {
	found := askedWait.FindStringSubmatch(text)
	if found == nil {
		return 0
	}
	n, err := strconv.Atoi(found[1])
	if err != nil {
		return 0
	}
	unit := time.Second
	switch found[2][0] {
	case 'm':
		unit = time.Minute
	case 'h':
		unit = time.Hour
	}
	return min(time.Duration(n)*unit, longestWait)
}
