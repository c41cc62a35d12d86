package classify

import (
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/funnelwork/funnelwork/internal/inbound/parse"
)

// farthest is how far ahead of its mail the end of an absence may be.
const farthest = 400 * 24 * time.Hour

var (
	// untilWord precedes the day on which a person is back.
	untilWord = regexp.MustCompile(`(?:` + strings.Join([]string{
		`until`, `till`, `through`, `back (?:in the office )?(?:on|from|in)?`,
		`return(?:ing)?(?: to the office)?(?: on)?`, `available (?:again )?(?:on|from)`, `up to`, `- `, `– `, ` to `,
		`bis(?: zum| einschließlich| einschl\.)?`, `(?:wieder|zurück|erreichbar) (?:ab|am)(?: dem)?`, `ab dem`,
		`jusqu'au`, `jusqu’au`, `au`, `de retour (?:le)?`, `hasta el(?: día)?`, `hasta`, ` al?`, `regreso el`,
		`vuelvo el`, `de vuelta el`,
		`até(?: o dia| dia)?`, `retorno (?:em|no dia|dia)`, `fino al(?:l')?`, `rientr(?:o|erò) (?:il|in ufficio il)`,
		`sino al`, `tot(?: en met)?`, `t/m`, `terug op`, `till och med`, `t\.?o\.?m\.?`, `tillbaka(?: den)?`,
		`åter(?: den)?`, `til(?: og med)?`, `tilbage(?: den)?`, `tilbake(?: den)?`,
		`do(?: dnia)?`, `wracam`, `до`, `по`, `вернусь`, `kadar`, `tarihine`, `dönüş tarihi:?`, `至`, `到`, `から`, `~`,
		`〜`, `より`, `do`, `vrátím se`, `asti`, `saakka`, `palaan`, `부터`,
	}, "|") +
		`)\s*(?:(?:mon|tues|wednes|thurs|fri|satur|sun)day|montag|dienstag|mittwoch|donnerstag|freitag|samstag|` +
		`sonntag|lundi|mardi|mercredi|jeudi|vendredi|lunes|martes|miércoles|jueves|viernes|maandag|dinsdag|` +
		`woensdag|donderdag|vrijdag|måndag|tisdag|onsdag|torsdag|fredag|mandag|tirsdag|lunedì|martedì|mercoledì|` +
		`giovedì|venerdì|segunda-feira|terça-feira|quarta-feira|quinta-feira|sexta-feira)?[ ,]*(?:the |dem |den |` +
		`le |el |il |o |de |dia |w dniu |dnia )?$`)
	dates = regexp.MustCompile(
		`(\d{4})[-/.](\d{1,2})[-/.](\d{1,2})|(\d{4}) ?[年년] ?(\d{1,2}) ?[月월] ?(\d{1,2}) ?[日일号]|` +
			`(\d{1,2}) ?[月월] ?(\d{1,2}) ?[日일号]|` +
			`(\d{1,2})[./](\d{1,2})[./](\d{4}|\d{2})\b|(\d{1,2})\.(\d{1,2})\.|\b(\d{1,2})/(\d{1,2})\b|` +
			`(\d{1,2})(?:st|nd|rd|th|er|\.|º|ª)?(?: de| of)? ` + monthNames + `\.?,?(?: de)?(?: (\d{4}))?|` +
			monthNames + `\.? (\d{1,2})(?:st|nd|rd|th)?\b,?(?: (\d{4}))?`)
	// after is what follows the day in languages that name the end behind it.
	after = regexp.MustCompile(
		`^[^\pL\d]{0,3}(?:\(.{1,3}\))?\s*(?:まで|から復帰|に(?:復帰|戻)|より|까지|tarihine kadar|asti|saakka|'?[eaiı]? ?kadar|` +
			`с|之前|前|回|返)`)
)

