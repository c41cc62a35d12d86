package pages

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"github.com/funnelwork/funnelwork/api/examples"
	"github.com/funnelwork/funnelwork/api/httpx"
	"github.com/funnelwork/funnelwork/internal/branding"
)

// Document returns the OpenAPI 3.1 document of every mounted operation, indented for people. What is served has the
// same content without the spaces, which are a third of it.
func (p *Pages) Document() []byte {
	var out bytes.Buffer
	if err := json.Indent(&out, p.document(), "", "  "); err != nil {
		panic(fmt.Errorf("indent the API document: %w", err)) // our own encoder wrote it
	}
	return out.Bytes()
}

// completeDocument adds what does not belong to one operation: the webhooks, the examples and the texts of schemas.
func (p *Pages) completeDocument() {
	p.Complete(func(doc *huma.OpenAPI) {
		documentWebhooks(doc)
		documentExamples(doc, examples.All())
		schemas := doc.Components.Schemas
		httpx.DescribeSchemas(schemas)
		for name, s := range schemas.Map() {
			httpx.NameNull(s)
			if strings.HasSuffix(name, "Request") {
				httpx.RefuseNull(s)
			}
		}
	})
}

// ownDocument returns the document for the platform's own hosts, with its contact and its address.
func (p *Pages) ownDocument() *huma.OpenAPI {
	doc := *p.Huma.OpenAPI()
	info := *p.Huma.OpenAPI().Info
	doc.Servers = []*huma.Server{{URL: "/", Description: "The host that serves this document"}}
	info.Contact = &huma.Contact{Name: branding.PlatformName}
	if p.PublicURL != "" {
		doc.Servers = []*huma.Server{{URL: p.PublicURL}}
		info.Contact.URL = p.PublicURL + guidesPath
	}
	doc.Info = &info
	return &doc
}

// neutralDocument returns the document for a host that may hide the platform: its title, and neither the platform's
// contact nor its address. The API is served at that host too.
func (p *Pages) neutralDocument(title string) *huma.OpenAPI {
	doc := *p.Huma.OpenAPI()
	info := *p.Huma.OpenAPI().Info
	info.Title = title
	doc.Info = &info
	doc.Servers = []*huma.Server{{URL: "/"}}
	return &doc
}
