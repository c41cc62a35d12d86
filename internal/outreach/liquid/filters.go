package liquid

import (
	"math"
	"net/url"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/currency"
)

// filter computes a value from v, which is not missing; msg says why it cannot.
type filter func(v any, args []any) (result any, msg string)

// filters are the filters of the language. default is rendered by renderer.output.
var filters = map[string]struct {
	run         filter
	least, most int
	takes       string                 // the arguments, for people
	check       func([]operand) string // of the arguments when parsing; may be nil
}{
	"default":    {nil, 1, 1, "the value to use instead", nil},
	"date":       {date, 0, 1, `at most a format: "%-d %B %Y"`, checkFormat},
	"upcase":     {upcase, 0, 0, "nothing", nil},
	"downcase":   {downcase, 0, 0, "nothing", nil},
	"capitalize": {capitalize, 0, 0, "nothing", nil},
	"truncate":   {truncate, 0, 2, "a length and an ending", nil},
	"money":      {money, 1, 1, `a currency: "EUR"`, checkCurrency},
	"url_encode": {urlEncode, 0, 0, "nothing", nil},
}

const filterNames = "default, date, upcase, downcase, capitalize, truncate, money and url_encode"

func upcase(v any, _ []any) (result any, msg string) {
	s, _ := show(v)
	return strings.ToUpper(s), ""
}

func downcase(v any, _ []any) (result any, msg string) {
	s, _ := show(v)
	return strings.ToLower(s), ""
}

// capitalize makes the first letter upper case and the others lower case, as Liquid does.
func capitalize(v any, _ []any) (result any, msg string) {
	s, _ := show(v)
	r, n := utf8.DecodeRuneInString(s)
	if n == 0 {
		return s, ""
	}
	return string(unicode.ToUpper(r)) + strings.ToLower(s[n:]), ""
}

// truncate cuts text to args[0] characters (50), of which the last are args[1] ("...").
func truncate(v any, args []any) (result any, msg string) {
	s, _ := show(v)
	length, ending := int64(50), "..."
	if len(args) > 0 {
		n, ok := whole(args[0])
		if !ok || n < 0 {
			return nil, "the length is not a number"
		}
		length = n
	}
	if len(args) > 1 {
		ending, _ = show(args[1])
	}
	if int64(utf8.RuneCountInString(s)) <= length {
		return s, ""
	}
	keep := max(length-int64(utf8.RuneCountInString(ending)), 0)
	for i := range s {
		if keep == 0 {
			return s[:i] + ending, ""
		}
		keep--
	}
	return s, ""
}

// urlEncode encodes text for the query of a URL, with + for a space.
func urlEncode(v any, _ []any) (result any, msg string) {
	s, _ := show(v)
	return url.QueryEscape(s), ""
}

func checkCurrency(args []operand) string {
	code, ok := args[0].literal.(string)
	if args[0].path != nil {
		return ""
	}
	if _, err := currency.ParseISO(code); !ok || err != nil {
		return "the currency is not an ISO 4217 code such as \"EUR\""
	}
	return ""
}

// symbols are the signs of currencies that readers know everywhere; the others are shown by their code.
var symbols = map[string]string{"EUR": "€", "USD": "$", "GBP": "£", "JPY": "¥", "INR": "₹", "KRW": "₩"}

// money writes an amount in minor units of a currency: 123456 as €1,234.56.
func money(v any, args []any) (result any, msg string) {
	amount, ok := whole(v)
	if !ok {
		return nil, "the amount is not a whole number of minor units"
	}
	code, _ := show(args[0])
	unit, err := currency.ParseISO(code)
	if err != nil {
		return nil, "the currency is not an ISO 4217 code"
	}
	digits, _ := currency.Standard.Rounding(unit)
	sign, code := "", unit.String()
	if amount < 0 {
		sign, amount = "-", -amount
	}
	symbol, ok := symbols[code]
	if !ok {
		symbol = code + " "
	}
	factor := int64(math.Pow10(digits))
	text := sign + symbol + grouped(amount/factor)
	if digits > 0 {
		part := strconv.FormatInt(amount%factor, 10)
		text += "." + strings.Repeat("0", digits-len(part)) + part
	}
	return text, ""
}

// grouped writes n with commas between thousands.
func grouped(n int64) string {
	s := strconv.FormatInt(n, 10)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// moments are the forms of times in values.
var moments = []string{time.RFC3339Nano, time.DateOnly, "2006-01-02T15:04:05", time.DateTime}

// moment returns v as a time.
func moment(v any) (time.Time, bool) {
	if t, ok := v.(time.Time); ok {
		return t.UTC(), true
	}
	s, ok := v.(string)
	if !ok || len(s) > 64 {
		return time.Time{}, false
	}
	for _, form := range moments {
		if t, err := time.Parse(form, strings.TrimSpace(s)); err == nil {
			return t.UTC(), true
		}
	}
	return time.Time{}, false
}

// directives are the letters of a format as in strftime, and the layouts that they stand for.
var directives = map[string]string{
	"Y": "2006", "y": "06", "m": "01", "-m": "1", "B": "January", "b": "Jan", "h": "Jan", "d": "02", "-d": "2",
	"e": "_2", "j": "002", "A": "Monday", "a": "Mon", "H": "15", "I": "03", "-I": "3", "l": "3", "M": "04",
	"S": "05", "p": "PM",
	"Z": "MST", "z": "-0700", "F": "2006-01-02", "T": "15:04:05", "D": "01/02/06", "R": "15:04",
}

func checkFormat(args []operand) string {
	if len(args) == 0 || args[0].path != nil {
		return ""
	}
	format, ok := args[0].literal.(string)
	if !ok {
		return "the format is not a text in quotes"
	}
	_, msg := formatted(time.Time{}, format)
	return msg
}

// date writes a time, in UTC, or a date by a format of strftime. There is no "now": it would make the same mail differ
// from one rendering to the next.
func date(v any, args []any) (result any, msg string) {
	t, ok := moment(v)
	if !ok {
		return nil, "the value is not a date"
	}
	format := "%-d %B %Y"
	if len(args) > 0 {
		if format, ok = args[0].(string); !ok || len(format) > 200 {
			return nil, "the format is not a short text"
		}
	}
	return formatted(t, format)
}

func formatted(t time.Time, format string) (result, msg string) {
	var b strings.Builder
	for {
		text, rest, found := strings.Cut(format, "%")
		b.WriteString(text)
		if !found {
			return b.String(), ""
		}
		if strings.HasPrefix(rest, "%") {
			b.WriteByte('%')
			format = rest[1:]
			continue
		}
		size := 1
		if strings.HasPrefix(rest, "-") {
			size = 2
		}
		if len(rest) < size {
			return "", "the format ends in %"
		}
		layout, ok := directives[rest[:size]]
		if !ok && size == 2 {
			layout, ok = directives[rest[1:2]]
		}
		if !ok {
			return "", "the format has an unknown letter: " + strconv.Quote("%"+rest[:size])
		}
		b.WriteString(t.Format(layout))
		format = rest[size:]
	}
}
