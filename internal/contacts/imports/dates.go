package imports

import (
	"strconv"
	"strings"
	"time"
)

// layouts are forms of dates that every reader understands alike.
var layouts = []string{
	time.DateOnly, "2006/1/2", "2006-1-2", "2006.1.2", "2 Jan 2006", "2 January 2006", "Jan 2, 2006", "January 2, 2006",
	"Jan 2 2006", "January 2 2006", "2-Jan-2006", "2-Jan-06", "Mon, 2 Jan 2006", "2. January 2006", "20060102",
}

// clocks are forms of a time of the day behind a date.
var clocks = []string{
	"15:04:05.999999999Z07:00", "15:04:05Z07:00", "15:04:05 Z0700", "15:04:05 Z07:00", "15:04:05 " +
		"MST", "15:04:05", "15:04",
	"3:04:05 PM", "3:04 PM", "3:04PM", "15:04:05Z0700",
}

// slashDate returns the first two parts of a date whose parts have one or two digits and a year, such as 3/14/2024.
func slashDate(s string) (first, second int, is bool) {
	s, _, _ = strings.Cut(strings.TrimSpace(s), " ")
	parts := strings.FieldsFunc(s, func(r rune) bool { return r == '/' || r == '-' })
	if len(parts) != 3 || len(parts[0]) > 2 || len(parts[1]) > 2 || len(parts[2]) != 4 && len(parts[2]) != 2 {
		return 0, 0, false
	}
	first, err := strconv.Atoi(parts[0])
	if err != nil {
		return 0, 0, false
	}
	if second, err = strconv.Atoi(parts[1]); err != nil {
		return 0, 0, false
	}
	_, err = strconv.Atoi(parts[2])
	return first, second, err == nil
}

// dateOf parses a date at the beginning of s, and returns the rest. order is that of the parts of dates that several
// readers understand differently; if it is "" they are refused.
func dateOf(s, order string) (at time.Time, rest string, ok bool) {
	s = strings.TrimSpace(s)
	words := strings.FieldsFunc(s, func(r rune) bool { return r == ' ' })
	for n := min(len(words), 4); n > 0; n-- {
		head := strings.Join(words[:n], " ")
		rest = strings.TrimLeft(strings.Join(words[n:], " "), " ,")
		if n == 1 {
			if day, clock, is := strings.Cut(head, "T"); is && len(day) >= 8 {
				head, rest = day, strings.TrimSpace(clock+" "+rest)
			}
			head = strings.TrimSuffix(head, ",")
		}
		for _, layout := range layouts {
			if at, err := time.Parse(layout, head); err == nil {
				return at, rest, true
			}
		}
		if at, ok = partsDate(head, order); ok {
			return at, rest, true
		}
	}

	return time.Time{}, "", false
}

// partsDate parses a date of three numbers.
func partsDate(s, order string) (time.Time, bool) {
	dots := strings.Count(s, ".") >= 2 && !strings.ContainsAny(s, "/-")
	if dots {
		s = strings.ReplaceAll(strings.TrimSuffix(s, "."), ".", "/")
		if order != yearFirst {
			order = dayFirst // no locale writes the month first before a dot
		}
	}

	first, second, is := slashDate(s)
	if !is {
		return time.Time{}, false
	}
	switch {
	case order != "":
	case first > 12:
		order = dayFirst
	case second > 12:
		order = monthFirst
	case first == second:
		order = dayFirst
	default:
		return time.Time{}, false
	}

	s = strings.ReplaceAll(s, "-", "/")
	layout := map[string]string{dayFirst: "2/1/2006", monthFirst: "1/2/2006"}[order]
	for _, form := range []string{layout, strings.Replace(layout, "2006", "06", 1)} {
		if at, err := time.Parse(form, s); err == nil && form != "" {
			return at, true
		}
	}

	return time.Time{}, false
}

// dayOf returns a date as YYYY-MM-DD.
func dayOf(s, order string) (string, bool) {
	at, rest, ok := dateOf(s, order)
	if !ok || rest != "" && strings.Trim(rest, "0:.Z") != "" {
		return "", false
	}
	return at.Format(time.DateOnly), true
}

// momentOf returns a time as RFC 3339. A time without a zone is in UTC.
func momentOf(s, order string) (string, bool) {
	if at, err := time.Parse(time.RFC3339Nano, s); err == nil {
		return at.Format(time.RFC3339Nano), true
	}

	day, rest, ok := dateOf(s, order)
	if !ok {
		return "", false
	}
	if rest == "" {
		return day.Format(time.RFC3339), true
	}
	rest = strings.TrimSuffix(strings.TrimSpace(rest), " UTC")
	for _, layout := range clocks {
		clock, err := time.Parse(layout, rest)
		if err != nil {
			continue
		}
		at := time.Date(day.Year(), day.Month(), day.Day(), clock.Hour(), clock.Minute(), clock.Second(),
			clock.Nanosecond(), clock.Location())
		return at.UTC().Format(time.RFC3339Nano), true
	}

	return "", false
}
