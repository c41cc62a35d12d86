package pages

import (
	"bytes"
	"embed"
	"fmt"
	"html/template"
	"path"
	"slices"
	"strings"
	"sync"

	"github.com/gofiber/fiber/v2"
	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/parser"

	"github.com/funnelwork/funnelwork/internal/branding"
	"github.com/funnelwork/funnelwork/internal/fault"
)

// guideSources are the guides in Markdown. A test runs every code block in them.
//
//go:embed docs/guides/*.md
var guideSources embed.FS

const (
	guidesDir  = "docs/guides"
	guidesPath = "/docs/guides/"
	guideIndex = "index"
	// operatorsPart is the heading of a guide's last part, for the operators of the service. It names commands and
	// settings, and therefore the platform.
	operatorsPart = "\n## For operators\n"
	guidesLinks   = `<p><a href="/docs">API reference</a> · <a href="/docs/guides/">Guides</a> · ` +
		`<a href="/docs/webhooks">Webhooks</a></p>` + "\n"
)

// operatorGuides are the guides for operators alone.
var operatorGuides = []string{"parts", "queue"}

// guide is one guide. The page at a custom domain is without the operators' part, because a brand may hide the
// platform's name. A page is rendered when it is first asked for.
type guide struct {
	name   string
	whole  func() branding.Page // on the platform's own hosts
	shared func() branding.Page // on custom domains; nil: none
	// The sources of the two.
	wholeText, sharedText string
}

// markdownType is the media type of a guide's source.
const markdownType = "text/markdown"

// mountGuides serves the guides. Each page shows the brand of the request's host. A client that accepts Markdown, as
// the console does to show a guide beside a screen, gets the source.
func (p *Pages) mountGuides() {
	for _, g := range allGuides() {
		page := p.pageOf(g.pageFor)
		source := p.sourceOf(g)
		handler := func(c *fiber.Ctx) error {
			c.Vary(fiber.HeaderAccept)
			if c.Get(fiber.HeaderAccept) == markdownType {
				return source(c)
			}
			return page(c)
		}
		if g.name == guideIndex {
			p.Fiber.Get(strings.TrimSuffix(guidesPath, "/"), handler)
			p.Fiber.Get(guidesPath, handler)
			continue
		}

		p.Fiber.Get(guidesPath+g.name, handler)
	}
}

// pageFor returns the guide's page for one of the platform's own hosts or for a custom domain.
func (g *guide) pageFor(own bool) (branding.Page, error) {
	switch {
	case own:
		return g.whole(), nil
	case g.shared == nil:
		return branding.Page{}, fault.New(fault.NotFound, "There is nothing at this address.")
	}
	return g.shared(), nil
}

// sourceOf returns a handler for the Markdown of a guide.
func (p *Pages) sourceOf(g *guide) fiber.Handler {
	return func(c *fiber.Ctx) error {
		home, err := p.admitPage(c)
		if err != nil {
			return err
		}
		if _, err := g.pageFor(home.IsZero()); err != nil {
			return err
		}

		text := g.sharedText
		if home.IsZero() {
			text = g.wholeText
		}

		c.Set("Content-Type", markdownType+"; charset=utf-8")
		c.Set("Cache-Control", "no-cache")

		return c.SendString(text)
	}
}

// allGuides returns every embedded guide.
func allGuides() []*guide {
	files, err := guideSources.ReadDir(guidesDir)
	if err != nil {
		panic(fmt.Errorf("list guides: %w", err)) // the files are embedded
	}

	markdown := goldmark.New(
		// the policy forbids style attributes
		goldmark.WithExtensions(extension.NewTable(
			extension.WithTableCellAlignMethod(extension.TableCellAlignAttribute))),
		goldmark.WithParserOptions(parser.WithAutoHeadingID()))
	guides := make([]*guide, 0, len(files))
	for _, f := range files {
		source, err := guideSources.ReadFile(path.Join(guidesDir, f.Name()))
		if err != nil {
			panic(fmt.Errorf("read guide %s: %w", f.Name(), err)) // the file is embedded
		}

		text := string(source)
		g := &guide{
			name: strings.TrimSuffix(f.Name(), ".md"), whole: renderOnce(markdown, text), wholeText: text,
		}
		if !slices.Contains(operatorGuides, g.name) {
			g.sharedText, _, _ = strings.Cut(text, operatorsPart)
			g.shared = renderOnce(markdown, g.sharedText)
		}

		guides = append(guides, g)
	}

	return guides
}

// renderOnce returns a function that renders a guide once.
func renderOnce(markdown goldmark.Markdown, source string) func() branding.Page {
	return sync.OnceValue(func() branding.Page { return renderGuide(markdown, source) })
}

// renderGuide returns the page of one guide. Its first line is the title. HTML in the source is not rendered.
func renderGuide(markdown goldmark.Markdown, source string) branding.Page {
	first, _, _ := strings.Cut(source, "\n")
	title, found := strings.CutPrefix(first, "# ")
	if !found {
		panic(fmt.Sprintf("a guide begins with %q, not with its title", first)) // the files are ours
	}
	out := bytes.NewBufferString(guidesLinks)
	if err := markdown.Convert([]byte(source), out); err != nil {
		panic(fmt.Errorf("render guide %q: %w", title, err)) // a buffer takes every write
	}
	return branding.Page{Title: title, Body: template.HTML(out.String())} //nolint:gosec // rendered from embedded files
}
