package contacts

import (
	"strings"

	"github.com/funnelwork/funnelwork/internal/filter"
)

// Fold returns the form in which addresses and names are compared and sorted: NFC and lower case.
func Fold(s string) string { return filter.Fold(s) }

// Words returns the search words of texts, see filter.Words.
func Words(texts ...string) []string { return filter.Words(texts...) }

// wordsOf returns the words by which the parameter q finds a contact.
func wordsOf(c *Contact) []string { return Words(c.FirstName, c.LastName, c.Email) }

func foldOf(s *string) *string {
	if s == nil {
		return nil
	}
	folded := Fold(*s)
	return &folded
}

// wordLine formats words for contact.words: each word is preceded by a space.
func wordLine(words []string) string {
	if len(words) == 0 {
		return ""
	}
	return " " + strings.Join(words, " ")
}
