package imports

import (
	"encoding/json"
	"math"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode"

	"golang.org/x/text/language"
	"golang.org/x/text/language/display"

	"github.com/funnelwork/funnelwork/internal/contacts"
)

// languages are those in which headers and countries are understood.
var languages = []language.Tag{
	language.English, language.German, language.French, language.Spanish, language.Portuguese, language.Italian,
	language.Dutch,
}

// Words for yes and no in the languages, in plain form.
var (
	yesWords = strings.Fields("true yes y 1 x on ja j wahr oui o vrai si s verdadero sim verdadeiro vero waar checked")
	noWords  = strings.Fields("false no n 0 off nein falsch non faux falso nao nee onwaar unchecked")
)

// value converts a cell for a custom field of type t. A cell that does not parse stays a string, so that the batch
// refuses it.
func value(t contacts.Type, cell string, l locale) any {
	word := strings.TrimSpace(cell)
	switch t {
	case contacts.Number:
		if n, ok := number(word, l.decimal); ok {
			return n
		}
	case contacts.Boolean:
		switch word := plain(word); {
		case slices.Contains(yesWords, word):
			return true
		case slices.Contains(noWords, word):
			return false
		}
	case contacts.Date:
		if day, ok := dayOf(word, l.dates); ok {
			return day
		}
	case contacts.String:
	}
	return cell
}

// number parses a number: one of JSON, or one with the decimal separator, and with separators between groups of three
// digits. If the decimal separator is not known, only a number with both separators has groups.
func number(s string, decimal byte) (float64, bool) {
	if decimal != ',' && isNumberOfJSON(s) {
		return parseNumber(s)
	}

	s = strings.NewReplacer("\u00a0", " ", "\u202f", " ", "’", "'", "−", "-").Replace(s)
	last := strings.LastIndexAny(s, ".,")
	if decimal == 0 && last >= 0 {
		other := strings.IndexByte(".,", s[last])
		if !strings.Contains(s, string(".,"[1-other])) {
			return 0, false
		}
		decimal = s[last]
	}

	whole, fraction, has := strings.Cut(s, string(rune(decimal)))
	if decimal == 0 {
		whole, fraction, has = s, "", false
	}
	if strings.Trim(fraction, "0123456789") != "" || has && fraction == "" {
		return 0, false
	}
	sign, digits := "", strings.TrimPrefix(whole, "+")
	if rest, negative := strings.CutPrefix(digits, "-"); negative {
		sign, digits = "-", rest
	}
	digits, ok := ungrouped(digits, decimal)
	if !ok {
		return 0, false
	}
	if has {
		digits += "." + fraction
	}

	return parseNumber(sign + digits)
}

// ungrouped removes the separators between groups of three digits.
func ungrouped(s string, decimal byte) (string, bool) {
	groups := strings.FieldsFunc(s, func(r rune) bool {
		return strings.ContainsRune(" '.,", r) && (decimal == 0 || byte(r) != decimal)
	})
	for i, g := range groups {
		if strings.Trim(g, "0123456789") != "" || i > 0 && len(g) != 3 || i == 0 && len(groups) > 1 && len(g) > 3 {
			return "", false
		}
	}
	return strings.Join(groups, ""), len(groups) > 0
}

func isNumberOfJSON(s string) bool {
	return s != "" && (s[0] == '-' || s[0] >= '0' && s[0] <= '9') && json.Valid([]byte(s))
}

func parseNumber(s string) (float64, bool) {
	n, err := strconv.ParseFloat(s, 64)
	return n, err == nil && math.Abs(n) <= 1<<53
}

// countries returns the result of countryNames, which is computed once.
var countries = sync.OnceValue(countryNames)

