package api_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/funnelwork/funnelwork/api"
	"github.com/funnelwork/funnelwork/internal/auth"
	"github.com/funnelwork/funnelwork/internal/id"
)

const mePath = "/api/v1/auth/me"

// another starts a second process of the API on the same servers.
func (s *service) another() *service {
	s.Helper()
	there := *s
	there.Deps.Auth = auth.New(auth.Options{
		System: s.DB.System, App: s.DB.App, Box: s.Deps.Box, Issuer: "http://api.test", Redis: s.Deps.Auth.Redis,
		Log: s.Deps.Log, Unlimited: true,
	})
	there.App = api.New(there.Deps)
	there.serve()
	return &there
}

// at returns the caller as a client of another process.
func (c *caller) at(s *service) *caller {
	return &caller{service: s, Org: c.Org, User: c.User, Token: c.Token}
}

// within fails unless a request begun within 20 seconds sees the change. The contract is a second, on a machine that is
// not busy.
func (s *service) within(what string, done func() bool) {
	s.Helper()
	for end := time.Now().Add(20 * time.Second); ; {
		began := time.Now()
		if done() {
			return
		}
		if began.After(end) {
			s.Errorf("%s: not within 20 seconds", what)
			return
		}
	}
}

// over reports whether the caller's session has ended, and fails for any other refusal.
func (c *caller) over() bool {
	c.Helper()
	got := c.do(http.MethodGet, mePath, nil)
	if got.Status != 200 {
		got.want(c, 401, "session_ended")
	}
	return got.Status == 401
}

func TestATokenWhoseSessionEndedIsRefusedByEveryProcess(t *testing.T) {
	t.Parallel()
	here := start(t, unlimited)
	there := here.another()
	c := here.stranger()
	c.tokens("signup", map[string]any{"org_name": "A", "email": "ada@example.com", "password": goodPassword}, 201)
	password := goodPassword
	login := func() tokens {
		return c.tokens("login", map[string]any{"email": "ada@example.com", "password": password}, 200)
	}
	post := func(as *caller, path string, body any, status int) {
		t.Helper()
		as.do(http.MethodPost, "/api/v1/auth/"+path, body).want(t, status, "")
	}
	for _, tc := range []struct {
		name  string
		end   func(mine tokens)
		other bool // whether the person's other sessions continue
	}{
		{"logout", func(mine tokens) {
			post(c, "logout", map[string]any{"refresh_token": mine.RefreshToken}, 204)
		}, true},
		{"a detected reuse", func(mine tokens) {
			next := c.tokens("refresh", map[string]any{"refresh_token": mine.RefreshToken}, 200)
			c.tokens("refresh", map[string]any{"refresh_token": next.RefreshToken}, 200)
			post(c, "refresh", map[string]any{"refresh_token": mine.RefreshToken}, 401)
		}, true},
		{"a change of the password", func(tokens) {
			by := login()
			fresh := password + "1"
			post(c.with(by), "change-password", map[string]any{"old_password": password, "new_password": fresh}, 204)
			if password = fresh; c.with(by).over() || c.with(by).at(there).over() {
				t.Error("the session that changed the password has ended")
			}
		}, false},
		{"a reset", func(tokens) {
			post(c, "forgot-password", map[string]any{"email": "ada@example.com"}, 202)
			fresh := password + "2"
			post(c, "reset-password", map[string]any{"token": here.link("ada@example.com"), "password": fresh}, 204)
			password = fresh
		}, false},
		{"its end in the list", func(mine tokens) {
			w, err := here.Deps.Auth.Verify(t.Context(), mine.AccessToken)
			if err != nil {
				t.Fatal(err)
			}
			for range 2 {
				c.with(mine).do(http.MethodDelete, "/api/v1/auth/sessions/"+w.Session.String(), nil)
			}
		}, true},
	} {
		mine, other := login(), login()
		for _, as := range []*caller{c.with(mine), c.with(other), c.with(mine).at(there), c.with(other).at(there)} {
			if as.over() {
				t.Fatalf("%s: a session does not begin", tc.name)
			}
		}
		tc.end(mine)
		if !c.with(mine).over() {
			t.Errorf("%s: the token goes on in the process that ended it", tc.name)
		}
		there.within(tc.name, func() bool { return c.with(mine).at(there).over() })
		c.with(mine).at(there).do(http.MethodPost, "/api/v1/api-keys",
			map[string]any{"name": "backdoor", "role": "owner"}).want(t, 401, "session_ended")
		if tc.other {
			if c.with(other).at(there).over() {
				t.Errorf("%s: the person's other session has ended, too", tc.name)
			}
			continue
		}
		there.within(tc.name+", other sessions", func() bool { return c.with(other).at(there).over() })
	}
}

