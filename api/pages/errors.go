package pages

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"fmt"
	"html"
	"html/template"
	"net/http"
	"slices"
	"strings"

	"github.com/gofiber/fiber/v2"

	"github.com/funnelwork/funnelwork/api/httpx"
	"github.com/funnelwork/funnelwork/internal/branding"
	"github.com/funnelwork/funnelwork/internal/fault"
)

// errorSource has a section for each code: its cause in the first line, and what to do about it in the second.
//
//go:embed docs/errors.md
var errorSource string

// errorText is a section of errorSource.
type errorText struct{ cause, fix string }

// errorTexts returns the texts of all codes. A test holds them against the published codes.
func errorTexts() map[fault.Code]errorText {
	texts := map[fault.Code]errorText{}
	for _, section := range strings.Split(errorSource, "\n## ")[1:] {
		lines := strings.SplitN(strings.TrimSpace(section), "\n", 3)
		if len(lines) != 3 {
			panic(fmt.Sprintf("the section %q has no cause or no remedy", lines[0])) // the file is embedded
		}
		texts[fault.Code(lines[0])] = errorText{cause: lines[1], fix: lines[2]}
	}
	return texts
}

// mountErrors serves the page of each code, to which the type of its problems leads, and the list of all.
func (p *Pages) mountErrors() {
	texts := errorTexts()
	list := p.pageOf(func(bool) (branding.Page, error) { return errorList(texts), nil })
	p.Fiber.Get(httpx.ErrorsPath, list)
	p.Fiber.Get(httpx.ErrorsPath+"/", list)
	for code, text := range texts {
		p.Fiber.Get(httpx.ErrorsPath+"/"+string(code), func(c *fiber.Ctx) error {
			problem := p.Problem(c.UserContext(), fault.New(code, "What happened to this request."))
			return p.pageOf(func(bool) (branding.Page, error) { return errorPage(code, text, problem), nil })(c)
		})
	}
}

// errorPage returns the page of a code, with a sample of its problems.
func errorPage(code fault.Code, text errorText, problem *httpx.Problem) branding.Page {
	var sample bytes.Buffer
	raw, err := json.Marshal(problem)
	if err == nil {
		err = json.Indent(&sample, raw, "", "  ")
	}
	if err != nil {
		panic(fmt.Errorf("encode the sample of %s: %w", code, err)) // it has no value that could fail
	}

	var b strings.Builder
	b.WriteString(guidesLinks)
	fmt.Fprintf(&b, "<h1>%s</h1>\n<p><code>%s</code> is answered with %d %s.</p>\n", problem.Title, code,
		problem.Status, http.StatusText(problem.Status))
	fmt.Fprintf(&b, "<h2>Cause</h2>\n<p>%s</p>\n<h2>What to do</h2>\n<p>%s</p>\n", codeMarks(text.cause),
		codeMarks(text.fix))
	fmt.Fprintf(&b, "<h2>Sample</h2>\n<pre><code>%s</code></pre>\n", html.EscapeString(sample.String()))
	fmt.Fprintf(&b, "<p><a href=%q>All errors</a></p>\n", httpx.ErrorsPath)

	return branding.Page{Title: problem.Title, Body: template.HTML(b.String())} //nolint:gosec // escaped, or ours
}

// errorList returns the page that lists all codes by their status.
func errorList(texts map[fault.Code]errorText) branding.Page {
	codes := fault.Codes()
	slices.SortFunc(codes, func(a, b fault.Code) int {
		if a.Status() != b.Status() {
			return a.Status() - b.Status()
		}
		return strings.Compare(string(a), string(b))
	})

	var b strings.Builder
	b.WriteString(guidesLinks + "<h1>Errors</h1>\n" +
		"<p>Every error is a problem (RFC 9457) with a <code>code</code> for programs. Codes are only added.</p>\n" +
		"<table><thead><tr><th>Status</th><th>Code</th><th>Cause</th></tr></thead><tbody>\n")
	for _, code := range codes {
		fmt.Fprintf(&b, "<tr><td>%d</td><td><a href=\"%s/%s\"><code>%[3]s</code></a></td><td>%s</td></tr>\n",
			code.Status(), httpx.ErrorsPath, code, codeMarks(texts[code].cause))
	}
	b.WriteString("</tbody></table>\n")

	return branding.Page{Title: "Errors", Body: template.HTML(b.String())} //nolint:gosec // escaped, or ours
}

// codeMarks returns the HTML of a line of Markdown whose only marks are those of code.
func codeMarks(line string) string {
	parts := strings.Split(html.EscapeString(line), "`")
	for i := 1; i < len(parts); i += 2 {
		parts[i] = "<code>" + parts[i] + "</code>"
	}
	return strings.Join(parts, "")
}
