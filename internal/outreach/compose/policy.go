package compose

import (
	"regexp"
	"sync"

	"github.com/microcosm-cc/bluemonday"
)

// elements are the elements that a mail may have.
var elements = []string{
	"a", "abbr", "address", "article", "aside", "b", "bdi", "bdo", "big", "blockquote", "br", "caption", "center",
	"cite", "code", "col", "colgroup", "dd", "del", "dfn", "div", "dl", "dt", "em", "figcaption", "figure", "font",
	"footer", "h1", "h2", "h3", "h4", "h5", "h6", "header", "hr", "i", "img", "ins", "kbd", "li", "main", "mark", "nav",
	"ol", "p", "pre", "q", "s", "samp", "section", "small", "span", "strike", "strong", "sub", "sup", "table",
	"tbody", "td", "tfoot", "th",
	"thead", "time", "tr", "tt", "u", "ul", "var", "wbr",
}

// schemes are those of the links and pictures that a mail may have: of the web, of parts of the mail, and of programs
// that a recipient has for a call, a message, a calendar or a map.
var schemes = []string{
	"http", "https", "mailto", "tel", "cid", "sms", "webcal", "whatsapp", "geo", "xmpp", "sip", "skype", "facetime",
}

// outgoing is the one policy for outgoing mail: no scripts, forms, frames, objects and event handlers; links and
// pictures of schemes. Styles are filtered in styles.go.
var outgoing = sync.OnceValue(func() *bluemonday.Policy {
	p := bluemonday.NewPolicy()
	p.AllowElements(elements...)
	p.AllowNoAttrs().OnElements(elements...)
	p.AllowAttrs("align", "bgcolor", "class", "dir", "height", "id", "lang", "role", "style", "title", "valign",
		"width").
		Globally()
	p.AllowAttrs("aria-hidden", "aria-label").Globally()
	p.AllowAttrs("href", "name", "rel").OnElements("a")
	p.AllowAttrs("target").Matching(regexp.MustCompile(`^_blank$`)).OnElements("a")
	p.AllowAttrs("alt", "border", "hspace", "src", "vspace").OnElements("img")
	p.AllowAttrs("border", "cellpadding", "cellspacing", "summary").OnElements("table")
	p.AllowAttrs("abbr", "colspan", "headers", "nowrap", "rowspan", "scope").OnElements("td", "th")
	p.AllowAttrs("span").OnElements("col", "colgroup")
	p.AllowAttrs("color", "face", "size").OnElements("font")
	p.AllowAttrs("color", "noshade", "size").OnElements("hr")
	p.AllowAttrs("reversed", "start", "type").OnElements("ol", "ul")
	p.AllowAttrs("value").OnElements("li")
	p.AllowAttrs("cite").OnElements("blockquote", "del", "ins", "q")
	p.AllowAttrs("datetime").OnElements("del", "ins", "time")
	p.AllowURLSchemes(schemes...)
	p.AllowRelativeURLs(true)
	p.RequireParseableURLs(true)
	return p
})
