package api_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/funnelwork/funnelwork/internal/testkit"
	"github.com/funnelwork/funnelwork/internal/testkit/consent"
)

const boxesPath = "/api/v1/mailboxes"

// box is a mailbox as a client reads it.
type box struct {
	ID, Name, Kind, Status string
	FromEmail              string         `json:"from_email"`
	StatusReason           *string        `json:"status_reason"`
	HeldUntil              *string        `json:"held_until"`
	DailyCap               *int           `json:"daily_cap"`
	Gap                    map[string]int `json:"gap_seconds"`
	SMTP                   map[string]any
	IMAP                   map[string]any
	InboundURL             string `json:"inbound_url"`
}

const smtpBody = `{"kind":"smtp","from_email":"Ada@Example.com","smtp":{"host":"smtp.example.com","username":"ada",` +
	`"password":"hunter2hunter2"}}`

func (c *caller) box(body string) (b box) {
	c.Helper()
	c.do("POST", boxesPath, body).want(c, 201, "").into(c, &b)
	return b
}

func TestAMailboxIsCreatedWithDefaultsAndNeverShowsItsPassword(t *testing.T) {
	t.Parallel()
	s := start(t, unlimited)
	ada := s.signup()
	made := ada.do("POST", boxesPath, smtpBody).want(t, 201, "")
	var b box
	made.into(t, &b)
	if b.Name != "Ada@Example.com" || b.Status != "unverified" || *b.DailyCap != 50 || b.Gap["min"] != 30 ||
		b.Gap["max"] != 120 || b.SMTP["port"] != 587.0 || b.SMTP["tls"] != "starttls" || b.IMAP != nil ||
		!strings.Contains(b.InboundURL, "/inbound/email/") {
		t.Errorf("created %+v", b)
	}
	read := ada.do("GET", boxesPath+"/"+b.ID, nil).want(t, 200, "")
	list := ada.do("GET", boxesPath, nil).want(t, 200, "")
	for _, got := range []answer{made, read, list} {
		if strings.Contains(string(got.Body), "hunter2") {
			t.Errorf("a response shows the password: %s", got.Body)
		}
	}
	if strings.Contains(string(read.Body), "inbound_url") {
		t.Error("the inbound address is shown twice")
	}
	var sealed []byte
	if err := testkit.Pgx(t, s.DB.URL).QueryRow(t.Context(), `SELECT smtp_password FROM mailbox`).
		Scan(&sealed); err != nil || len(sealed) == 0 || strings.Contains(string(sealed), "hunter2") {
		t.Errorf("the stored password is %q, %v", sealed, err)
	}
	again := ada.do("POST", boxesPath, strings.ToLower(smtpBody)).want(t, 409, "mailbox_exists")
	if !strings.Contains(string(again.Body), b.ID) {
		t.Errorf("the conflict does not name the mailbox: %s", again.Body)
	}
	sandbox := ada.box(`{"kind":"sandbox","from_email":"hello@sandbox.localhost","daily_cap":null}`)
	if sandbox.Status != "active" || sandbox.DailyCap != nil || sandbox.Gap["max"] != 0 || sandbox.SMTP != nil {
		t.Errorf("sandbox %+v", sandbox)
	}
	relay := ada.box(`{"kind":"smtp","from_email":"relay@example.com","smtp":{"host":"relay.example.com","port":465},` +
		`"daily_cap":null,"rate_per_second":50}`)
	if relay.DailyCap != nil || relay.Gap["max"] != 0 || relay.SMTP["tls"] != "tls" || relay.SMTP["username"] != "" {
		t.Errorf("relay %+v", relay)
	}
}

