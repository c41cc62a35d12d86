package scoring

import (
	_ "embed" // for the two lists of domains
	"strings"
	"sync"
)

//go:embed free.txt
var freeList string

//go:embed disposable.txt
var disposableList string

// kinds maps a mail domain to free or disposable. It is read from the embedded lists once.
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

// countryBrands lists mail services with domains in many countries, such as yahoo.co.uk and hotmail.fr.
var countryBrands = map[string]bool{
	"yahoo": true, "hotmail": true, "outlook": true, "live": true, "gmx": true,
	"ymail": true,
}

// DomainKind reports whether an address belongs to a free mail service, a disposable one (including subdomains), or a
// business, which is any other domain. It ignores case and does not allocate.
func DomainKind(email string) string {
	at := strings.LastIndexByte(email, '@')
	var room [48]byte
	domain := lowerWord(email[at+1:], &room)
	known := kinds()
	if kind, ok := known[string(domain)]; ok {
		return kind
	}

	for i, c := range domain {
		if c == '.' && known[string(domain[i+1:])] == disposable {
			return disposable
		}
	}

	first, rest := cutLabel(domain)
	if countryBrands[string(first)] && 0 < len(rest) && len(rest) <= len("com.au") {
		return free
	}

	return business
}

func cutLabel(domain []byte) (first, rest []byte) {
	for i, c := range domain {
		if c == '.' {
			return domain[:i], domain[i+1:]
		}
	}
	return domain, nil
}

// IsFreeDomain reports whether a domain, in lower case, belongs to a free mail service.
func IsFreeDomain(domain string) bool { return DomainKind("@"+domain) == free }
