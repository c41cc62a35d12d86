package testkit

import (
	"testing"

	"github.com/funnelwork/funnelwork/internal/secret"
)

// Box returns a sealer with a new keyset.
func Box(t testing.TB) *secret.Sealer {
	t.Helper()
	keyset, err := secret.Generate()
	if err != nil {
		t.Fatal(err)
	}
	box, err := secret.Parse(keyset)
	if err != nil {
		t.Fatal(err)
	}
	return box
}