func TestAMailboxOfNoPublicServerIsRefused(t *testing.T) {
	t.Parallel()
	ada := start(t, unlimited).signup()
	for body, code := range map[string]string{
		`{"kind":"smtp","from_email":"a@x.example","smtp":{"host":"10.0.0.1"}}`:                   "host_not_allowed",
		`{"kind":"smtp","from_email":"a@x.example","smtp":{"host":"localhost"}}`:                  "host_not_allowed",
		`{"kind":"smtp","from_email":"a@x.example","smtp":{"host":"0x7f.1"}}`:                     "host_not_allowed",
		`{"kind":"smtp","from_email":"a@x.example","smtp":{"host":"s.example","port":22}}`:        "port_not_allowed",
		`{"kind":"smtp","from_email":"a@x.example","smtp":{"host":"s.example","tls":"none"}}`:     "validation_failed",
		`{"kind":"smtp","from_email":"a@x.example"}`:                                              "validation_failed",
		`{"kind":"smtp","from_email":"a@x.example","smtp":{"host":"a b"}}`:                        "validation_failed",
		`{"kind":"sandbox","from_email":"a@x.example","smtp":{"host":"s.example"}}`:               "validation_failed",
		`{"kind":"google","from_email":"a@x.example"}`:                                            "validation_failed",
		`{"kind":"sandbox","from_email":"a@b@example.com"}`:                                       "validation_failed",
		`{"kind":"sandbox","from_email":"a@x.example","from_name":"x\r\nBcc: b@example.com"}`:     "validation_failed",
		`{"kind":"sandbox","from_email":"a@x.example","daily_cap":0}`:                             "validation_failed",
		`{"kind":"smtp","from_email":"a@x.example","smtp":{"host":"s.example"},"daily_cap":null}`: "validation_failed",
		`{"kind":"sandbox","from_email":"a@x.example","gap_seconds":{"min":9,"max":3}}`:           "validation_failed",
		`{"kind":"sandbox","from_email":"a@x.example","time_zone":"Mars/Olympus"}`:                "validation_failed",
		`{"kind":"carrier_pigeon","from_email":"a@x.example"}`:                                    "validation_failed",
	} {
		if got := ada.do("POST", boxesPath, body); got.Status != 422 || !strings.Contains(string(got.Body), code) {
			t.Errorf("%s: %d %s, want 422 %s", body, got.Status, got.Body, code)
		}
	}
	imap := `{"kind":"smtp","from_email":"a@example.com","smtp":{"host":"s.example.com"},` +
		`"imap":{"host":"i.example.com"%s}}`
	ada.do("POST", boxesPath, strings.Replace(imap, "%s", `,"port":587`, 1)).want(t, 422, "port_not_allowed")
	ada.do("POST", boxesPath, strings.Replace(imap, "%s", "", 1)).want(t, 201, "")
}

func TestAChangedConnectionNeedsAnotherTest(t *testing.T) {
	t.Parallel()
	s := start(t, unlimited)
	ada := s.signup()
	b := ada.box(smtpBody)
	verify := func() {
		if _, err := testkit.Pgx(t, s.DB.URL).Exec(t.Context(),
			`UPDATE mailbox SET status = 'active', verified_at = now(), sent_proof = true`); err != nil {
			t.Fatal(err)
		}
	}
	for patch, want := range map[string]string{
		`{"name":"Sales"}`: "active", `{"signature_html":"<b>Ada</b>"}`: "active", `{}`: "active",
		`{"smtp":{"username":"grace"}}`:                                   "unverified",
		`{"smtp":{"password":"another"}}`:                                 "unverified",
		`{"from_email":"grace@example.com"}`:                              "unverified",
		`{"smtp":{"host":"other.example.com","password":"hunter2again"}}`: "unverified",
	} {
		verify()
		var got box
		ada.do("PATCH", boxesPath+"/"+b.ID, patch).want(t, 200, "").into(t, &got)
		if got.Status != want || got.SMTP["host"] == "" {
			t.Errorf("%s: %+v, want %s", patch, got, want)
		}
	}
	ada.do("PATCH", boxesPath+"/"+b.ID, `{"smtp":{"host":"evil.example.com"}}`).want(t, 422, "validation_failed")
	ada.do("PATCH", boxesPath+"/"+b.ID, `{"status":"held"}`).want(t, 422, "validation_failed")
	ada.do("PATCH", boxesPath+"/"+b.ID, `{"kind":"sandbox"}`).want(t, 422, "validation_failed")
}

