package pages

import (
	"slices"
	"testing"

	"github.com/funnelwork/funnelwork/internal/fault"
)

func TestEveryPublishedCodeHasAnErrorPage(t *testing.T) {
	t.Parallel()
	texts := errorTexts()
	codes := fault.Codes()
	for _, code := range codes {
		if text := texts[code]; text.cause == "" || text.fix == "" {
			t.Errorf("docs/errors.md has no section for %s with a cause and a remedy", code)
		}
	}
	for code := range texts {
		if !slices.Contains(codes, code) {
			t.Errorf("docs/errors.md has a section for %s, which is no published code", code)
		}
	}
}
