package compose

import (
	"encoding/json"
	"html"
	"regexp"
	"slices"
	"strings"
)

// foreignTags are the merge tags of other products, which this service sends as they are.
var foreignTags = []struct {
	form    *regexp.Regexp
	product string
}{
	{regexp.MustCompile(`\*\|[A-Za-z][A-Za-z0-9_:]*\|\*`), "Mailchimp"},
	{regexp.MustCompile(`%%[A-Za-z][A-Za-z0-9_. ]*%%`), "Salesforce Marketing Cloud"},
	{regexp.MustCompile(`\{![A-Za-z$][A-Za-z0-9_.]*\}`), "Salesforce"},
	{regexp.MustCompile(`\{\$[a-z][a-z0-9_.]*(\|[^{}]*)?\}`), "MailerLite"},
	{regexp.MustCompile(`\[\[[A-Za-z][A-Za-z0-9_.\-: ]{0,60}\]\]`), "Mailjet"},
	{regexp.MustCompile(`~[A-Z][A-Za-z]+\.[A-Za-z0-9_]+~`), "Keap"},
	{regexp.MustCompile(`<<[A-Za-z][A-Za-z0-9_. \-]{0,60}>>`), "Word and AWeber"},
	{regexp.MustCompile(`«[A-Za-z][A-Za-z0-9_ ]{0,60}»`), "Word"},
	{regexp.MustCompile(`\$\{[A-Za-z][A-Za-z0-9_.]*\}`), "Google and Oracle"},
	{regexp.MustCompile(`##[A-Za-z][A-Za-z0-9_.]*##`), "CleverReach"},
	{regexp.MustCompile(`#\{[A-Za-z][A-Za-z0-9_.]*\}`), "Customer.io"},
	{regexp.MustCompile(`%[A-Z][A-Z0-9_\-]{2,}%`), "ActiveCampaign"},
	{regexp.MustCompile(`%(?i:recipient|contact|subscriber)\.[A-Za-z0-9_]+%`), "Mailgun"},
	{regexp.MustCompile(`-[A-Z]{2,}_?NAME-`), "SendGrid"},
	{regexp.MustCompile(`\{(?i:first_?name|last_?name|full_?name|name|company_?name|company|e_?mail|job_?title|title|` +
		`phone|city|country|website|unsubscribe(_?(link|url))?)\}`), "Reply and others"},
	{regexp.MustCompile(`\[(?i:first[_ ]?name|last[_ ]?name|full[_ ]?name|your[_ ]name|company[_ ]?name|company|` +
		`name|job[_ ]?title|unsubscribe([_ ]?(link|url))?)(,\s*fallback=[^\]]*)?\]`), "Campaign Monitor and templates"},
}

// foreignTagsIn returns the merge tags of other products in a text, each once.
func foreignTagsIn(text string) (tags, products []string) {
	var taken [][]int
	for _, f := range foreignTags {
		for _, at := range f.form.FindAllStringIndex(text, -1) {
			if slices.ContainsFunc(taken, func(t []int) bool { return at[0] < t[1] && t[0] < at[1] }) {
				continue // a part of a longer one
			}
			tag := text[at[0]:at[1]]
			taken = append(taken, at)
			// Braces around braces are ours: {{ name }} has {name} in it only without blanks.
			if at[0] > 0 && text[at[0]-1] == '{' && strings.HasPrefix(tag, "{") || slices.Contains(tags, tag) {
				continue
			}
			tags, products = append(tags, tag), append(products, f.product)
		}
	}
	return tags, products
}

// lintTags finds merge tags of other products in the source.
func (t *Template) lintTags(found func(severity, code, pointer, message string) *Finding) {
	blocks := ""
	if len(t.source.Blocks) > 0 {
		raw, err := json.Marshal(t.source.Blocks)
		if err == nil {
			blocks = strings.NewReplacer(`\u003c`, "<", `\u003e`, ">", `\u0026`, "&").Replace(string(raw))
		}
	}
	for _, part := range []struct{ pointer, text string }{
		{"/subject", t.source.Subject}, {"/html", t.source.HTML}, {"/blocks", blocks}, {"/text", t.source.Text},
	} {
		tags, products := foreignTagsIn(html.UnescapeString(part.text))
		for i, tag := range tags {
			found("warning", "foreign_merge_tag", part.pointer, tag+" is a merge tag of "+products[i]+
				", which is sent as it stands; write one like {{ contact.first_name }}.")
		}
	}
}