func TestAMailboxIsHeldResumedAndRestored(t *testing.T) {
	t.Parallel()
	ada := start(t, unlimited).signup()
	b, at := ada.box(`{"kind":"sandbox","from_email":"hello@sandbox.localhost"}`), boxesPath+"/"
	at += b.ID
	var got box
	ada.do("POST", at+"/hold", `{"until":"2001-01-01T00:00:00Z"}`).want(t, 422, "validation_failed")
	ada.do("POST", at+"/hold", `{"until":"2999-01-01T00:00:00Z"}`).want(t, 200, "").into(t, &got)
	if got.Status != "held" || *got.StatusReason != "held_by_user" || *got.HeldUntil != "2999-01-01T00:00:00.000000Z" {
		t.Errorf("held %+v", got)
	}
	got = box{}
	ada.do("POST", at+"/resume", nil).want(t, 200, "").into(t, &got)
	if got.Status != "active" || got.StatusReason != nil || got.HeldUntil != nil {
		t.Errorf("resumed %+v", got)
	}
	smtp := ada.box(smtpBody)
	ada.do("POST", boxesPath+"/"+smtp.ID+"/hold", nil).want(t, 409, "mailbox_not_active")
	ada.do("POST", boxesPath+"/"+smtp.ID+"/resume", nil).want(t, 409, "mailbox_not_active")
	first := ada.do("POST", at+"/rotate-inbound-token", nil).want(t, 200, "")
	if second := ada.do("POST", at+"/rotate-inbound-token", nil).want(t, 200, ""); string(first.Body) ==
		string(second.Body) {
		t.Error("the token stays the same")
	}
	ada.do("DELETE", at, nil).want(t, 204, "")
	ada.do("DELETE", at, nil).want(t, 204, "")
	ada.do("GET", at, nil).want(t, 404, "not_found")
	ada.box(`{"kind":"sandbox","from_email":"HELLO@sandbox.localhost"}`)
	ada.do("POST", at+"/restore", nil).want(t, 409, "mailbox_exists")
	etag := ada.do("GET", boxesPath+"/"+smtp.ID, nil).Header.Get("ETag")
	ada.do("PATCH", boxesPath+"/"+smtp.ID, `{"name":"A"}`, "If-Match", etag).want(t, 200, "")
	ada.do("PATCH", boxesPath+"/"+smtp.ID, `{"name":"B"}`, "If-Match", etag).want(t, 412, "precondition_failed")
	if got := ada.do("GET", boxesPath+"?status=active&kind=sandbox&count=exact", nil); !strings.Contains(
		string(got.Body), `"total":1`) {
		t.Errorf("filtered: %s", got.Body)
	}
}

func TestThePlanLimitsMailboxes(t *testing.T) {
	t.Parallel()
	ada := start(t, unlimited).signup()
	ada.allow(map[string]int{"mailboxes": 1})
	ada.box(`{"kind":"sandbox","from_email":"one@sandbox.localhost"}`)
	ada.do(http.MethodPost, boxesPath, `{"kind":"sandbox","from_email":"two@sandbox.localhost"}`).
		full(t, "mailboxes", 1)
}

func TestAMailboxOfAConnectedAccountNeedsALoginOfItsPlatform(t *testing.T) {
	t.Parallel()
	s := start(t, unlimited)
	ada := s.signup()
	b := ada.browser(true)
	accounts := map[string]string{}
	for _, platform := range []string{"gmail", "outlook", "x"} {
		b.open(b.consent(b.connect("social", platform, home), consent.Choice{}))
		var list struct {
			Data []struct{ ID, Platform string }
		}
		ada.do("GET", "/api/v1/social/accounts", nil).want(t, 200, "").into(t, &list)
		for _, a := range list.Data {
			accounts[a.Platform] = a.ID
		}
	}
	body := func(kind, account string) string {
		return `{"kind":"` + kind + `","from_email":"` + kind + `@shop.example","social_account_id":"` + account + `"}`
	}
	for _, c := range []struct{ kind, platform, code string }{
		{"google", "x", "wrong_platform"},
		{"google", "outlook", "wrong_platform"},
		{"microsoft", "gmail", "wrong_platform"},
		{"smtp", "gmail", "not_allowed"},
	} {
		got := ada.do("POST", boxesPath, body(c.kind, accounts[c.platform])).want(t, 422, "validation_failed")
		if !strings.Contains(string(got.Body), c.code) {
			t.Errorf("%s with %s: %s", c.kind, c.platform, got.Body)
		}
	}
	for kind, platform := range map[string]string{"google": "gmail", "microsoft": "outlook"} {
		if made := ada.box(body(kind, accounts[platform])); made.Status != "unverified" || made.SMTP != nil {
			t.Errorf("%s: %+v", kind, made)
		}
	}
}