// countryNames maps the names of countries in the languages, in plain form, and the codes of three letters to the codes
// of two letters.
func countryNames() map[string]string {
	all := map[string]string{
		"usa": "US", "u_s_a": "US", "u_s": "US", "united_states_of_america": "US", "uk": "GB", "great_britain": "GB",
		"england": "GB", "scotland": "GB", "wales": "GB", "holland": "NL", "czech_republic": "CZ", "russia": "RU",
		"russian_federation": "RU", "south_korea": "KR", "korea": "KR", "republic_of_korea": "KR", "vietnam": "VN",
		"viet_nam": "VN", "turkey": "TR", "turkiye": "TR", "ivory_coast": "CI", "taiwan": "TW", "iran": "IR",
		"bosnia": "BA", "macedonia": "MK", "uae": "AE", "brasil": "BR", "deutschland": "DE", "oesterreich": "AT",
		"grossbritannien": "GB", "eeuu": "US", "ee_uu": "US", "etats_unis_d_amerique": "US", "hong_kong": "HK",
		"macau": "MO", "palestine": "PS", "moldova": "MD", "tanzania": "TZ", "venezuela": "VE", "bolivia": "BO",
		"syria": "SY", "laos": "LA", "brunei": "BN", "congo": "CG", "cape_verde": "CV", "swaziland": "SZ",
	}
	for _, tag := range languages {
		names := display.Regions(tag)
		for a := 'A'; a <= 'Z'; a++ {
			for b := 'A'; b <= 'Z'; b++ {
				code, ok := contacts.CountryCode(string([]rune{a, b}))
				if !ok {
					continue
				}
				region, err := language.ParseRegion(code)
				if err != nil {
					continue
				}
				if name := plain(names.Name(region)); name != "" {
					all[name] = code
				}
				all[strings.ToLower(region.ISO3())] = code
			}
		}
	}

	return all
}

// splitName splits a whole name. The last word is the last name, with the particles before it, unless a comma separates
// the last name, which then comes first.
func splitName(name string) (first, last string) {
	if before, after, is := strings.Cut(name, ","); is && strings.TrimSpace(after) != "" {
		return strings.TrimSpace(after), strings.TrimSpace(before)
	}
	words := strings.Fields(name)
	if len(words) < 2 {
		return strings.TrimSpace(name), ""
	}

	at := len(words) - 1
	for at > 1 && isParticle(words[at-1]) {
		at--
	}

	return strings.Join(words[:at], " "), strings.Join(words[at:], " ")
}

// isParticle reports whether a word belongs to the last name that follows it, such as van or de.
func isParticle(word string) bool {
	first := []rune(word)[0]
	return unicode.IsLower(first) && slices.Contains(strings.Fields(
		"van von vom zu zum zur der den de del della di da dal do dos das du des la le ter ten te af av bin ibn al "+
			"el y e"),
		strings.ToLower(word))
}

// stageNames are usual labels of stages, in plain form.
var stageNames = map[string]string{
	"marketing_qualified_lead": "mql", "sales_qualified_lead": "sql", "marketing_qualified": "mql",
	"sales_qualified": "sql", "marketingqualifiedlead": "mql", "salesqualifiedlead": "sql", "abonnent": "subscriber",
	"kunde": "customer", "client": "customer", "cliente": "customer", "klant": "customer", "interessent": "lead",
	"prospect": "lead", "chance": "opportunity", "opportunite": "opportunity", "oportunidad": "opportunity",
	"oportunidade": "opportunity", "opportunita": "opportunity", "kans": "opportunity", "sonstige": "other",
	"autre": "other", "otro": "other", "outro": "other", "altro": "other", "overig": "other", "abonne": "subscriber",
	"suscriptor": "subscriber", "assinante": "subscriber", "iscritto": "subscriber", "abonnee": "subscriber",
}

// stageOf returns the stage of an org that a cell names by its key or label, or the cell.
func stageOf(cell string, stages []string) string {
	if slices.Contains(stages, cell) {
		return cell
	}
	word := plain(cell)
	for _, name := range []string{word, stageNames[word]} {
		for _, s := range stages {
			if name != "" && plain(s) == name {
				return s
			}
		}
	}
	return cell
}
