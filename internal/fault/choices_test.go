package fault_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/funnelwork/funnelwork/internal/fault"
)

func TestChoicesListFewNamesAndSuggestTheNearestOfMany(t *testing.T) {
	t.Parallel()
	many := []string{"contact.created", "contact.updated", "contact.archived", "deal.created", "Ähnlich"}
	for n := range 30 {
		many = append(many, fmt.Sprintf("further.%02d", n))
	}
	for _, c := range []struct {
		given string
		names []string
		want  string
	}{
		{"x", nil, "No."},
		{"x", []string{"a", "b"}, "No. It must be one of: a, b."},
		{"contact_created", many, "No. Did you mean contact.created?"},
		{"deal", many, "No. Did you mean deal.created?"},
		{"CONTACT.UPDATE", many, "No. Did you mean contact.updated?"},
		{"ähnlic", many, "No. Did you mean Ähnlich?"},
		{"", many, "No."},
		{"quite another thing", many, "No."},
		{strings.Repeat("contact.created", 1000), many, "No."},
	} {
		if got := fault.Choices("No.", c.given, c.names); got != c.want {
			t.Errorf("%.20q: %s, want %s", c.given, got, c.want)
		}
	}
}
