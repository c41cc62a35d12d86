package look_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/funnelwork/funnelwork/internal/sandbox/look"
)

func TestEveryPageUsesTheStyleSheetAndNoInlineStyle(t *testing.T) {
	t.Parallel()
	pages, err := filepath.Glob("../*/*.html")
	if err != nil || len(pages) < 5 {
		t.Fatal(pages, err)
	}
	for _, page := range pages {
		b, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		if s := string(b); !strings.Contains(s, `<link rel="stylesheet" href="`+look.Path+`">`) {
			t.Errorf("%s does not use the style sheet", page)
		} else if strings.Contains(s, "style=") || strings.Contains(s, "<style") || strings.Contains(s, "<script") {
			t.Errorf("%s has an inline style or script", page)
		}
	}
}
