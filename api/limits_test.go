package api_test

import (
	"fmt"
	"net/http"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/funnelwork/funnelwork/api"
	"github.com/funnelwork/funnelwork/internal/auth"
	"github.com/funnelwork/funnelwork/internal/testkit"
)

// allow sets limits beyond the plan's, like an operator's override.
func (c *caller) allow(limits map[string]int) {
	c.Helper()
	sql := testkit.Pgx(c, c.DB.URL)
	for feature, n := range limits {
		if _, err := sql.Exec(c.Context(),
			`INSERT INTO plan_override (org_id, feature, value, source) VALUES ($1, $2, to_json($3::int), 'override')
			ON CONFLICT (org_id, feature) DO UPDATE SET value = excluded.value`, c.Org, feature, n); err != nil {
			c.Fatal(err)
		}
	}
	c.settle()
}

// full fails unless the response is the refusal at a limit.
func (got answer) full(t testing.TB, feature string, limit int64) {
	t.Helper()
	var p struct {
		Feature     string
		Limit, Used int64
		UpgradeTo   string `json:"upgrade_to"`
	}
	got.want(t, http.StatusPaymentRequired, "plan_limit_reached").into(t, &p)
	want := p
	want.Feature, want.Limit, want.Used = feature, limit, limit
	if diff := cmp.Diff(want, p); diff != "" {
		t.Errorf("the refusal (-want +got):\n%s", diff)
	}
	if p.UpgradeTo == "" {
		t.Error("the refusal names no plan to upgrade to")
	}
}

func person(i int) string {
	return fmt.Sprintf(`{"email":"p%d@acme.example","first_name":"P","last_name":"P"}`, i)
}

func TestEveryLimitHolds(t *testing.T) {
	t.Parallel()
	s := start(t, unlimited)
	ada := s.signup().subscribe("solo_starter")
	ada.allow(map[string]int{"contacts": 3, "webhooks": 1, "members": 2, "social_accounts": 1, "ad_accounts": 3})

	ann := ada.contact("ann@acme.example")
	for i := range 2 {
		ada.do("POST", contactsPath, person(i)).want(t, 201, "")
	}
	ada.do("POST", contactsPath, person(9)).full(t, "contacts", 3)
	ada.do("POST", contactsPath, person(9), "Idempotency-Key", "k").full(t, "contacts", 3)
	ada.do("DELETE", contactsPath+"/"+ann.ID, nil).want(t, 204, "")
	ada.do("POST", contactsPath, person(9), "Idempotency-Key", "k").want(t, 201, "") // refusals are not stored
	ada.do("POST", contactsPath+"/"+ann.ID+"/restore", nil).full(t, "contacts", 3)
	ada.do("POST", contactsPath+"/"+ann.ID+"/purge", nil).want(t, 204, "") // it was archived, so it did not count

	hook := func(n int) string { return fmt.Sprintf(`{"url":"https://93.184.216.34/%d","events":["*"]}`, n) }
	made := ada.do("POST", "/api/v1/webhooks", hook(1)).want(t, 201, "").Header.Get("Location")
	ada.do("POST", "/api/v1/webhooks", hook(2)).full(t, "webhooks", 1)
	ada.do("DELETE", made, nil).want(t, 204, "")
	ada.do("POST", "/api/v1/webhooks", hook(2)).want(t, 201, "")
	ada.do("POST", made+"/restore", nil).full(t, "webhooks", 1)

	invite := func(name string) answer {
		return ada.do("POST", "/api/v1/members", `{"email":"`+name+`@acme.example","role":"viewer"}`)
	}
	invited := invite("bob").want(t, 201, "").Header.Get("Location")
	invite("bob").want(t, 200, "") // a repeated invitation takes no further seat
	invite("cyd").full(t, "members", 2)
	ada.do("DELETE", invited, nil).want(t, 204, "")
	invite("cyd").want(t, 201, "")

	kept := ada.login("social", "x", "Ada Lovelace")[0]
	more := ada.offered("social", "x", "Grace Hopper")
	ada.pick(more.ID, more.externals()...).full(t, "social_accounts", 1)
	ada.do("DELETE", "/api/v1/social/accounts/"+kept.ID, nil).want(t, 204, "")
	ada.pick(more.ID, more.externals()...).want(t, 200, "")
	ada.pick(ada.offered("social", "x", "Ada Lovelace").ID, kept.External).full(t, "social_accounts", 1)
	ada.login("ads", "meta_ads", "Ada Lovelace")

	for feature, f := range ada.rights().Features {
		if f.Used == nil || slices.Contains([]string{
			"client_orgs", "ai_tokens_month", "mailboxes", "emails_month",
		}, feature) {
			continue
		}
		if limit := int64(f.Value.(float64)); *f.Used != limit {
			t.Errorf("%s: %d of %d used, want all", feature, *f.Used, limit)
		}
		if f.OverLimit {
			t.Errorf("%s is over its limit: %+v", feature, f)
		}
	}
	for kind, n := range map[string]int{"contacts": 2, "webhooks": 2, "members": 2} { // of a few, 80 % may be all
		if got := s.count("job WHERE org_id = $1 AND kind = 'quota.announce' AND args->>'kind' = $2", ada.Org,
			kind); got < 1 || got > n {
			t.Errorf("%s: %d crossings", kind, got)
		}
	}
}

