package pages

import (
	"bytes"
	_ "embed" // the page and its snippets
	"fmt"
	"html/template"

	"github.com/funnelwork/funnelwork/internal/events"
)

// The snippets are separate files, so that a test can run the exact bytes which the page shows.
var (
	//go:embed docs/webhooks.html
	hooksPage string
	//go:embed docs/verify.go.txt
	verifyGo string
	//go:embed docs/verify.py.txt
	verifyPython string
	//go:embed docs/verify.mjs.txt
	verifyNode string
)

// webhooksPage returns the content of the guide for webhook receivers, without the page around it.
func webhooksPage() template.HTML {
	type snippet struct{ Language, Code string }
	live, all := events.Count()
	var out bytes.Buffer
	err := template.Must(template.New("webhooks").Parse(hooksPage)).Execute(&out, map[string]any{
		"Snippets": []snippet{{"Go", verifyGo}, {"Python", verifyPython}, {"Node", verifyNode}},
		"Types":    events.Catalogue(), "Live": live, "All": all,
	})
	if err != nil {
		panic(fmt.Errorf("render the webhooks page: %w", err)) // our own files always render
	}

	return template.HTML(out.String()) //nolint:gosec // made by the template above
}
