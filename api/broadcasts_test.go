package api_test

import (
	"net/http"
	"testing"

	"github.com/funnelwork/funnelwork/internal/auth"
)

const broadcastsPath = "/api/v1/broadcasts"

// shownBroadcast is a broadcast as a client reads it.
type shownBroadcast struct {
	ID, Status string
	Email      struct{ Subject, Text string }
}

func TestABroadcastFromItsDraftToItsEnd(t *testing.T) {
	t.Parallel()
	s := start(t, unlimited)
	ada := s.signup()
	ada.contact("eve@acme.example")
	ada.contact("bob@acme.example")
	ada.do(http.MethodPut, sendingPath, `{"postal_address":"Shop, 1 High Street"}`).want(t, 200, "")
	var b shownBroadcast
	got := ada.as(auth.Member).do(http.MethodPost, broadcastsPath, `{"name":"News","mailbox_id":"`+ada.sandboxMailbox()+
		`","filter":{"field":"created_at","op":"gte","value":"2020-01-01T00:00:00Z"},`+
		`"email":{"subject":"News","text":"Hi"}}`).want(t, 201, "")
	got.into(t, &b)
	at := got.Header.Get("Location")
	ada.as(auth.Viewer).do(http.MethodPatch, at, `{"name":"x"}`).want(t, 403, "forbidden")
	ada.do(http.MethodPatch, at, got.Body).want(t, 200, "")
	got = ada.do(http.MethodPost, at+"/schedule", nil).want(t, 422, "validation_failed")
	if got.field() != "#/email/text unsubscribe_missing" {
		t.Errorf("without a link to unsubscribe: %s", got.Body)
	}
	ada.do(http.MethodPatch, at, `{"email":{"text":"Hi {{ unsubscribe_url }}"}}`, "If-Match", `"1.0"`).
		want(t, 200, "").into(t, &b)
	if b.Email.Subject != "News" || b.Email.Text != "Hi {{ unsubscribe_url }}" {
		t.Errorf("merged %+v", b)
	}
	ada.do(http.MethodPatch, at, `{"name":"x"}`, "If-Match", `"1.0"`).want(t, 412, "precondition_failed")
	for body, field := range map[string]string{
		`{"segment":"01a21517-6c83-772b-9bc4-b7766cf7f426"}`:            "#/filter not_allowed",
		`{"email":{"variants":[{"key":"a","weight":1,"subject":"x"}]}}`: "#/email/variants out_of_range",
		`{"email":{"html":"{% include 'x' %}"}}`:                        "#/email/html invalid_template",
		`{"mailbox_id":"01a21517-6c83-772b-9bc4-b7766cf7f426"}`:         "#/mailbox_id not_found",
		`{"status":"sent"}`: "#/status read_only",
	} {
		if got := ada.do(http.MethodPatch, at, body).want(t, 422, ""); got.field() != field {
			t.Errorf("%s: %s", body, got.field())
		}
	}
	ada.do(http.MethodPatch, at, `{"filter":{"field":"unknown","op":"eq","value":"x"}}`).want(t, 400, "invalid_filter")
	var p struct {
		Total, Sendable int
		LeftOut         map[string]int `json:"left_out"`
	}
	ada.as(auth.Viewer).do(http.MethodPost, at+"/preview", nil).want(t, 200, "").into(t, &p)
	if p.Total != 2 || p.Sendable != 2 || len(p.LeftOut) != 0 {
		t.Errorf("preview %+v", p)
	}
	ada.do(http.MethodPost, at+"/test", `{"to":["me@shop.example","you@shop.example"]}`).want(t, 202, "")
	ada.do(http.MethodPost, at+"/test", `{"to":["unknown"]}`).want(t, 422, "validation_failed")
	ada.do(http.MethodPost, at+"/pause", nil).want(t, 409, "conflict")
	ada.do(http.MethodPost, at+"/schedule", `{"send_at":"2099-01-01T00:00:00Z"}`).want(t, 422, "validation_failed")
	ada.do(http.MethodPost, at+"/schedule", nil, "Idempotency-Key", "a").want(t, 200, "").into(t, &b)
	ada.do(http.MethodPost, at+"/schedule", nil, "Idempotency-Key", "a").want(t, 200, "")
	n := ada.count(`job WHERE org_id = $1 AND kind = 'broadcast.prepare'`, ada.Org)
	if b.Status != "preparing" || n != 1 {
		t.Errorf("%s with %d jobs", b.Status, n)
	}
	ada.do(http.MethodPatch, at, `{"name":"x"}`).want(t, 409, "already_started")
	ada.do(http.MethodDelete, at, nil).want(t, 409, "already_started")
	ada.do(http.MethodPost, at+"/pause", nil).want(t, 200, "")
	ada.do(http.MethodPost, at+"/resume", nil).want(t, 200, "")
	ada.do(http.MethodPost, at+"/cancel", nil).want(t, 200, "").into(t, &b)
	if b.Status != "cancelled" {
		t.Errorf("cancelled: %+v", b)
	}
	ada.do(http.MethodPost, at+"/cancel", nil).want(t, 200, "")
	ada.do(http.MethodPost, at+"/resume", nil).want(t, 409, "conflict")
	ada.do(http.MethodDelete, at, nil).want(t, 204, "")
	ada.do(http.MethodGet, at, nil).want(t, 404, "not_found")
	ada.do(http.MethodPost, at+"/restore", nil).want(t, 200, "")
	ada.do(http.MethodGet, at+"/stats", nil).want(t, 200, "")
	var list struct{ Data []shownBroadcast }
	ada.do(http.MethodGet, broadcastsPath+"?status=cancelled", nil).want(t, 200, "").into(t, &list)
	if len(list.Data) != 1 {
		t.Errorf("listed %+v", list)
	}
	stranger := s.signup()
	stranger.do(http.MethodGet, at, nil).want(t, 404, "not_found")
	stranger.do(http.MethodPost, at+"/cancel", nil).want(t, 404, "not_found")
}
