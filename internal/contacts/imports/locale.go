package imports

import (
	"slices"
	"strings"

	"golang.org/x/text/language"

	"github.com/funnelwork/funnelwork/internal/fault"
)

// Orders of the day, the month and the year in a date.
const (
	dayFirst   = "dmy"
	monthFirst = "mdy"
	yearFirst  = "ymd"
)

// locale is how a file writes numbers and dates. The zero value reads what every locale reads alike.
type locale struct {
	dates   string // order of the parts of a date; "": not known
	decimal byte   // decimal separator; 0: not known
}

// localeOf returns the locale with a name, such as de or en-GB, or a fault.
func localeOf(name string) (locale, error) {
	if name == "" {
		return locale{}, nil
	}
	tag, err := language.Parse(name)
	if err != nil {
		return locale{}, fault.Invalid("locale", "invalid_value", "This is no locale, such as de, fr or en-GB.")
	}

	base, _ := tag.Base()
	region, _ := tag.Region()
	l := locale{dates: dayFirst, decimal: ','}
	if slices.Contains([]string{"zh", "ja", "ko", "hu", "lt", "mn", "fa"}, base.String()) ||
		slices.Contains([]string{"SE", "CA", "ZA"}, region.String()) && base.String() != "en" {
		l.dates = yearFirst
	}
	if base.String() == "en" && slices.Contains([]string{"US", "PH"}, region.String()) {
		l.dates = monthFirst
	}
	switch {
	case slices.Contains(strings.Fields("en zh ja ko he th hi bn ta te ms sw ur"), base.String()),
		slices.Contains(strings.Fields("CH LI MX GT HN NI PA PE PR SV DO "+
			"US"), region.String()) && base.String() != "pt":
		l.decimal = '.'
	}

	return l, nil
}
