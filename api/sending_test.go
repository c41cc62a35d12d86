package api_test

import (
	"net/http"
	"testing"

	"github.com/funnelwork/funnelwork/internal/auth"
)

const sendingPath = "/api/v1/org/sending"

// sendingSettings is the response of GET /api/v1/org/sending.
type sendingSettings struct {
	PostalAddress    *string  `json:"postal_address"`
	DefaultPurpose   string   `json:"default_purpose"`
	DailyCap         *int     `json:"daily_cap"`
	DomainDailyCap   *int     `json:"domain_daily_cap"`
	BlockedCountries []string `json:"blocked_countries"`
	StopOn           struct {
		Reply        bool
		CompanyReply bool `json:"company_reply"`
		DealWon      bool `json:"deal_won"`
	} `json:"stop_on"`
	Tracking  struct{ Opens, Clicks bool }
	UpdatedAt *string `json:"updated_at"`
}

func TestTheSendingSettingsAreChangedMemberByMember(t *testing.T) {
	t.Parallel()
	s := start(t, unlimited)
	ada := s.signup()
	var set sendingSettings
	first := ada.do(http.MethodGet, sendingPath, nil).want(t, 200, "")
	first.into(t, &set)
	if set.PostalAddress != nil || set.DefaultPurpose != "personal" || set.DailyCap != nil ||
		*set.DomainDailyCap != 5 || len(set.BlockedCountries) != 0 || !set.StopOn.Reply || set.UpdatedAt != nil {
		t.Errorf("before the first change: %s", first.Body)
	}
	ada.do(http.MethodPut, sendingPath, first.Body).want(t, 200, "")
	if n := ada.count("org_sending WHERE org_id = $1", ada.Org); n != 0 {
		t.Errorf("a change of nothing stored %d rows", n)
	}
	got := ada.do(http.MethodPut, sendingPath, `{"postal_address":"Shop, 1 High Street, Berlin","daily_cap":1000,`+
		`"blocked_countries":["us"],"stop_on":{"company_reply":true},"tracking":{"clicks":true},`+
		`"default_purpose":"marketing"}`, "If-Match", first.Header.Get("ETag")).want(t, 200, "")
	got.into(t, &set)
	if *set.DailyCap != 1000 || set.BlockedCountries[0] != "US" || !set.StopOn.CompanyReply || !set.StopOn.Reply ||
		!set.Tracking.Clicks || set.UpdatedAt == nil {
		t.Errorf("after it: %s", got.Body)
	}
	ada.do(http.MethodGet, sendingPath, nil, "If-None-Match", got.Header.Get("ETag")).want(t, 304, "")
	ada.do(http.MethodPut, sendingPath, `{"daily_cap":1}`, "If-Match", first.Header.Get("ETag")).
		want(t, 412, "precondition_failed")
	if n := ada.count("audit_log WHERE org_id = $1 AND action = 'org_sending.updated'", ada.Org); n != 1 {
		t.Errorf("%d audit entries", n)
	}
	for body, field := range map[string]string{
		`{"blocked_countries":["XX"]}`: "#/blocked_countries/0 invalid_country",
		`{"tracking":{"opens":null}}`:  "#/tracking/opens not_nullable",
		`{"default_purpose":null}`:     "#/default_purpose not_nullable",
		`{"updated_at":null}`:          "#/updated_at read_only",
	} {
		if got := ada.do(http.MethodPut, sendingPath, body).want(t, 422, "validation_failed"); got.field() != field {
			t.Errorf("%s: %s", body, got.Body)
		}
	}
	ada.as(auth.Viewer).do(http.MethodGet, sendingPath, nil).want(t, 200, "")
	ada.as(auth.Member).do(http.MethodPut, sendingPath, `{}`).want(t, 403, "forbidden")
}

func TestMailboxesAndEmailsFollowTheSendingSettings(t *testing.T) {
	t.Parallel()
	s := start(t, unlimited)
	ada := s.signup()
	ada.do(http.MethodPut, sendingPath, `{"tracking":{"opens":true},"default_purpose":"marketing"}`).want(t, 200, "")
	var box struct {
		ID       string
		Tracking struct{ Opens, Clicks bool }
	}
	ada.do(http.MethodPost, boxesPath,
		`{"kind":"sandbox","from_email":"a@sandbox.localhost","tracking":{"clicks":true}}`).
		want(t, 201, "").into(t, &box)
	if !box.Tracking.Opens || !box.Tracking.Clicks {
		t.Errorf("a new mailbox tracks %+v", box.Tracking)
	}
	var contact struct{ ID string }
	ada.do(http.MethodPost, contactsPath, `{"email":"eve@acme.example","first_name":"Eve","last_name":"X"}`).
		want(t, 201, "").into(t, &contact)
	for given, want := range map[string]string{"": "marketing", `,"purpose":"personal"`: "personal"} {
		var email struct{ Purpose string }
		ada.do(http.MethodPost, emailsPath, `{"contact_id":"`+contact.ID+`","mailbox_id":"`+box.ID+
			`","subject":"Hi","text":"Good day"`+given+`}`).want(t, 201, "").into(t, &email)
		if email.Purpose != want {
			t.Errorf("an email with %q has the purpose %s", given, email.Purpose)
		}
	}
	html := `,"html":"<p><a href=\"https://acme.example/\">Looms</a></p>"`
	for _, off := range []string{"true", "false"} {
		ada.do(http.MethodPut, sendingPath, `{"tracking":{"off":`+off+`}}`).want(t, 200, "")
		var email struct{ ID string }
		ada.do(http.MethodPost, emailsPath, `{"contact_id":"`+contact.ID+`","mailbox_id":"`+box.ID+
			`","subject":"Hi","text":"Good day","tracking":{"opens":true,"clicks":true}`+html+`}`).want(t, 201, "").
			into(t, &email)
		n := ada.count(`email e JOIN email_content c ON c.org_id = e.org_id AND c.email_id = e.id WHERE e.id = $1
			AND (e.track_opens OR e.track_clicks OR c.html LIKE '%/t/%')`, email.ID)
		if tracked := n > 0; tracked != (off == "false") {
			t.Errorf("tracked is %t although off is %s", tracked, off)
		}
	}
}