func TestARoleThatChangesAndAMemberWhoIsRemovedAreSeenByAnotherProcess(t *testing.T) {
	t.Parallel()
	here := start(t, unlimited)
	there := here.another()
	boss := here.signup()
	bob := boss.as(auth.Admin)
	path := members + "/" + bob.User.String()
	role := func() (got struct{ Role string }) {
		bob.at(there).do(http.MethodGet, mePath, nil).want(t, 200, "").into(t, &got)
		return got
	}
	for _, want := range []string{"viewer", "admin", "member"} {
		role() // fills the other process's cache
		boss.do(http.MethodPatch, path, map[string]any{"role": want}).want(t, 200, "")
		there.within("the role "+want, func() bool { return role().Role == want })
	}
	boss.do(http.MethodDelete, path, nil).want(t, 204, "")
	there.within("the removal", func() bool { return bob.at(there).over() })
}

func TestTheKeysThatAMemberMadeEndWithTheMembershipUnlessTheyAreKept(t *testing.T) {
	t.Parallel()
	here := start(t, unlimited)
	there := here.another()
	boss := here.signup()
	own := boss.key(auth.Member)
	for _, tc := range []struct {
		query  string
		status int    // status of a later request with the key
		action string // in the key's audit log
	}{
		{"", 401, "api_key.revoked"},
		{"?keep_keys=false", 401, "api_key.revoked"},
		{"?keep_keys=true", 200, "api_key.kept"},
	} {
		bob := boss.as(auth.Admin)
		var made struct{ ID, Key string }
		bob.do(http.MethodPost, "/api/v1/api-keys", map[string]any{"name": "CI"}).want(t, 201, "").into(t, &made)
		key := &caller{service: there, Token: made.Key}
		key.do(http.MethodGet, mePath, nil).want(t, 200, "")
		boss.do(http.MethodDelete, members+"/"+bob.User.String()+tc.query, nil).want(t, 204, "")
		there.within("the key after "+tc.query, func() bool {
			return key.do(http.MethodGet, mePath, nil).Status == tc.status
		})
		own.do(http.MethodGet, mePath, nil).want(t, 200, "") // another user's
		if want := "member.removed " + tc.action + " api_key.created "; !strings.HasPrefix(boss.acts()+" ", want) {
			t.Errorf("%q: the log has %q, want %q first", tc.query, boss.acts(), want)
		}
		listed := here.count("api_key WHERE id = $1 AND revoked_at IS NULL", made.ID)
		if (listed == 1) != (tc.status == 200) {
			t.Errorf("%q: %d live keys", tc.query, listed)
		}
	}
	boss.do(http.MethodDelete, members+"/"+id.New().String()+"?keep_keys=perhaps", nil).
		want(t, 400, "invalid_parameter")
}

