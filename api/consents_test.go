package api_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/outreach/compose"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/templates"
)

const oneClick = "List-Unsubscribe=One-Click"

// pressed posts the form of a page of a mail.
func (s *service) pressed(path, form string) answer {
	s.Helper()
	return s.stranger().do("POST", path, form, "Content-Type", "application/x-www-form-urlencoded")
}

// rendered returns a mail to the contact, as a sender makes it.
func (c *caller) rendered(contact string, source compose.Source) (out *templates.Rendered) {
	c.Helper()
	to, err := id.Parse(contact)
	if err != nil {
		c.Fatal(err)
	}
	renderer := templates.Service{Box: c.Deps.Box}
	if err := c.DB.App.Tx(c.Context(), c.Org, func(tx *postgres.Tx) (err error) {
		out, err = renderer.Render(c.Context(), tx, &templates.Mail{Source: source, Contact: to, Email: id.New()})
		return err
	}); err != nil {
		c.Fatal(err)
	}
	return out
}

func TestOnlyAPressedButtonUnsubscribes(t *testing.T) {
	t.Parallel()
	s := start(t, unlimited)
	ada := s.signup()
	eve := ada.contact("eve@acme.example")
	mail := ada.rendered(eve.ID, compose.Source{Subject: "Hi", Text: "Stop: {{ unsubscribe_url }}"})
	if !strings.Contains(mail.Text, mail.UnsubscribeURL) {
		t.Errorf("%q lacks %s", mail.Text, mail.UnsubscribeURL)
	}
	again, err := templates.Again(mail.Source, mail.Values, "")
	if err != nil || again.Text != mail.Text || again.HTML != mail.HTML || again.Subject != mail.Subject {
		t.Errorf("rendered again: %v\n%+v\n%+v", err, again, mail.Rendered)
	}
	suppressed := func() int {
		return s.count("suppression WHERE org_id = $1 AND purpose = 'marketing' AND lifted_at IS NULL", ada.Org)
	}
	for range 20 {
		page := s.stranger().do("GET", mail.UnsubscribeURL, nil).want(t, 200, "")
		if !strings.Contains(string(page.Body), `name="List-Unsubscribe" value="One-Click"`) ||
			!strings.Contains(page.Header.Get("Content-Security-Policy"), "form-action 'self'") {
			t.Fatalf("%v\n%s", page.Header, page.Body)
		}
	}
	s.pressed(mail.UnsubscribeURL, "other=1").want(t, 200, "")
	other := s.signup()
	theirs := other.rendered(other.contact("eve@acme.example").ID, compose.Source{Text: "x"})
	forged := strings.TrimPrefix(mail.UnsubscribeURL, "/t/u/")[:76] + "AAAA"
	for _, token := range []string{"preview", "x", strings.Repeat("A", 80), forged} {
		s.pressed("/t/u/"+token, oneClick).want(t, 200, "")
	}
	s.pressed(strings.Replace(mail.UnsubscribeURL, "/t/u/", "/t/s/", 1), oneClick).want(t, 200, "")
	if n := suppressed(); n != 0 {
		t.Fatalf("%d suppressions before the button was pressed", n)
	}
	for range 2 {
		s.pressed(mail.UnsubscribeURL, oneClick).want(t, 200, "")
	}
	s.stranger().do("POST", mail.UnsubscribeURL,
		"--b\r\nContent-Disposition: form-data; name=\"List-Unsubscribe\"\r\n\r\nOne-Click\r\n--b--\r\n",
		"Content-Type", "multipart/form-data; boundary=b").want(t, 200, "")
	if n := suppressed(); n != 1 || ada.effects(ada.Org)["contact.unsubscribed"] != 1 {
		t.Errorf("%d suppressions, %v", n, ada.effects(ada.Org))
	}
	if n := s.count("suppression WHERE org_id = $1", other.Org); n != 0 {
		t.Errorf("%d suppressions of another org", n)
	}
	ada.do(http.MethodPost, contactsPath+"/"+eve.ID+"/purge", nil).want(t, 204, "")
	s.pressed(mail.UnsubscribeURL, oneClick).want(t, 200, "")
	s.pressed(theirs.UnsubscribeURL, oneClick).want(t, 200, "")
}

func TestAConsentIsConfirmedByTheLinkOfAMail(t *testing.T) {
	t.Parallel()
	s := start(t, unlimited)
	ada := s.signup()
	eve := ada.contact("eve@acme.example")
	at := contactsPath + "/" + eve.ID
	ada.do(http.MethodPost, at+"/request-consent", nil).want(t, 202, "")
	var c struct {
		Consent *struct {
			Basis       string
			ConfirmedAt *string `json:"confirmed_at"`
		}
	}
	ada.do(http.MethodGet, at, nil).want(t, 200, "").into(t, &c)
	if c.Consent == nil || c.Consent.Basis != "consent" || c.Consent.ConfirmedAt != nil {
		t.Fatalf("asked: %+v", c.Consent)
	}
	text := s.letters("eve@acme.example")[0].Text
	_, rest, ok := strings.Cut(text, "/t/s/")
	if !ok {
		t.Fatalf("no link in %s", text)
	}
	path := "/t/s/" + strings.Fields(rest)[0]
	s.pressed(ada.rendered(eve.ID, compose.Source{Text: "x"}).UnsubscribeURL, oneClick).want(t, 200, "")
	s.stranger().do("GET", path, nil).want(t, 200, "")
	ada.do(http.MethodGet, at, nil).want(t, 200, "").into(t, &c)
	if c.Consent.ConfirmedAt != nil {
		t.Fatal("a GET confirmed the consent")
	}
	for range 2 {
		s.pressed(path, oneClick).want(t, 200, "")
	}
	ada.do(http.MethodGet, at, nil).want(t, 200, "").into(t, &c)
	if c.Consent.ConfirmedAt == nil || ada.effects(ada.Org)["contact.subscribed"] != 1 {
		t.Errorf("confirmed: %+v, %v", c.Consent, ada.effects(ada.Org))
	}
	if n := s.count("suppression WHERE org_id = $1 AND lifted_at IS NULL", ada.Org); n != 0 {
		t.Errorf("%d suppressions after the contact subscribed again", n)
	}
}

func TestAContactIsAskedForItsConsentThreeTimesADay(t *testing.T) {
	t.Parallel()
	ada := start(t, unlimited).signup()
	at := contactsPath + "/" + ada.contact("eve@acme.example").ID + "/request-consent"
	for range 3 {
		ada.do(http.MethodPost, at, nil).want(t, 202, "")
	}
	if got := ada.do(http.MethodPost, at, nil).want(t, 429, "rate_limited"); got.Header.Get("Retry-After") == "" {
		t.Error("no Retry-After")
	}
	ada.do(http.MethodPost, contactsPath+"/"+ada.contact("bob@acme.example").ID+"/request-consent", nil).
		want(t, 202, "")
	if n := len(ada.letters("eve@acme.example")); n != 3 {
		t.Errorf("%d mails", n)
	}
	ada.exec(`UPDATE consent_request SET since = since - interval '25 hours'`)
	ada.do(http.MethodPost, at, nil).want(t, 202, "")
}
