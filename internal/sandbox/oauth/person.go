package oauth

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// People returns the persons that the consent page offers; any other name works too.
func People() []string { return []string{"Ada Lovelace", "Grace Hopper", "Alan Turing"} }

// digitsFrom returns n digits derived from what; the first is not 0.
func digitsFrom(n int, what ...string) string {
	sum := sha256.Sum256([]byte(strings.Join(what, "|")))
	text := strconv.FormatUint(binary.BigEndian.Uint64(sum[:8]),
		10) + strconv.FormatUint(binary.BigEndian.Uint64(sum[8:16]), 10)
	return strings.TrimLeft(text, "0")[:n]
}

// subjectOf returns a person's id within a family, derived from the name.
func subjectOf(family, person string) string {
	sum := sha256.Sum256([]byte(family + "|" + person))
	switch family {
	case "linkedin":
		return base64.RawURLEncoding.EncodeToString(sum[:])[:10]
	case "tiktok":
		return "-000" + base64.RawURLEncoding.EncodeToString(sum[:])[:32]
	case "google":
		return digitsFrom(21, family, person)
	default:
		return digitsFrom(17, family, person)
	}
}

// userName returns a person's name without spaces, in lower case.
func userName(person string) string { return strings.ToLower(strings.ReplaceAll(person, " ", "")) }

func avatarURL(name string) string {
	return "https://images.sandbox.example/" + userName(name) + ".png"
}

// thing is an account that a person owns: a page, an organization, a channel or an ad account.
type thing struct {
	Sort, ID, Name string
}

// sorts lists, by family, the sorts of accounts that a person may own and the scopes that reach them.
var sorts = map[string][]struct {
	sort, label string
	scopes      []string
}{
	"facebook": {
		{"page", "Page", []string{"pages_show_list"}},
		{"ads", "Ad account", []string{"ads_read", "ads_management"}},
	},
	"linkedin": {
		{
			"page", "Company",
			[]string{"rw_organization_admin", "r_organization_social", "w_organization_social"},
		},
		{"ads", "Ad account", []string{"r_ads", "rw_ads"}},
	},
	"google": {
		{
			"channel", "Channel",
			[]string{"https://www.googleapis.com/auth/youtube", "https://www.googleapis.com/auth/youtube.readonly"},
		},
		{"ads", "Ads customer", []string{"https://www.googleapis.com/auth/adwords"}},
	},
	"tiktok_ads": {{"ads", "Advertiser", nil}},
	"x_ads":      {{"ads", "Ad account", nil}},
	"pinterest":  {{"ads", "Ad account", []string{"ads:read"}}},
}

// accountsOwned returns the person's accounts that the scopes reach.
func accountsOwned(family, person string, scopes []string, count int) []thing {
	var all []thing
	for _, s := range sorts[family] {
		if s.scopes != nil && !slices.ContainsFunc(s.scopes, func(scope string) bool {
			return slices.Contains(scopes, scope)
		}) {
			continue
		}

		for i := range count {
			n := strconv.Itoa(i + 1)
			all = append(all,
				thing{
					Sort: s.sort, ID: idOf(family, s.sort, person, n),
					Name: fmt.Sprintf("%s's %s %s", firstName(person), strings.ToLower(s.label), n),
				})
		}
	}

	return all
}

func firstName(person string) string {
	name, _, _ := strings.Cut(person, " ")
	return name
}

func idOf(family, sort, person, n string) string {
	switch family + "/" + sort {
	case "facebook/ads":
		return "act_" + digitsFrom(15, family, sort, person, n)
	case "linkedin/page":
		return digitsFrom(8, family, sort, person, n)
	case "linkedin/ads":
		return digitsFrom(9, family, sort, person, n)
	case "google/channel":
		sum := sha256.Sum256([]byte(family + sort + person + n))
		return "UC" + base64.RawURLEncoding.EncodeToString(sum[:])[:22]
	case "google/ads":
		return digitsFrom(10, family, sort, person, n)
	case "x_ads/ads":
		number, _ := strconv.ParseUint(digitsFrom(10, family, sort, person, n), 10, 64) // cannot fail: it is all digits
		return "18ce5" + strconv.FormatUint(number, 36)
	case "pinterest/ads":
		return "549" + digitsFrom(9, family, sort, person, n)
	default:
		return digitsFrom(19, family, sort, person, n)
	}
}

// accountsReached returns the accounts of one sort that a login reaches.
func (c *call) accountsReached(l *login, sort string) []thing {
	return slices.DeleteFunc(accountsOwned(l.Family, l.Person, l.Scopes,
		c.tx.knobsOf(l.Family).accountCount()), func(t thing) bool {
		return t.Sort != sort || !l.mayReach(t.ID)
	})
}

// pageFrom returns the page of all that begins at from, and the start of the next page; -1 at the end.
func pageFrom[T any](all []T, from, size int) (part []T, next int) {
	from = min(max(from, 0), len(all))
	to := min(from+size, len(all))
	if to == len(all) {
		return all[from:to], -1
	}
	return all[from:to], to
}

// numberOr returns a numeric parameter, or own if it is missing.
func (c *call) numberOr(name string, own int) int {
	if n, err := strconv.Atoi(c.param(name)); err == nil {
		return n
	}
	return own
}
