package classify_test

import (
	"testing"

	"github.com/funnelwork/funnelwork/internal/inbound/classify"
)

func TestTheWordsOfABounceCorrectItsCodeAndItsProvider(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		code, text string
		permanent  bool
		want       string
	}{
		{"5.1.1", "550 5.1.1 user unknown", true, classify.Hard},
		{"5.2.1", "", true, classify.Hard},
		{"", "", true, classify.Hard},
		{"550", "no such user here", true, classify.Hard},
		{"5.7.1", "550 5.7.1 recipient unknown", true, classify.Hard},
		{"5.2.1", "over quota", true, classify.Soft}, // some servers send a code of a missing address for anything
		{"5.1.1", "storage quota exceeded", true, classify.Soft},
		{"5.1.1", "blocked by Spamhaus", true, classify.Policy},
		{"5.7.1", "", true, classify.Policy},
		{"5.7.1", "", false, classify.Policy},
		{"5.1.1", "", false, classify.Soft}, // the provider tries the address again
		{"5.2.2", "", true, classify.Soft},
		{"5.3.4", "", true, classify.Soft},
		{"5.4.7", "", true, classify.Soft},
		{"4.2.2", "", true, classify.Soft},
		{"", "connection timed out", true, classify.Soft},
	} {
		if got := classify.BounceOf(c.code, c.text, c.permanent); got != c.want {
			t.Errorf("%q %q, permanent %t: %s, want %s", c.code, c.text, c.permanent, got, c.want)
		}
	}
}
