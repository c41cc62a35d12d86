package imports

import (
	"math"
	"strconv"
	"strings"

	"github.com/funnelwork/funnelwork/internal/contacts"
	"github.com/funnelwork/funnelwork/internal/sheet"
)

// guessed tracks which types fit all values of a column so far, without changing any of them.
type guessed struct {
	some, notNumber, notBoolean, notDate bool
	dayFirst, monthFirst                 bool // a date with slashes can be read in this order alone
}

func (g *guessed) see(cell string) {
	if strings.TrimSpace(cell) == "" {
		return
	}
	cell = sheet.Text(cell)
	g.some = true
	if !g.notNumber {
		g.notNumber = !isPlainNumber(cell)
	}
	if !g.notBoolean {
		g.notBoolean = cell != "true" && cell != "false"
	}
	if !g.notDate {
		g.notDate = contacts.TypeOf(cell) != contacts.Date
	}
	if first, second, is := slashDate(cell); is {
		g.dayFirst = g.dayFirst || first > 12
		g.monthFirst = g.monthFirst || second > 12
	}
}

// isPlainNumber reports whether s is a number in the form in which an export writes it back, and exact as a float.
func isPlainNumber(s string) bool {
	if s == "" || s == "-0" || len(s) > 30 || s[0] != '-' && (s[0] < '0' || s[0] > '9') {
		return false
	}
	n, err := strconv.ParseFloat(s, 64)
	return err == nil && math.Abs(n) <= 1<<53 && strconv.FormatFloat(n, 'f', -1, 64) == s
}

func (g *guessed) fits() contacts.Type {
	switch {
	case !g.some:
	case !g.notNumber:
		return contacts.Number
	case !g.notBoolean:
		return contacts.Boolean
	case !g.notDate:
		return contacts.Date
	}
	return contacts.String
}

// dates returns the order of dates with slashes, or "" if it is not known.
func (g *guessed) dates() string {
	switch {
	case g.dayFirst == g.monthFirst:
		return ""
	case g.dayFirst:
		return dayFirst
	default:
		return monthFirst
	}
}
