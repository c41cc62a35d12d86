package api_test

import (
	"bytes"
	"fmt"
	"maps"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/funnelwork/funnelwork/internal/auth"
	"github.com/funnelwork/funnelwork/internal/billing/plans"
)

const brandPath = "/white-label"

// settings is the response of GET /white-label.
type settings struct {
	BrandName    *string `json:"brand_name"`
	Colors       map[string]string
	HideBrand    bool    `json:"hide_brand"`
	SupportEmail *string `json:"support_email"`
	Logo         *struct {
		URL         string
		ContentType string `json:"content_type"`
		Width       int
		Height      int
	}
	Effective struct {
		WhiteLabel bool `json:"white_label"`
		HideBrand  bool `json:"hide_brand"`
	}
	UpdatedAt *string `json:"updated_at"`
}

// reseller returns the owner of an org with all branding features.
func (s *service) reseller() *caller {
	s.Helper()
	return s.signup().subscribe("white_label_pro")
}

// branded returns the brand.updated events and the matching audit log entries.
func (c *caller) branded() string {
	c.Helper()
	return fmt.Sprint(c.count("event WHERE org_id = $1 AND type = 'brand.updated'", c.Org), " ",
		c.count("audit_log WHERE org_id = $1 AND action = 'brand.updated'", c.Org))
}

func TestABrandIsSetFieldByField(t *testing.T) {
	t.Parallel()
	s := start(t, unlimited)
	c := s.reseller()
	var was, b settings
	first := c.do("GET", brandPath, nil).want(t, 200, "")
	first.into(t, &was)
	want := was
	want.BrandName, want.UpdatedAt, want.Logo = nil, nil, nil
	want.Effective.WhiteLabel, want.Effective.HideBrand = true, false
	if diff := cmp.Diff(want, was); diff != "" {
		t.Errorf("before the first change (-want +got):\n%s", diff)
	}
	if was.Colors["text"] != "#1b1f24" {
		t.Errorf("the default text colour is %s", was.Colors["text"])
	}
	c.do("PATCH", brandPath, "{}").want(t, 200, "")
	c.do("PATCH", brandPath, first.Body).want(t, 200, "")
	if got := c.branded(); got != "0 0" {
		t.Errorf("a patch that changes nothing is told: %s", got)
	}
	got := c.do("PATCH", brandPath,
		`{"brand_name":" Acme & Söhne `+
			`","colors":{"primary":"#8A1C4A"},"hide_brand":true,"support_email":"help@acme.test"}`, "If-Match",
		first.Header.Get("ETag")).want(t, 200, "")
	got.into(t, &b)
	want = b
	want.BrandName, want.SupportEmail = new("Acme & Söhne"), new("help@acme.test")
	want.HideBrand, want.Effective.HideBrand = true, true
	want.Colors = maps.Clone(b.Colors)
	want.Colors["primary"], want.Colors["text"] = "#8a1c4a", "#1b1f24"
	if diff := cmp.Diff(want, b); diff != "" {
		t.Errorf("after the first change (-want +got):\n%s", diff)
	}
	if b.UpdatedAt == nil {
		t.Error("no updated_at after the first change")
	}
	if again := c.do("GET", brandPath, nil); !bytes.Equal(again.Body, got.Body) ||
		again.Header.Get("ETag") != got.Header.Get("ETag") {
		t.Errorf("GET answers %s, PATCH %s", again.Body, got.Body)
	}
	c.do("GET", brandPath, nil, "If-None-Match", got.Header.Get("ETag")).want(t, 304, "")
	c.do("PATCH", brandPath, got.Body).want(t, 200, "")
	c.do("PATCH", brandPath, `{"brand_name":"Other"}`, "If-Match", first.Header.Get("ETag")).
		want(t, 412, "precondition_failed")
	if got := c.branded(); got != "1 1" {
		t.Errorf("one change is told %s times", got)
	}
	got = c.do("PATCH", brandPath, `{"brand_name":null,"colors":{"primary":null},"support_email":null}`).
		want(t, 200, "")
	if b = (settings{}); true {
		got.into(t, &b)
	}
	want = b
	want.BrandName, want.SupportEmail, want.HideBrand = nil, nil, true
	want.Colors = maps.Clone(b.Colors)
	want.Colors["primary"] = was.Colors["primary"]
	if diff := cmp.Diff(want, b); diff != "" {
		t.Errorf("after nulls (-want +got):\n%s", diff)
	}
	c.do("PATCH", brandPath, `{"colors":null,"hide_brand":false}`, "Idempotency-Key", "k").want(t, 200, "")
	c.do("PATCH", brandPath, `{"colors":null,"hide_brand":false}`, "Idempotency-Key", "k").want(t, 200, "")
	if got := c.branded(); got != "3 3" {
		t.Errorf("three changes are told %s times", got)
	}
}

