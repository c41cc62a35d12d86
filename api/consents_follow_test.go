package api_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/funnelwork/funnelwork/internal/outreach/compose"
)

func TestAnOptOutFollowsTheContactToItsNewAddressAndStaysWithTheOldOne(t *testing.T) {
	t.Parallel()
	s := start(t, unlimited)
	ada := s.signup()
	eve, bob := ada.contact("eve@acme.example"), ada.contact("bob@acme.example")
	s.pressed(ada.rendered(eve.ID, compose.Source{Text: "x"}).UnsubscribeURL, oneClick).want(t, 200, "")
	ada.do(http.MethodPatch, contactsPath+"/"+eve.ID, `{"email":"eve@home.example"}`).want(t, 200, "")
	ada.do(http.MethodPatch, contactsPath+"/"+bob.ID, `{"email":"eve@acme.example"}`).want(t, 200, "")

	box := ada.box(`{"kind":"sandbox","from_email":"hello@sandbox.localhost"}`)
	for _, contact := range []string{eve.ID, bob.ID} {
		ada.do(http.MethodPost, "/api/v1/crm/emails", map[string]any{
			"contact_id": contact, "mailbox_id": box.ID, "subject": "News", "text": "News", "purpose": "marketing",
		}).want(t, 409, "suppressed")
		ada.do(http.MethodPost, "/api/v1/crm/emails", map[string]any{
			"contact_id": contact, "mailbox_id": box.ID, "subject": "Hello", "text": "Hello", "purpose": "personal",
		}).want(t, 201, "")
	}
}

func TestLinksOfMailsIgnoreParametersThatOthersAdd(t *testing.T) {
	t.Parallel()
	s := start(t, unlimited)
	ada := s.signup()
	const added = "?fbclid=IwAR0&utm_source=news&utm_medium=email&gclid=1&mc_eid=%E2%82%AC&x&y=1&y=2"
	eve := ada.contact("eve@acme.example")
	mail := ada.rendered(eve.ID, compose.Source{Subject: "Hi", Text: "Stop: {{ unsubscribe_url }}"})
	token := strings.TrimPrefix(mail.UnsubscribeURL, "/t/u/")
	for _, path := range []string{"/t/u/", "/t/p/", "/t/s/"} {
		s.stranger().do("GET", path+token+added, nil).want(t, 200, "")
	}
	for _, path := range []string{"/t/o/", "/t/c/"} {
		plain, more := s.stranger().do("GET", path+token, nil), s.stranger().do("GET", path+token+added, nil)
		if plain.Status != more.Status || more.Status == 400 || more.Status == 422 {
			t.Errorf("%s: %d with added parameters, %d without", path, more.Status, plain.Status)
		}
	}
	if n := s.count("suppression WHERE org_id = $1", ada.Org); n != 0 {
		t.Fatalf("a GET has made %d suppressions", n)
	}
	s.pressed(mail.UnsubscribeURL+added, oneClick).want(t, 200, "")
	if n := s.count("suppression WHERE org_id = $1 AND purpose = 'marketing'", ada.Org); n != 1 {
		t.Errorf("one click with added parameters has made %d suppressions", n)
	}
	s.pressed("/t/p/"+token+added, "mails=none").want(t, 200, "")
	if n := s.count("suppression WHERE org_id = $1 AND purpose = 'all'", ada.Org); n != 1 {
		t.Errorf("a choice with added parameters has made %d suppressions", n)
	}
}