func TestAStaffTokenEndsWithTheSessionThatAskedForItAndWithTheBond(t *testing.T) {
	t.Parallel()
	here := start(t, unlimited)
	there := here.another()
	c := here.stranger()
	up := c.tokens("signup",
		map[string]any{"org_name": "Agency", "email": "ada@example.com", "password": goodPassword}, 201)
	c.with(up).subscribe("agency_growth")
	shop := c.with(up).client(`{"name":"Shop"}`)
	login := func() tokens {
		return c.tokens("login", map[string]any{"email": "ada@example.com", "password": goodPassword}, 200)
	}
	for name, end := range map[string]func(mine tokens){
		"logout": func(mine tokens) {
			c.do(http.MethodPost, "/api/v1/auth/logout", map[string]any{"refresh_token": mine.RefreshToken}).
				want(t, 204, "")
		},
		"a detected reuse": func(mine tokens) {
			next := c.tokens("refresh", map[string]any{"refresh_token": mine.RefreshToken}, 200)
			c.tokens("refresh", map[string]any{"refresh_token": next.RefreshToken}, 200)
			c.do(http.MethodPost, "/api/v1/auth/refresh", map[string]any{"refresh_token": mine.RefreshToken}).
				want(t, 401, "")
		},
	} {
		mine, other := login(), login()
		staff, others := c.with(mine).enter(shop.ID, `{}`), c.with(other).enter(shop.ID, `{}`)
		for _, as := range []*caller{staff, others, staff.at(there), others.at(there)} {
			if as.over() {
				t.Fatalf("%s: the access does not begin", name)
			}
		}
		end(mine)
		for _, s := range []*service{here, there} {
			s.within(name, func() bool { return staff.at(s).over() })
		}
		if others.at(there).over() {
			t.Errorf("%s: an access that another session asked for has ended, too", name)
		}
		got, err := here.Deps.Auth.Verify(t.Context(), others.Token)
		if err != nil || got.Staff != up.Org.ID {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
	}
	staff := c.with(login()).enter(shop.ID, `{}`)
	staff.as(auth.Owner)
	if staff.at(there).over() {
		t.Fatal("the access does not begin")
	}
	c.with(login()).do(http.MethodPost, clientsPath+"/"+shop.ID+"/detach", nil).want(t, 200, "")
	there.within("the detachment", func() bool { return staff.at(there).over() })
}

func TestStaffHasNoRightsOverPeopleKeysPasswordsOwnershipAndBilling(t *testing.T) {
	t.Parallel()
	s := start(t, unlimited)
	ada := s.signup().subscribe("agency_growth")
	shop := ada.client(`{"name":"Shop"}`)
	staff := ada.enter(shop.ID, `{}`)
	sam := staff.as(auth.Member)
	some := id.New().String()
	for _, tc := range []struct {
		method, path string
		body         any
	}{
		{"POST", members, map[string]any{"email": "x@example.com", "role": "viewer"}},
		{"PATCH", members + "/" + sam.User.String(), map[string]any{"role": "viewer"}},
		{"DELETE", members + "/" + sam.User.String(), nil},
		{"GET", "/api/v1/api-keys", nil},
		{"GET", "/api/v1/api-keys/" + some, nil},
		{"POST", "/api/v1/api-keys", map[string]any{"name": "x"}},
		{"DELETE", "/api/v1/api-keys/" + some, nil},
		{"POST", "/api/v1/auth/change-password", map[string]any{"old_password": "x", "new_password": goodPassword}},
		{"GET", "/api/v1/auth/sessions", nil},
		{"DELETE", "/api/v1/auth/sessions/" + some, nil},
		{"POST", "/api/v1/auth/switch", map[string]any{"org_id": ada.Org}},
		{"POST", clientsPath + "/" + some + "/token", nil},
		{"POST", clientsPath + "/" + some + "/detach", nil},
		{"POST", clientsPath, map[string]any{"name": "x", "owner_email": "x@example.com"}},
		{"POST", "/billing/change-plan", map[string]any{"plan": "solo_pro", "interval": "month"}},
		{"POST", "/billing/change-plan/preview", map[string]any{"plan": "solo_pro", "interval": "month"}},
		{"POST", "/billing/cancel", nil},
		{"POST", "/billing/resume", nil},
		{"POST", "/billing/portal", nil},
		{"POST", "/white-label/connect/onboarding", map[string]any{}},
		{"POST", salesPath, map[string]any{}},
	} {
		if got := staff.do(tc.method, tc.path, tc.body); got.Status != 403 || got.code() != "forbidden" {
			t.Errorf("%s %s by staff: %d %s, want 403", tc.method, tc.path, got.Status, got.code())
		}
	}
	for _, path := range []string{
		members, mePath, "/api/v1/org", "/api/v1/audit-log", contactsPath,
		"/api/v1/webhooks",
	} {
		staff.do("GET", path, nil).want(t, 200, "")
	}
	staff.do("PATCH", "/api/v1/org", map[string]any{"name": "Shop & Sons"}).want(t, 200, "")
	staff.contact("a@shop.example")
}

func TestOneSeesAndEndsOnesOwnSessionsAlone(t *testing.T) {
	t.Parallel()
	s := start(t, unlimited)
	c := s.stranger()
	c.tokens("signup", map[string]any{"org_name": "A", "email": "ada@example.com", "password": goodPassword}, 201)
	body := map[string]any{"email": "ada@example.com", "password": goodPassword}
	var in tokens
	c.do(http.MethodPost, "/api/v1/auth/login", body, "User-Agent", "Console/1 (test)").want(t, 200, "").into(t, &in)
	me := c.with(in)
	type session struct {
		ID         id.ID
		CreatedAt  time.Time `json:"created_at"`
		LastUsedAt time.Time `json:"last_used_at"`
		IP         *string
		UserAgent  *string `json:"user_agent"`
		Current    bool
		Org        struct{ Name string }
	}
	list := func(query string) (l struct {
		Data       []session
		HasMore    bool    `json:"has_more"`
		NextCursor *string `json:"next_cursor"`
	},
	) {
		me.do(http.MethodGet, "/api/v1/auth/sessions"+query, nil).want(t, 200, "").into(t, &l)
		return l
	}
	all := list("").Data
	if len(all) != 2 {
		t.Fatalf("%d sessions, want those of signup and login", len(all))
	}
	newest := all[0]
	place := newest
	place.IP, place.UserAgent = new("127.0.0.1"), new("Console/1 (test)")
	if diff := cmp.Diff(place, newest); diff != "" {
		t.Errorf("the newest session (-want +got):\n%s", diff)
	}
	if !newest.Current || all[1].Current {
		t.Errorf("current: %v, %v; want the newest alone", newest.Current, all[1].Current)
	}
	if newest.Org.Name != "A" {
		t.Errorf("the session's org is %q, want A", newest.Org.Name)
	}
	if newest.CreatedAt.IsZero() || !newest.LastUsedAt.Equal(newest.CreatedAt) {
		t.Errorf("before a refresh: created %v, last used %v; want the same", newest.CreatedAt, newest.LastUsedAt)
	}
	w, err := s.Deps.Auth.Verify(t.Context(), me.Token)
	if err != nil || w.Session != newest.ID {
		t.Errorf("sid %v, %v; listed as %v", w.Session, err, newest.ID)
	}
	page := list("?limit=1")
	if !page.HasMore || list("?limit=1&cursor=" + *page.NextCursor).Data[0].ID != all[1].ID {
		t.Errorf("pages: %+v", page)
	}
	// A refresh keeps the session and updates where and when it was used.
	var next tokens
	c.do(http.MethodPost, "/api/v1/auth/refresh", map[string]any{"refresh_token": in.RefreshToken}, "User-Agent",
		"Console/2").want(t, 200, "").into(t, &next)
	after := list("").Data[0]
	refreshed := after
	refreshed.ID, refreshed.UserAgent, refreshed.CreatedAt = newest.ID, new("Console/2"), newest.CreatedAt
	if diff := cmp.Diff(refreshed, after); diff != "" {
		t.Errorf("after a refresh (-want +got):\n%s", diff)
	}
	if !after.LastUsedAt.After(newest.LastUsedAt) {
		t.Errorf("after a refresh: last used %v, before %v", after.LastUsedAt, newest.LastUsedAt)
	}

	path := "/api/v1/auth/sessions/" + all[1].ID.String()
	eve := s.signup()
	eve.do(http.MethodDelete, path, nil).want(t, 404, "not_found")
	me.do(http.MethodDelete, "/api/v1/auth/sessions/"+id.New().String(), nil).want(t, 404, "not_found")
	for range 2 {
		me.do(http.MethodDelete, path, nil).want(t, 204, "")
	}
	if left := list("").Data; len(left) != 1 || left[0].ID != newest.ID {
		t.Errorf("left: %+v", left)
	}
	if acts := me.acts(); acts[:len("session.ended ")] != "session.ended " {
		t.Errorf("audit log: %s", acts)
	}
	s.signup().key(auth.Owner).do(http.MethodGet, "/api/v1/auth/sessions", nil).want(t, 403, "forbidden")
}

func TestAPersonOfSeveralOrgsSeesThemAndSwitches(t *testing.T) {
	t.Parallel()
	s := start(t, unlimited)
	c := s.stranger()
	home := c.with(c.tokens("signup",
		map[string]any{"org_name": "Home", "email": "ada@example.com", "password": goodPassword}, 201))
	boss := s.signup()
	boss.invite("ada@example.com", "viewer")
	c.tokens("accept-invite", map[string]any{"token": s.link("ada@example.com"), "password": goodPassword}, 200)
	var l struct{ Data []struct{ Name, Role string } }
	home.do(http.MethodGet, "/api/v1/auth/orgs", nil).want(t, 200, "").into(t, &l)
	want := []struct{ Name, Role string }{{"Home", "owner"}, {"Test", "viewer"}}
	if diff := cmp.Diff(want, l.Data); diff != "" {
		t.Error(diff)
	}
	var there tokens
	home.do(http.MethodPost, "/api/v1/auth/switch", map[string]any{"org_id": boss.Org}).want(t, 200, "").into(t, &there)
	switched := there
	switched.Org.ID, switched.Role, switched.User.Email = boss.Org, "viewer", "ada@example.com"
	if diff := cmp.Diff(switched, there); diff != "" {
		t.Errorf("after the switch (-want +got):\n%s", diff)
	}
	if c.with(there).over() || home.over() {
		t.Error("one of the two sessions does not go on")
	}
	for _, other := range []id.ID{s.signup().Org, id.New()} {
		home.do(http.MethodPost, "/api/v1/auth/switch", map[string]any{"org_id": other}).want(t, 404, "not_found")
	}
	// A session that has ended cannot begin another.
	c.do(http.MethodPost, "/api/v1/auth/logout", map[string]any{"refresh_token": there.RefreshToken}).want(t, 204, "")
	c.with(there).do(http.MethodPost, "/api/v1/auth/switch", map[string]any{"org_id": home.Org}).
		want(t, 401, "session_ended")
}

func TestAPersonChangesTheirOwnNames(t *testing.T) {
	t.Parallel()
	s := start(t, unlimited)
	me := s.signup()
	var got struct {
		User struct {
			FirstName string `json:"first_name"`
			LastName  string `json:"last_name"`
		}
	}
	me.do(http.MethodPatch, mePath, map[string]any{"first_name": "Ada", "last_name": "L"}).want(t, 200, "")
	me.do(http.MethodPatch, mePath, map[string]any{"last_name": ""}).want(t, 200, "").into(t, &got)
	if got.User.FirstName != "Ada" || got.User.LastName != "" {
		t.Errorf("%+v", got)
	}
	if f := me.do(http.MethodPatch, mePath, map[string]any{"first_name": nil}).want(t, 422, "").
		field(); f != "#/first_name not_nullable" {
		t.Error(f)
	}
	me.key(auth.Owner).do(http.MethodPatch, mePath, map[string]any{"first_name": "x"}).want(t, 403, "forbidden")
}