func TestEachFieldOfABrandHasItsRule(t *testing.T) {
	t.Parallel()
	s := start(t, unlimited)
	c := s.reseller()
	for body, field := range map[string]string{
		`{"brand_name":""}`:                                "#/brand_name required",
		`{"brand_name":"   "}`:                             "#/brand_name required",
		`{"brand_name":"a\u200bb"}`:                        "#/brand_name invalid_text",
		`{"brand_name":"a\nb"}`:                            "#/brand_name invalid_text",
		`{"brand_name":"\u202Eemca"}`:                      "#/brand_name invalid_text",
		`{"brand_name":"service@bank.test"}`:               "#/brand_name invalid_text",
		`{"brand_name":"https://bank.test"}`:               "#/brand_name invalid_text",
		`{"brand_name":"<b>Acme</b>"}`:                     "#/brand_name invalid_text",
		`{"brand_name":"` + strings.Repeat("ä", 81) + `"}`: "#/brand_name too_long",
		`{"colors":{"primary":"red"}}`:                     "#/colors/primary invalid_color",
		`{"colors":{"primary":"#fff"}}`:                    "#/colors/primary invalid_color",
		`{"colors":{"text":"#000000;}body{x:y"}}`:          "#/colors/text invalid_color",
		`{"colors":{"link":"#000000"}}`:                    "#/colors/link unknown_field",
		`{"colors":{"text":"#999999"}}`:                    "#/colors/text low_contrast",
		`{"colors":{"background":"#0b5fff"}}`:              "#/colors/primary low_contrast",
		`{"hide_brand":null}`:                              "#/hide_brand not_nullable",
		`{"hide_brand":"yes"}`:                             "#/hide_brand invalid_type",
		`{"support_email":"nobody"}`:                       "#/support_email invalid_email",
		`{"logo":{"url":"https://elsewhere.test"}}`:        "#/logo read_only",
		`{"effective":{"white_label":false}}`:              "#/effective read_only",
		`{"updated_at":"2026-01-01T00:00:00Z"}`:            "#/updated_at read_only",
		`{"org_id":"x"}`:                                   "#/org_id unknown_field",
	} {
		got := c.do("PATCH", brandPath, body).want(t, 422, "validation_failed")
		if got.field() != field {
			t.Errorf("%s: %s, want %s", body, got.field(), field)
		}
	}
	var p struct {
		Contrast []struct {
			Color, Against, Nearest string
			Ratio, Needs            float64
		}
	}
	got := c.do("PATCH", brandPath, `{"colors":{"text":"#999999","accent":"#eeeeee"}}`).
		want(t, 422, "validation_failed")
	if got.into(t, &p); len(p.Contrast) != 2 || fmt.Sprint(p.Contrast[1]) != "{text background #767676 2.84 4.5}" {
		t.Errorf("%s", got.Body)
	}
	if got := c.branded(); got != "0 0" {
		t.Errorf("a refused change is told: %s", got)
	}
}

