package scoring

import (
	_ "embed" // the two lists of domains
	"strings"
	"sync"
)

//go:embed free.txt
var freeList string

//go:embed disposable.txt
var disposableList string

// kinds maps a mail domain to free or disposable; it is read from the lists once.
var kinds = sync.OnceValue(func() map[string]string {
	all := make(map[string]string, 600)
	for kind, list := range map[string]string{free: freeList, disposable: disposableList} {
		for line := range strings.Lines(list) {
			if d := strings.TrimSpace(line); d != "" {
				all[d] = kind
			}
		}
	}
	return all
})

// countryBrands are mail services with a domain in many countries: yahoo.co.uk, hotmail.fr.
var countryBrands = map[string]bool{"yahoo": true, "hotmail": true, "outlook": true, "live": true, "gmx": true, "ymail": true}

// DomainKind tells whether an address lies at a free mail service, a disposable one (subdomains included) or,
// like any other domain, at a business. Letter case does not matter. It allocates nothing.
func DomainKind(email string) string {
	at := strings.LastIndexByte(email, '@')
	var room [48]byte
	domain := lower(email[at+1:], &room)
	known := kinds()
	if kind, ok := known[string(domain)]; ok {
		return kind
	}
	for i, c := range domain {
		if c == '.' && known[string(domain[i+1:])] == disposable {
			return disposable
		}
	}
	first, rest := cut(domain)
	if countryBrands[string(first)] && 0 < len(rest) && len(rest) <= len("com.au") {
		return free
	}
	return business
}

func cut(domain []byte) (first, rest []byte) {
	for i, c := range domain {
		if c == '.' {
			return domain[:i], domain[i+1:]
		}
	}
	return domain, nil
}