// until returns the day that an absence lasts to, or nil. Of several days the last one after a word like "until"
// counts.
func until(m *parse.Mail, reply string) *time.Time {
	text := strings.ToLower(m.Subject + "\n" + reply)
	if len(text) > 2000 {
		text = text[:2000]
	}
	now := m.Date
	if now.IsZero() {
		return nil
	}
	var found *time.Time
	for _, at := range dates.FindAllStringSubmatchIndex(text, 20) {
		before := text[:at[0]]
		if len(before) > 80 {
			before = before[len(before)-80:]
		}
		if !untilWord.MatchString(before) && !after.MatchString(text[at[1]:]) {
			continue
		}
		group := func(i int) string {
			if at[2*i] < 0 {
				return ""
			}
			return text[at[2*i]:at[2*i+1]]
		}
		day := dayOf(group, now, strings.Contains(text, " the "))
		if day != nil && (found == nil || day.After(*found)) {
			found = day
		}
	}
	return found
}

// dayOf returns the day of a match of dates. monthFirst tells how to read 3/4.
func dayOf(group func(int) string, now time.Time, monthFirst bool) *time.Time {
	var y, m, d int
	switch {
	case group(1) != "":
		y, m, d = number(group(1)), number(group(2)), number(group(3))
	case group(4) != "":
		y, m, d = number(group(4)), number(group(5)), number(group(6))
	case group(7) != "":
		m, d = number(group(7)), number(group(8))
	case group(9) != "":
		d, m, y = number(group(9)), number(group(10)), number(group(11))
	case group(12) != "":
		d, m = number(group(12)), number(group(13))
	case group(14) != "":
		d, m = number(group(14)), number(group(15))
	case group(16) != "":
		d, m, y = number(group(16)), month(group(17)), number(group(18))
	default:
		m, d, y = month(group(19)), number(group(20)), number(group(21))
	}
	if slashed := group(9) != "" || group(14) != ""; slashed && (m > 12 || monthFirst && d <= 12) {
		if swapped := valid(y, d, m, now); swapped != nil {
			return swapped
		}
	}
	return valid(y, m, d, now)
}

// valid returns a day if it exists and is neither past nor far ahead. Without a year it is the next such day.
func valid(y, m, d int, now time.Time) *time.Time {
	if y > 0 && y < 100 {
		y += 2000
	}
	if m < 1 || m > 12 || d < 1 || d > 31 {
		return nil
	}
	today := time.Date(now.Year(), now.Month(), now.Day(), 0, 0, 0, 0, time.UTC)
	day := time.Date(y, time.Month(m), d, 0, 0, 0, 0, time.UTC)
	if y == 0 {
		if day = time.Date(now.Year(), time.Month(m), d, 0, 0, 0, 0, time.UTC); day.Before(today) {
			day = day.AddDate(1, 0, 0)
		}
	}
	if day.Day() != d || day.Before(today) || day.Sub(today) > farthest {
		return nil
	}
	return &day
}

func number(s string) int {
	n, err := strconv.Atoi(s)
	if err != nil {
		return 0
	}
	return n
}

// month returns the number of a month by its name, or 0.
func month(name string) int {
	for i, names := range months {
		for prefix := range strings.SplitSeq(names, " ") {
			if strings.HasPrefix(name, prefix) {
				return i + 1
			}
		}
	}
	return 0
}

// monthNames matches the name of a month.
var monthNames = `((?:` + strings.ReplaceAll(strings.Join(months[:], " "), " ", "|") + `)\pL{0,9})`

// months has the beginnings of the months' names in the languages of the rules.
var months = [12]string{
	"jan jän ene gen styc янв oca led tammi",
	"feb fév fev fév lut фев şub úno helmi",
	"mar mär mrt marz март maart bře maali",
	"apr avr abr kwi апр nis dub huhti",
	"may mai maj mei mag maio май мая kvě touko",
	"jun juin giu czerw июн haz červn červen kesä",
	"jul juil lug lip июл tem červenc heinä",
	"aug aoû ago sie авг ağu srp elo",
	"sep set wrz сен eyl zář syys",
	"oct okt ott out paź окт eki říj loka",
	"nov lis ноя kas marras",
	"dec dez déc dic gru дек ara pro joulu",
}
