package inbound

import (
	"sync"

	"github.com/microcosm-cc/bluemonday"
)

// incomingPolicy is stricter than that of outgoing mail: what a stranger has sent is shown in the console. It has no
// pictures, since loading one tells the sender that the mail was read, and no styles, which can cover the page.
var incomingPolicy = sync.OnceValue(func() *bluemonday.Policy {
	p := bluemonday.NewPolicy()
	p.AllowElements("a", "abbr", "address", "b", "big", "blockquote", "br", "caption", "center", "cite", "code", "dd",
		"del", "div", "dl", "dt", "em", "h1", "h2", "h3", "h4", "h5", "h6", "hr", "i", "ins", "kbd", "li", "ol", "p",
		"pre", "q", "s", "samp", "small", "span", "strike", "strong", "sub", "sup", "table", "tbody", "td", "tfoot",
		"th", "thead", "tr", "tt", "u", "ul", "var")
	p.AllowAttrs("href").OnElements("a")
	p.AllowAttrs("dir", "lang").Globally()
	p.AllowAttrs("colspan", "rowspan").Matching(bluemonday.Integer).OnElements("td", "th")
	p.AllowURLSchemes("http", "https", "mailto", "tel")
	p.RequireParseableURLs(true)
	p.RequireNoFollowOnLinks(true)
	p.RequireNoReferrerOnLinks(true)
	p.AddTargetBlankToFullyQualifiedLinks(true)
	return p
})

// SafeHTML returns HTML that can be shown without running, loading or covering anything.
func SafeHTML(source string) string {
	if source == "" {
		return ""
	}
	return incomingPolicy().Sanitize(source)
}
