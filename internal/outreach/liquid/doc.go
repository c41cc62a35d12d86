// Package liquid renders the templates of outreach mail: a subset of Liquid that is safe to run on input of strangers.
//
// # Language
//
//	{{ contact.first_name | default: "there" }}           output with filters
//	{% if a == b and c %} {% elsif %} {% else %} {% endif %}
//	{% unless a %} {% else %} {% endunless %}
//	{% for x in contact.attributes.list limit: 5 %} {% else %} {% endfor %}
//	{% comment %} not shown {% endcomment %}              also {% # not shown %}
//	{{- x -}} {%- if x -%}                                without the white space on that side
//
// A value is a literal ("text", 'text', 12, 1.5, true, false, nil, empty, blank) or a path (contact.first_name,
// contact.attributes["plan name"], list[0], list.first, list.last, list.size). Comparisons are ==, !=, <>, <, >, <=, >=
// and contains; and and or have the same precedence and associate to the right, as in Liquid
// (https://shopify.github.io/liquid/basics/operators/). Inside for, forloop has index, index0, first, last and length.
// Editors write quotes of a template as &quot; or as typographic quotes; both are read as quotes.
//
// The filters are default, date, upcase, downcase, capitalize, truncate, money and url_encode; see filters.go. There is
// no include, assign, capture, range literal, case, cycle or tablerow: each is a SyntaxError.
//
// # Missing values
//
// A path is missing if it does not exist, or if its value is null or text of white space only. A missing value is false
// in a condition, has no rounds in for, equals nil, empty and blank, and passes through every filter but default.
// Output of a missing value is a MissingError; Liquid prints nothing there, which makes mails begin with "Hi ,".
//
// # Limits
//
// Render stops with ErrFuel after 50,000 steps or at an array of more than 1,000 rounds, and with ErrTooLong after
// 256 KiB of output. A step is a node, a comparison, a filter, a round, a part of a path, or 64 bytes of text that a
// filter or a comparison reads; so no template runs for more than some milliseconds. A source has at most 512 KiB, and
// tags nest at most 32 deep. osteele/liquid and the other engines in Go have no such limit and do not escape, and
// osteele's include reads files.
//
// # Escaping
//
// The template is trusted to be markup, values never are. With HTML, Render follows the output through the tokenizer
// states of the HTML standard (https://html.spec.whatwg.org/multipage/parsing.html#tokenization), reduced to what a
// value can meet, and writes a value so that it cannot leave its place:
//
//	text, title, textarea     & < > " ' as character references
//	quoted attribute          the same
//	unquoted attribute        also white space, = and `
//	URL attribute             at its start only http, https, mailto, tel and relative URLs, else "#"; behind ? or #
//	                          percent-encoded as a component, elsewhere as a URL; then as an attribute
//	srcset, event handlers    nothing
//	style, attribute and element   letters, digits and " #%.,-_" only
//	comment                   as text, and - also as a character reference, since Outlook reads markup in comments
//	names of tags, script     nothing
//
// With Text, control characters except tab and line feed are removed. With Header, each run of white space and control
// characters becomes one space, so that a value cannot end a header line. With URL, the whole template is one URL.
// Markup is the type of the few values that are already safe HTML; it is written as it is in HTML text and escaped
// elsewhere.
package liquid
