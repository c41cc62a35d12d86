package parse

import (
	"net/mail"
	"strings"
)

// Address is an address of a header.
type Address struct{ Name, Email string }

// parseAddresses returns at most limit addresses of a value. It is tolerant: of a list that net/mail refuses, it
// returns each token with an at sign.
func parseAddresses(s string, limit int) []Address {
	if s == "" {
		return nil
	}
	p := mail.AddressParser{WordDecoder: wordDecoder()}
	if all, err := p.ParseList(s); err == nil {
		out := make([]Address, 0, min(len(all), limit))
		for _, a := range all[:min(len(all), limit)] {
			out = append(out, Address{Name: oneLine(a.Name), Email: a.Address})
		}
		return out
	}

	var out []Address
	for one := range strings.SplitSeq(s, ",") {
		if a, ok := tolerantAddress(one); ok && len(out) < limit {
			out = append(out, a)
		}
	}

	return out
}

func tolerantAddress(s string) (Address, bool) {
	name, email := "", s
	if open := strings.LastIndexByte(s, '<'); open >= 0 {
		name, email = s[:open], s[open+1:]
		email, _, _ = strings.Cut(email, ">")
	} else {
		for _, word := range strings.Fields(s) {
			if strings.Contains(word, "@") {
				email = word
				break
			}
		}
	}
	email = strings.Trim(strings.TrimSpace(email), `"'<>;:()[]`)
	if at := strings.LastIndexByte(email, '@'); at <= 0 || at == len(email)-1 || strings.ContainsAny(email, " \t") ||
		len(email) > 320 {
		// A daemon may have a name without an address, which tells what sent the mail.
		if name = oneLine(decodeWords(strings.Trim(strings.TrimSpace(s), `"<>`))); name != "" && len(name) <= 200 &&
			!strings.Contains(name, "@") {
			return Address{Name: name}, true
		}
		return Address{}, false
	}

	return Address{Name: oneLine(strings.Trim(decodeWords(strings.TrimSpace(name)), `"`)), Email: email}, true
}
