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

// digits returns n digits derived from what; the first is not 0.
func digits(n int, what ...string) string {
	sum := sha256.Sum256([]byte(strings.Join(what, "|")))
	text := strconv.FormatUint(binary.BigEndian.Uint64(sum[:8]),
		10) + strconv.FormatUint(binary.BigEndian.Uint64(sum[8:16]), 10)
	return strings.TrimLeft(text, "0")[:n]
}

// subject returns a person's id within a family, derived from the name.
func subject(family, person string) string {
	sum := sha256.Sum256([]byte(family + "|" + person))
	switch family {
	case "linkedin":
		return base64.RawURLEncoding.EncodeToString(sum[:])[:10]
	case "tiktok":
		return "-000" + base64.RawURLEncoding.EncodeToString(sum[:])[:32]
	case "google":
		return digits(21, family, person)
	default:
		return digits(17, family, person)
	}
}

// handle returns a person's name without spaces, in lower case.
func handle(person string) string { return strings.ToLower(strings.ReplaceAll(person, " ", "")) }

func avatar(name string) string {
	return "https://images.sandbox.example/" + handle(name) + ".png"
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

// owned returns the person's accounts that the scopes reach.
func owned(family, person string, scopes []string, count int) []thing {
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
					Name: fmt.Sprintf("%s's %s %s", first(person), strings.ToLower(s.label), n),
				})
		}
	}
	return all
}

func first(person string) string {
	name, _, _ := strings.Cut(person, " ")
	return name
}

func idOf(family, sort, person, n string) string {
	switch family + "/" + sort {
	case "facebook/ads":
		return "act_" + digits(15, family, sort, person, n)
	case "linkedin/page":
		return digits(8, family, sort, person, n)
	case "linkedin/ads":
		return digits(9, family, sort, person, n)
	case "google/channel":
		sum := sha256.Sum256([]byte(family + sort + person + n))
		return "UC" + base64.RawURLEncoding.EncodeToString(sum[:])[:22]
	case "google/ads":
		return digits(10, family, sort, person, n)
	case "x_ads/ads":
		number, _ := strconv.ParseUint(digits(10, family, sort, person, n), 10, 64) // cannot fail: it is all digits
		return "18ce5" + strconv.FormatUint(number, 36)
	case "pinterest/ads":
		return "549" + digits(9, family, sort, person, n)
	default:
		return digits(19, family, sort, person, n)
	}
}

// reach returns the accounts of one sort that a login reaches.
func (c *call) reach(l *login, sort string) []thing {
	return slices.DeleteFunc(owned(l.Family, l.Person, l.Scopes, c.tx.knobs(l.Family).accounts()), func(t thing) bool {
		return t.Sort != sort || !l.owns(t.ID)
	})
}

// paged returns the page of all that begins at from, and the start of the next page; -1 at the end.
func paged[T any](all []T, from, size int) (part []T, next int) {
	from = min(max(from, 0), len(all))
	to := min(from+size, len(all))
	if to == len(all) {
		return all[from:to], -1
	}
	return all[from:to], to
}

// number returns a numeric parameter, or own if it is missing.
func (c *call) number(name string, own int) int {
	if n, err := strconv.Atoi(c.get(name)); err == nil {
		return n
	}
	return own
}