func TestABrandNeedsThePlanAndOutlastsIt(t *testing.T) {
	t.Parallel()
	s := start(t, unlimited)
	c := s.signup()
	var need struct {
		Feature   string
		UpgradeTo string `json:"upgrade_to"`
	}
	for body, feature := range map[string]string{
		`{"brand_name":"Acme"}`:  "white_label plan white_label_pro",
		`{"colors":{}}`:          "white_label plan white_label_pro",
		`{"support_email":null}`: "white_label plan white_label_pro",
		`{"hide_brand":true}`:    "hide_brand plan agency_growth",
	} {
		c.do("PATCH", brandPath, body).want(t, 402, "feature_not_in_plan").into(t, &need)
		if got := need.Feature + " plan " + need.UpgradeTo; got != feature {
			t.Errorf("%s: %s, want %s", body, got, feature)
		}
	}
	c.do("PATCH", brandPath, `{"hide_brand":false}`).want(t, 200, "")
	c.subscribe("agency_growth").do("PATCH", brandPath, `{"hide_brand":true}`).want(t, 200, "")
	c.do("PATCH", brandPath, `{"brand_name":"Acme"}`).want(t, 402, "feature_not_in_plan")
	c.subscribe("white_label_pro").do("PATCH", brandPath, `{"brand_name":"Acme"}`).want(t, 200, "")
	with := c.do("GET", brandPath, nil).want(t, 200, "")
	c.state(plans.State{Plan: "white_label_pro", Interval: "month", Status: plans.Canceled, Quantity: 1})
	var b settings
	without := c.do("GET", brandPath, nil).want(t, 200, "")
	without.into(t, &b)
	want := b
	want.BrandName, want.HideBrand = new("Acme"), true
	want.Effective.WhiteLabel, want.Effective.HideBrand = false, false
	if diff := cmp.Diff(want, b); diff != "" {
		t.Errorf("after the plan (-want +got):\n%s", diff)
	}
	if with.Header.Get("ETag") == without.Header.Get("ETag") {
		t.Error("the tag has not moved with the plan")
	}
}

func TestWhoMayChangeABrand(t *testing.T) {
	t.Parallel()
	s := start(t, unlimited)
	c := s.reseller()
	for role, status := range map[auth.Role]int{auth.Viewer: 403, auth.Member: 403, auth.Admin: 200} {
		c.as(role).do("PATCH", brandPath, `{"brand_name":"By `+string(role)+`"}`).want(t, status, "")
		c.key(role).do("PATCH", brandPath, `{"brand_name":"By a key of `+string(role)+`"}`).want(t, status, "")
		c.as(role).do("GET", brandPath, nil).want(t, 200, "")
	}
	other := s.reseller()
	var b settings
	if other.do("GET", brandPath, nil).into(t, &b); b.BrandName != nil {
		t.Errorf("another org has %s", *b.BrandName)
	}
}

// TestTwoChangesAtOnceAreBothKept: the first change of an org has no row to lock, and still no update is lost.
func TestTwoChangesAtOnceAreBothKept(t *testing.T) {
	t.Parallel()
	s := start(t, unlimited)
	c := s.reseller()
	bodies := []string{
		`{"brand_name":"Acme"}`, `{"hide_brand":true}`, `{"support_email":"help@acme.test"}`,
		`{"colors":{"primary":"#8a1c4a"}}`,
	}
	var all sync.WaitGroup
	for _, body := range bodies {
		all.Go(func() { c.do("PATCH", brandPath, body).want(t, 200, "") })
	}
	all.Wait()
	var b settings
	got := c.do("GET", brandPath, nil)
	got.into(t, &b)
	if b.BrandName == nil || b.SupportEmail == nil {
		t.Errorf("brand_name %v, support_email %v; want both: %s", b.BrandName, b.SupportEmail, got.Body)
	}
	if !b.HideBrand || b.Colors["primary"] != "#8a1c4a" {
		t.Errorf("hide_brand %v, primary %s; want true, #8a1c4a", b.HideBrand, b.Colors["primary"])
	}
	if tag := got.Header.Get("ETag"); !strings.HasPrefix(tag, `"4.`) {
		t.Errorf("ETag %s, want one of the fourth edit", tag)
	}
	if told := c.branded(); told != "4 4" {
		t.Errorf("four changes are told %s times", told)
	}
	if !strings.Contains(c.logged(), "brand.updated") {
		t.Error("the log has none of it")
	}
}
