package contacts

import (
	"strings"

	"github.com/funnelwork/funnelwork/internal/compare"
)

// wordsOf returns the words by which the parameter q finds a contact.
func wordsOf(c *Contact) []string { return compare.Indexed(c.FirstName, c.LastName, c.Email) }

func foldOf(s *string) *string {
	if s == nil {
		return nil
	}
	folded := compare.Text(*s)
	return &folded
}

// wordLine formats words for contact.words: each word is preceded by a space.
func wordLine(words []string) string {
	if len(words) == 0 {
		return ""
	}
	return " " + strings.Join(words, " ")
}
