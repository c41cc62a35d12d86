package wire

import (
	"fmt"
	"regexp"
	"strings"
	"time"
)

// dateTime has the form of a time in upper case; time.Parse takes others, too (golang/go#54580).
var dateTime = regexp.MustCompile(`^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]([01]\d|2[0-3]):[0-5]\d)$`)

// ParseTime parses a time as RFC 3339, section 5.6, defines it, where time.Parse differs: T and Z may be in lower case;
// a leap second is a time, the same as the second after it; a decimal comma is none, nor is an hour of one digit.
func ParseTime(s string) (time.Time, error) {
	const minutes = len("2006-01-02T15:04")
	text := strings.ToUpper(s)
	leap := len(text) > minutes && strings.HasPrefix(text[minutes:], ":60")
	if leap {
		text = text[:minutes] + ":59" + text[minutes+len(":60"):]
	}

	at, err := time.Parse(time.RFC3339Nano, text)
	switch {
	case err != nil:
		return at, fmt.Errorf("want an RFC 3339 time: %w", err)
	case !dateTime.MatchString(text):
		return at, fmt.Errorf("want an RFC 3339 time: %q has another form", s)
	}
	if !leap {
		return at, nil
	}

	utc := at.UTC()
	next := at.Truncate(time.Second).Add(time.Second)
	if utc.Hour() != 23 || utc.Minute() != 59 || next.UTC().Day() != 1 { // section 5.7
		return at, fmt.Errorf("want an RFC 3339 time: %q is no leap second", s)
	}
	return next, nil
}
