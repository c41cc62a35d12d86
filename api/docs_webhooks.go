package api

import (
	"bytes"
	_ "embed" // the page and its snippets
	"fmt"
	"html/template"

	"github.com/funnelwork/funnelwork/internal/events"
)

// The snippets are files of their own, so that a test can run the very bytes that the page shows.
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

// webhooksPage is the guide for receivers, but for what is around it.
func webhooksPage() template.HTML {
	type snippet struct{ Language, Code string }
	live, all := events.Count()
	var out bytes.Buffer
	err := template.Must(template.New("webhooks").Parse(hooksPage)).Execute(&out, map[string]any{
		"Snippets": []snippet{{"Go", verifyGo}, {"Python", verifyPython}, {"Node", verifyNode}},
		"Types":    events.Catalogue(), "Live": live, "All": all,
	})
	if err != nil {
		panic(fmt.Errorf("page on webhooks: %w", err)) // it is made of our own files
	}
	return template.HTML(out.String()) //nolint:gosec // made by the template above
}
