package api_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const templatesPath = "/api/v1/templates"

// shownPreview is a preview as a client reads it.
type shownPreview struct {
	Subject, HTML, Text *string
	Links               []struct{ URL, Text string }
	Lint                []struct {
		Code, Severity, Pointer, Field string
		Count                          *int
	}
}

func (p *shownPreview) codes() (all []string) {
	for _, f := range p.Lint {
		all = append(all, f.Code+" "+f.Pointer)
	}
	return all
}

func TestATemplateIsKeptAndItsPartsAreChecked(t *testing.T) {
	t.Parallel()
	s := start(t, unlimited)
	ada := s.signup()
	var made struct {
		ID, Name, Subject string
		HTML, Text        *string
		Blocks            []struct{ Type, Text, URL string }
	}
	got := ada.do(http.MethodPost, templatesPath,
		`{"name":"Welcome","subject":"Hi {{ contact.first_name }}","blocks":[{"type":"text","text":"Good day"},`+
			`{"type":"button","text":"Go","url":"https://acme.example/?a=1&b=2"}]}`).
		want(t, 201, "")
	got.into(t, &made)
	at := got.Header.Get("Location")
	if made.HTML != nil || made.Text != nil || len(made.Blocks) != 2 ||
		made.Blocks[1].URL != "https://acme.example/?a=1&b=2" {
		t.Errorf("made %+v", made)
	}
	ada.do(http.MethodPatch, at, `{"html":"<p>x</p>"}`).want(t, 422, "validation_failed")
	ada.do(http.MethodPatch, at, `{"html":"<p>x</p>","blocks":null,"subject":null}`).want(t, 200, "").into(t, &made)
	if made.HTML == nil || made.Blocks != nil || made.Subject != "" {
		t.Errorf("changed %+v", made)
	}
	for body, pointer := range map[string]string{
		`{"subject":"{{ contact.first_name"}`:                            "#/subject",
		`{"html":"{% include 'a' %}"}`:                                   "#/html",
		`{"html":null,"blocks":[{"type":"button","text":"x"}]}`:          "#/blocks/0",
		`{"html":null,"blocks":[{"type":"image","src":"{{ a | no }}"}]}`: "#/blocks/0/src",
		`{"html":null}`: "#/html",
		`{"name":" "}`:  "#/name",
	} {
		got := ada.do(http.MethodPatch, at, body).want(t, 422, "validation_failed")
		if !strings.HasPrefix(got.field(), pointer+" ") {
			t.Errorf("%s: %s", body, got.Body)
		}
	}
	ada.do(http.MethodDelete, at, nil).want(t, 204, "")
	ada.do(http.MethodGet, at, nil).want(t, 404, "not_found")
	ada.do(http.MethodPatch, at, `{"name":"x"}`).want(t, 404, "not_found")
	ada.do(http.MethodPost, at+"/restore", nil).want(t, 200, "")
	var list struct{ Data []struct{ ID string } }
	ada.do(http.MethodGet, templatesPath+"?sort=name", nil).want(t, 200, "").into(t, &list)
	if len(list.Data) != 1 || list.Data[0].ID != made.ID {
		t.Errorf("listed %+v", list)
	}
}

func TestAPreviewShowsTheMailOfOneContactAndWhatIsWrongWithIt(t *testing.T) {
	t.Parallel()
	s := start(t, unlimited)
	ada := s.signup()
	var company, contact struct{ ID string }
	ada.do(http.MethodPost, "/api/v1/crm/companies", `{"name":"A & B"}`).want(t, 201, "").into(t, &company)
	ada.do(http.MethodPost, contactsPath, `{"email":"eve@acme.example","first_name":"<b>Eve</b>","last_name":"X",`+
		`"company_id":"`+company.ID+`","attributes":{"plan":"pro","seats":1000000}}`).want(t, 201, "").into(t, &contact)
	ada.contact("bob@acme.example")
	preview := func(template string) (p shownPreview) {
		ada.do(http.MethodPost, templatesPath+"/preview",
			`{"contact_id":"`+contact.ID+`","template":`+template+`}`).want(t, 200, "").into(t, &p)
		return p
	}
	p := preview(`{"subject":"{{ contact.first_name }} at {{ company.name }}",` +
		`"html":"<p>{{ contact.attributes.plan }} {{ contact.attributes.seats }} {{ contact.first_name }}</p>` +
		`<a href='https://acme.example/?q={{ contact.email }}&x=1'>Go</a><a href='{{ unsubscribe_url }}'>Stop</a>"}`)
	if *p.Subject != "<b>Eve</b> at A & B" || strings.Contains(*p.HTML, "<b>") ||
		!strings.Contains(*p.HTML, "pro 1000000 &lt;b&gt;Eve&lt;/b&gt;") || !strings.Contains(*p.Text, "<b>Eve</b>") {
		t.Errorf("shown %q\n%s\n%s", *p.Subject, *p.HTML, *p.Text)
	}
	if len(p.Links) != 2 || p.Links[0].URL != "https://acme.example/?q=eve%40acme.example&x=1" ||
		!strings.HasSuffix(p.Links[1].URL, "/t/u/preview") {
		t.Errorf("links %+v", p.Links)
	}
	if diff := cmp.Diff([]string{
		"fallback_missing /subject", "fallback_missing /subject", "fallback_missing /html", "fallback_missing /html",
		"fallback_missing /html", "text_missing /text",
	}, p.codes()); diff != "" {
		t.Errorf("lint (-want +got):\n%s", diff)
	}
	for _, f := range p.Lint {
		want := map[string]int{"contact.first_name": 0, "contact.attributes.plan": 1, "contact.attributes.seats": 1}
		if n, ok := want[f.Field]; ok && (f.Count == nil || *f.Count != n) {
			t.Errorf("%+v, want %d contacts", f, n)
		}
	}
	p = preview(`{"subject":"Hi","text":"{{ contact.phone }} {{ contact.nope }}"}`)
	if p.Subject != nil || p.HTML != nil || p.Text != nil {
		t.Errorf("shown though a value is missing: %+v", p)
	}
	if diff := cmp.Diff([]string{
		"merge_missing /text", "fallback_missing /text", "unknown_field /text", "unsubscribe_missing /text",
	}, p.codes()); diff != "" {
		t.Errorf("lint (-want +got):\n%s", diff)
	}
	to := `{"contact_id":"` + contact.ID + `"`
	for body, pointer := range map[string]string{
		to + `}`:                          "#/template_id",
		to + `,"template":{"html":"{{"}}`: "#/template/html",
		to + `,"template_id":"` + contact.ID + `"}`:                        "#/template_id",
		`{"contact_id":"` + company.ID + `","template":{"text":"x"}}`:      "#/contact_id",
		to + `,"template":{"text":"x"},"mailbox_id":"` + contact.ID + `"}`: "#/mailbox_id",
	} {
		got := ada.do(http.MethodPost, templatesPath+"/preview", body).want(t, 422, "validation_failed")
		if !strings.HasPrefix(got.field(), pointer+" ") {
			t.Errorf("%s: %s", body, got.Body)
		}
	}
}