func TestABatchFillsWhatRoomThereIs(t *testing.T) {
	t.Parallel()
	s := start(t, unlimited)
	ada := s.signup().subscribe("solo_starter")
	ada.allow(map[string]int{"contacts": 3})
	ada.contact("p0@acme.example")
	var out struct {
		Data []struct {
			Result string
			Error  *struct {
				Code      string
				Limit     int
				UpgradeTo string `json:"upgrade_to"`
			}
		}
	}
	body := `{"contacts":[` + person(0) + `,` + person(1) + `,{"email":"nobody","first_name":"N","last_name":"N"},` +
		person(2) + `,` + person(3) + `,` + person(1) + `,` + person(4) + `]}`
	ada.do("POST", contactsPath+"/batch", body).want(t, 200, "").into(t, &out)
	want := []string{"updated", "created", "error", "created", "error", "unchanged", "error"}
	for i, row := range out.Data {
		if row.Result != want[i] {
			t.Errorf("row %d: %+v, want %s", i, row, want[i])
		}
		if i == 4 {
			if row.Error == nil {
				t.Fatalf("row %d has no error", i)
			}
			refusal := *row.Error
			refusal.Code, refusal.Limit, refusal.UpgradeTo = "plan_limit_reached", 3, "solo_pro"
			if diff := cmp.Diff(refusal, *row.Error); diff != "" {
				t.Errorf("row %d: error (-want +got):\n%s", i, diff)
			}
		}
	}
	if n := s.count("contact WHERE org_id = $1", ada.Org); n != 3 {
		t.Errorf("%d contacts", n)
	}
}

func TestAfterTheTrialOrgsAreReadAndNotWritten(t *testing.T) {
	t.Parallel()
	s := start(t, unlimited)
	ada := s.signup()
	c, key, viewer := ada.contact("ann@acme.example"), ada.key(auth.Member), ada.as(auth.Viewer)
	if _, err := testkit.Pgx(t, s.DB.URL).Exec(t.Context(),
		`UPDATE subscription SET trial_ends_at = now() - interval '1 second' WHERE org_id = $1`, ada.Org); err != nil {
		t.Fatal(err)
	}
	ada.settle()
	for _, who := range []*caller{ada, key} {
		s.eventually(func() bool {
			return who.do("PATCH", contactsPath+"/"+c.ID, `{"first_name":"Anne"}`).code() == "trial_ended"
		})
		who.do("POST", contactsPath, person(1)).want(t, 402, "trial_ended")
		who.do("DELETE", contactsPath+"/"+c.ID, nil).want(t, 402, "trial_ended")
		who.do("GET", contactsPath+"/"+c.ID, nil).want(t, 200, "")
		who.do("GET", contactsPath+"/"+c.ID+"/data-export", nil).want(t, 200, "")
		who.do("GET", "/billing/plans-with-features", nil).want(t, 200, "")
		if r := who.rights(); r.Status != "trial_ended" || r.Plan != "trial" {
			t.Errorf("rights: %+v", r)
		}
	}
	viewer.do("POST", contactsPath, person(1)).want(t, 403, "forbidden") // missing rights come before limits
	ada.subscribe("solo_starter")
	for _, who := range []*caller{ada, key} { // immediately, despite caches
		who.do("PATCH", contactsPath+"/"+c.ID, `{"first_name":"Anne"}`).want(t, 200, "")
	}
}

func TestTheRateFollowsThePlan(t *testing.T) {
	t.Parallel()
	s := start(t)
	ada := s.signup()
	if got := ada.do("GET", "/api/v1/org", nil); got.Header.Get("X-RateLimit-Limit") != "200" {
		t.Errorf("on the trial: %s", got.Header.Get("X-RateLimit-Limit"))
	}
	ada.subscribe("agency_growth")
	s.eventually(func() bool {
		got := ada.do("GET", "/api/v1/org", nil)
		return got.Header.Get("X-RateLimit-Limit") == "600" &&
			got.Header.Get("RateLimit-Policy") == `"burst";q=600;w=30, "default";q=300;w=60`
	})
}

func TestSigningUpGivesTheTrialAnEndWhereSomebodyCanPay(t *testing.T) {
	t.Parallel()
	for days, want := range map[int]int{0: 0, 14: 1} {
		s := start(t, unlimited, func(d *api.Deps) { d.TrialDays = days })
		s.stranger().do("POST", "/api/v1/auth/signup",
			`{"org_name":"Shop","email":"sam@shop.example","password":"correct horse battery"}`).want(t, 201, "")
		if n := s.count(
			"org WHERE writes_until BETWEEN now() + interval '13 days' AND now() + interval '14 days' AND plan = $1",
			"trial"); n != want {
			t.Errorf("%d days: %d orgs' writes end", days, n)
		}
		if n := s.count("quota WHERE feature = $1 AND used = 1 AND cap = 25", "members"); n != 1 {
			t.Errorf("%d orgs are limited", n)
		}
	}
}
