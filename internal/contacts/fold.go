package contacts

import "github.com/funnelwork/funnelwork/internal/filter"

// Fold is what addresses and names are compared and sorted by: NFC and lower case.
func Fold(s string) string { return filter.Fold(s) }

// Words are what a text is found by, see filter.Words.
func Words(texts ...string) []string { return filter.Words(texts...) }

// wordsOf are what q finds a contact by.
func wordsOf(c *Contact) []string { return Words(c.FirstName, c.LastName, c.Email) }

func has(all []string, s string) bool {
	for _, x := range all {
		if x == s {
			return true
		}
	}
	return false
}
