package contacts

import (
	"strings"

	"github.com/nyaruka/phonenumbers"
)

// E164 returns a phone number in the form of E.164, such as +493012345, with its extension behind ";ext=". The number
// is as people write it: with a plus or 00 in front, or as it is dialled within a country, which is a code of two
// letters or "". It returns "" if s is not a possible number, or one within a country that is not known.
func E164(s, country string) string {
	s = strings.TrimSpace(s)
	if rest, is := strings.CutPrefix(s, "00"); is {
		s = "+" + rest
	}
	if country == "" && !strings.ContainsAny(s, "+＋") {
		return ""
	}
	n, err := phonenumbers.Parse(s, country)
	if err != nil || !phonenumbers.IsPossibleNumber(n) {
		return ""
	}
	out := phonenumbers.Format(n, phonenumbers.E164)
	if ext := n.GetExtension(); ext != "" {
		out += ";ext=" + ext
	}
	return out
}
