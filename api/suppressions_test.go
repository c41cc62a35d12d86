package api_test

import (
	"strings"
	"testing"

	"github.com/funnelwork/funnelwork/internal/auth"
)

const suppressionsPath = "/api/v1/suppressions"

func TestASuppressionIsMadeFoundAndLiftedWithAReason(t *testing.T) {
	t.Parallel()
	ada := start(t, unlimited).signup()
	var s struct{ ID, Purpose, Reason string }
	ada.do("POST", suppressionsPath, `{"email":"Eve@Example.com","note":"asked by phone"}`).want(t, 201, "").into(t, &s)
	if s.Purpose != "all" || s.Reason != "manual" {
		t.Errorf("made %+v", s)
	}
	again := ada.do("POST", suppressionsPath, `{"email":"eve@example.COM"}`).want(t, 200, "")
	if !strings.Contains(string(again.Body), s.ID) {
		t.Errorf("made twice: %s", again.Body)
	}
	ada.do("POST", suppressionsPath, `{"domain":"Bücher.example","purpose":"marketing"}`).want(t, 201, "")
	for query, want := range map[string]string{
		"?email=EVE@example.com&count=exact": `"total":1`, "?email=adam@example.com&count=exact": `"total":0`,
		"?domain=xn--bcher-kva.example&count=exact": `"total":1`, "?purpose=all&count=exact": `"total":1`,
		"?lifted=true&count=exact": `"total":0`, "?count=exact": `"total":2`,
	} {
		got := ada.do("GET", suppressionsPath+query, nil).want(t, 200, "")
		if !strings.Contains(string(got.Body), want) {
			t.Errorf("%s: %s, want %s", query, got.Body, want)
		}
	}
	at := suppressionsPath + "/" + s.ID
	ada.do("DELETE", at, nil).want(t, 400, "invalid_parameter")
	ada.as(auth.Member).do("DELETE", at+"?reason=x", nil).want(t, 403, "forbidden")
	ada.do("DELETE", at+"?reason=asked+again", nil).want(t, 204, "")
	ada.do("DELETE", at+"?reason=asked+again", nil).want(t, 204, "")
	if got := ada.do("GET", suppressionsPath+"?lifted=true", nil); !strings.Contains(string(got.Body), "asked again") {
		t.Errorf("lifted: %s", got.Body)
	}
	ada.do("POST", suppressionsPath, `{"email":"eve@example.com"}`).want(t, 201, "")
	for _, body := range []string{
		`{}`, `{"email":"x"}`, `{"email":"a@example.com","domain":"example.com"}`, `{"domain":"example"}`,
		`{"email":"a@example.com","purpose":"none"}`, `{"email":"a@example.com","reason":"whim"}`,
	} {
		ada.do("POST", suppressionsPath, body).want(t, 422, "validation_failed")
	}
}

func TestOnlyAnOwnerLiftsAComplaint(t *testing.T) {
	t.Parallel()
	ada := start(t, unlimited).signup()
	var s struct{ ID string }
	ada.as(auth.Member).do("POST", suppressionsPath, `{"email":"eve@example.com","reason":"complaint"}`).
		want(t, 201, "").into(t, &s)
	at := suppressionsPath + "/" + s.ID + "?reason=mistake"
	ada.as(auth.Admin).do("DELETE", at, nil).want(t, 403, "forbidden")
	ada.do("DELETE", at, nil).want(t, 204, "")
}

func TestASuppressionOutlivesItsContactWithoutTheAddress(t *testing.T) {
	t.Parallel()
	ada := start(t, unlimited).signup()
	eve := ada.contact("eve@example.com")
	ada.do("POST", suppressionsPath, `{"email":"EVE@example.com","note":"Eve Moneypenny"}`).want(t, 201, "")
	ada.do("POST", contactsPath+"/"+eve.ID+"/purge", nil).want(t, 204, "")
	got := string(ada.do("GET", suppressionsPath+"?email=eve@example.com&count=exact", nil).want(t, 200, "").Body)
	if !strings.Contains(got, `"total":1`) || strings.Contains(strings.ToLower(got), "eve") {
		t.Errorf("after the purge: %s", got)
	}
}
