package contacts

import "github.com/funnelwork/funnelwork/internal/filter"

// Fold returns the form in which addresses and names are compared and sorted: NFC and lower case.
func Fold(s string) string { return filter.Fold(s) }

// Words returns the search words of texts, see filter.Words.
func Words(texts ...string) []string { return filter.Words(texts...) }

// wordsOf returns the words by which the parameter q finds a contact.
func wordsOf(c *Contact) []string { return Words(c.FirstName, c.LastName, c.Email) }

func has(all []string, s string) bool {
	for _, x := range all {
		if x == s {
			return true
		}
	}
	return false
}
