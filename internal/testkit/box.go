package testkit

import (
	"testing"

	"github.com/funnelwork/funnelwork/internal/secret"
)

// Box is a box of a keyset of its own.
func Box(t testing.TB) *secret.Box {
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
