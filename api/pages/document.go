package pages

import (
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"github.com/funnelwork/funnelwork/api/examples"
	"github.com/funnelwork/funnelwork/api/httpx"
	"github.com/funnelwork/funnelwork/internal/branding"
)

// Document returns the OpenAPI 3.1 document of every mounted operation. Callers must not modify it.
func (p *Pages) Document() []byte { return p.document() }

// completeDocument adds what does not belong to one operation: the server, the contact, the webhooks, the examples and
// the texts of schemas.
func (p *Pages) completeDocument() {
	doc := p.Huma.OpenAPI()
	doc.Servers = []*huma.Server{{URL: "/", Description: "The host that serves this document"}}
	doc.Info.Contact = &huma.Contact{Name: branding.PlatformName}
	if p.PublicURL != "" {
		doc.Servers = []*huma.Server{{URL: p.PublicURL}}
		doc.Info.Contact.URL = p.PublicURL + guidesPath
	}
	p.documentWebhooks()
	documentExamples(doc, examples.All())
	schemas := doc.Components.Schemas
	httpx.DescribeSchemas(schemas)
	for name, s := range schemas.Map() {
		httpx.NameNull(s)
		if strings.HasSuffix(name, "Request") {
			httpx.RefuseNull(s)
		}
	}
}

// neutralDocument returns the document for a host that may hide the platform: its title, and neither the platform's
// contact nor its address. The API is served at that host too.
func (p *Pages) neutralDocument(title string) *huma.OpenAPI {
	doc := *p.Huma.OpenAPI()
	info := *doc.Info
	info.Title, info.Contact = title, nil
	doc.Info = &info
	doc.Servers = []*huma.Server{{URL: "/"}}
	return &doc
}
