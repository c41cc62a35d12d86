package api_test

import (
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/funnelwork/funnelwork/internal/auth"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/testkit"
)

const clientsPath = "/api/v1/orgs/clients"

type clientBody struct {
	ID, Name, Status string
	Features         map[string]any
}

// client creates a client org of the caller's.
func (c *caller) client(body any) (b clientBody) {
	c.Helper()
	c.do("POST", clientsPath, body).want(c, 201, "").into(c, &b)
	return b
}

// eventually waits until done returns true, within the second that other processes may take to see a change.
func (s *service) eventually(done func() bool) {
	s.Helper()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for end := time.Now().Add(5 * time.Minute); !done(); <-tick.C {
		if time.Now().After(end) {
			s.Fatal("it did not come to that")
		}
	}
}

// enter returns the caller as staff in a client's org.
func (c *caller) enter(client, body string) *caller {
	c.Helper()
	var t struct {
		Token string `json:"access_token"`
	}
	c.do("POST", clientsPath+"/"+client+"/token", body).want(c, 200, "").into(c, &t)
	org, err := id.Parse(client)
	if err != nil {
		c.Fatal(err)
	}
	return &caller{service: c.service, Org: org, User: c.User, Token: t.Token}
}

// logged returns the actions in the caller's audit log with their actors, newest first.
func (c *caller) logged() string {
	c.Helper()
	var log struct {
		Data []struct {
			Action string
			Actor  struct{ ID *string }
			Target struct{ ID string }
		}
	}
	c.do("GET", "/api/v1/audit-log", nil).want(c, 200, "").into(c, &log)
	var all []string
	for _, a := range log.Data {
		who := "nobody"
		if a.Actor.ID != nil {
			who = *a.Actor.ID
		}
		all = append(all, a.Action+" "+a.Target.ID+" by "+who)
	}
	return strings.Join(all, "\n")
}

func TestAnAgencyKeepsClients(t *testing.T) {
	t.Parallel()
	s := start(t, unlimited)
	ada := s.signup().subscribe("agency_growth")
	shop := ada.client(`{"name":"Shop","features":{"contacts":2,"sequences":false}}`)
	if shop.Status != "active" {
		t.Errorf("made: status %s, want active", shop.Status)
	}
	if shop.Features["contacts"] != 2.0 || shop.Features["sequences"] != false {
		t.Errorf("made: contacts %v, sequences %v; want 2, false", shop.Features["contacts"],
			shop.Features["sequences"])
	}
	for range 2 { // the second response is the stored one
		again := ada.do("POST", clientsPath,
			`{"name":"Twice","features":{"contacts":2,"sequences":false,"support":"none","members":null}}`,
			"Idempotency-Key", "twice").want(t, 201, "")
		if !strings.Contains(string(again.Body),
			`"features":{"contacts":2,"members":null,"sequences":false,"support":"none"}`) {
			t.Errorf("made with a key: %s", again.Body)
		}
	}
	at := clientsPath + "/" + shop.ID
	got := ada.do("GET", at, nil).want(t, 200, "")
	shop = clientBody{}
	ada.do("PATCH", at, `{"name":"Shop Ltd","features":{"sequences":null,"members":3}}`, "If-Match",
		got.Header.Get("ETag")).want(t, 200, "").into(t, &shop)
	if value, ok := shop.Features["sequences"]; ok {
		t.Errorf("changed: sequences are still allocated: %v", value)
	}
	if shop.Name != "Shop Ltd" || shop.Features["members"] != 3.0 {
		t.Errorf("changed: name %s, members %v; want Shop Ltd, 3", shop.Name, shop.Features["members"])
	}
	ada.do("PATCH", at, `{"name":"Late"}`, "If-Match", got.Header.Get("ETag")).want(t, 412, "precondition_failed")
	for body, field := range map[string]string{
		`{"features":{"gold":1}}`:                    "#/features/gold unknown_feature",
		`{"features":{"client_orgs":1}}`:             "#/features/client_orgs unknown_feature",
		`{"features":{"contacts":"many"}}`:           "#/features/contacts invalid_value",
		`{"features":{"api_requests_per_minute":0}}`: "#/features/api_requests_per_minute invalid_value",

		`{"name":""}`:         "#/name required",
		`{"name":null}`:       "#/name not_nullable",
		`{"status":"paused"}`: "#/status read_only",
	} {
		if f := ada.do("PATCH", at, body).want(t, 422, "").field(); f != field {
			t.Errorf("%s: %s, want %s", body, f, field)
		}
	}
	staff := ada.enter(shop.ID, `{}`)
	r := staff.rights()
	if r.Plan != "client" {
		t.Errorf("the client's plan is %s, want client", r.Plan)
	}
	if f := r.Features["contacts"]; f.Value != 2.0 || f.Source != "allocation" {
		t.Errorf("the client's contacts: %v from %s, want 2 from allocation", f.Value, f.Source)
	}
	if f := r.Features["social_accounts"]; f.Value != 100.0 || f.Source != "agency" {
		t.Errorf("what the agency has: %+v", f)
	}
	staff.contact("a@shop.example")
	staff.contact("b@shop.example")
	full := staff.do("POST", contactsPath, `{"email":"c@shop.example","first_name":"C","last_name":"C"}`).
		want(t, 402, "plan_limit_reached")
	var p struct {
		Limit, Used int
		UpgradeTo   *string `json:"upgrade_to"`
	}
	full.into(t, &p)
	want := p
	want.Limit, want.Used, want.UpgradeTo = 2, 2, nil
	if diff := cmp.Diff(want, p); diff != "" {
		t.Errorf("at the allocation (-want +got):\n%s", diff)
	}
	staff.do("POST", clientsPath, `{"name":"Of a client"}`).want(t, 402, "plan_limit_reached")

	// The agency sees its client's name and nothing else without the staff token.
	if n := s.count("contact WHERE org_id = $1", staff.Org); n != 2 {
		t.Fatalf("%d contacts", n)
	}
	if body := string(ada.do("GET", contactsPath, nil).want(t, 200, "").Body); strings.Contains(body, "shop.example") {
		t.Errorf("the agency reads its client's contacts: %s", body)
	}
	var l struct{ Data []clientBody }
	ada.do("GET", clientsPath+"?count=exact", nil).want(t, 200, "").into(t, &l)
	if len(l.Data) != 2 || l.Data[1].Name != "Shop Ltd" {
		t.Errorf("the list: %+v", l)
	}
	staff.do("PATCH", "/api/v1/org", `{"name":"Shop & Sons"}`).want(t, 200, "")
	if ada.do("GET", at, nil).want(t, 200, "").into(t, &shop); shop.Name != "Shop & Sons" {
		t.Errorf("the client's own name did not reach the agency: %+v", shop)
	}
}

func TestAPausedClientIsReadAndNotWritten(t *testing.T) {
	t.Parallel()
	s := start(t, unlimited)
	ada := s.signup().subscribe("agency_growth")
	shop := ada.client(`{"name":"Shop"}`)
	staff := ada.enter(shop.ID, `{}`)
	c := staff.contact("a@shop.example")
	for range 2 {
		ada.do("POST", clientsPath+"/"+shop.ID+"/pause", nil).want(t, 200, "").into(t, &shop)
		if shop.Status != "paused" {
			t.Errorf("paused: %+v", shop)
		}
	}
	staff = ada.enter(shop.ID, `{}`)
	staff.do("GET", contactsPath+"/"+c.ID, nil).want(t, 200, "")
	staff.do("GET", contactsPath+"/"+c.ID+"/data-export", nil).want(t, 200, "")
	staff.do("PATCH", contactsPath+"/"+c.ID, `{"stage":"mql"}`).want(t, 403, "org_paused")
	if used := *ada.rights().Features["client_orgs"].Used; used != 1 {
		t.Errorf("a paused client counts %d", used)
	}
	ada.do("POST", clientsPath+"/"+shop.ID+"/resume", nil).want(t, 200, "")
	// The state is read again before a request is refused, so this works immediately.
	staff.do("PATCH", contactsPath+"/"+c.ID, `{"stage":"mql"}`).want(t, 200, "")
}

func TestStaffActsShortlySeenAndOnlyWhileItIsStaff(t *testing.T) {
	t.Parallel()
	s := start(t, unlimited)
	ada := s.signup().subscribe("agency_growth")
	shop := ada.client(`{"name":"Shop"}`)
	bob := ada.as(auth.Admin)
	ada.as(auth.Member).do("POST", clientsPath+"/"+shop.ID+"/token", nil).want(t, 403, "forbidden")
	ada.key(auth.Owner).do("POST", clientsPath+"/"+shop.ID+"/token", nil).want(t, 403, "forbidden")
	bob.do("POST", clientsPath+"/"+shop.ID+"/token", `{"role":"owner"}`).want(t, 422, "validation_failed")
	viewer, staff := bob.enter(shop.ID, `{"role":"viewer"}`), bob.enter(shop.ID, `{}`)
	viewer.do("POST", contactsPath, `{"email":"a@shop.example","first_name":"A","last_name":"A"}`).
		want(t, 403, "forbidden")
	c := staff.contact("a@shop.example")
	staff.do("DELETE", contactsPath+"/"+c.ID, nil).want(t, 204, "")
	staff.do("POST", "/api/v1/api-keys", `{"name":"backdoor"}`).want(t, 403, "forbidden")
	staff.do("POST", clientsPath+"/"+shop.ID+"/token", nil).want(t, 403, "forbidden")
	var me struct {
		User    struct{ ID string }
		Org     struct{ ID string }
		StaffOf string `json:"staff_of"`
	}
	staff.do("GET", "/api/v1/auth/me", nil).want(t, 200, "").into(t, &me)
	want := me
	want.User.ID, want.Org.ID, want.StaffOf = bob.User.String(), shop.ID, ada.Org.String()
	if diff := cmp.Diff(want, me); diff != "" {
		t.Errorf("staff (-want +got):\n%s", diff)
	}
	log := staff.logged()
	for _, want := range []string{
		"staff.entered", "staff.acted POST " + contactsPath + " by " + bob.User.String(),
		"staff.acted DELETE " + contactsPath + "/{id} by " + bob.User.String(),
		"organization.created " + shop.ID + " by " + ada.User.String(),
	} {
		if !strings.Contains(log, want) {
			t.Errorf("the client's log lacks %q:\n%s", want, log)
		}
	}
	if log := ada.logged(); !strings.Contains(log, "client_org.entered "+shop.ID+" by "+bob.User.String()) ||
		strings.Contains(log, "staff.acted") {
		t.Errorf("the agency's log:\n%s", log)
	}
	// Staff or clients of another agency have no access here.
	eve := s.signup().subscribe("agency_growth")
	eve.do("POST", clientsPath+"/"+shop.ID+"/token", nil).want(t, 404, "not_found")
	// A user who leaves the agency loses access to its clients.
	ada.do("DELETE", "/api/v1/members/"+bob.User.String(), nil).want(t, 204, "")
	s.eventually(func() bool { return staff.do("GET", contactsPath, nil).Status == 401 })
	// A token expires.
	staff = ada.enter(shop.ID, `{}`)
	if _, err := testkit.Pgx(t, s.DB.URL).Exec(t.Context(),
		`UPDATE staff_access SET expires_at = now() WHERE org_id = $1`, staff.Org); err != nil {
		t.Fatal(err)
	}
	s.eventually(func() bool { return staff.do("GET", contactsPath, nil).Status == 401 })
}

func TestADetachedClientIsOnItsOwn(t *testing.T) {
	t.Parallel()
	s := start(t, unlimited)
	ada := s.signup().subscribe("agency_growth")
	shop := ada.client(`{"name":"Shop","owner_email":"Sam@shop.example","features":{"contacts":1}}`)
	staff := ada.enter(shop.ID, `{}`)
	staff.contact("a@shop.example")
	ada.do("POST", clientsPath+"/"+shop.ID+"/detach", nil).want(t, 409, "conflict") // Sam has not joined yet
	if n := s.count("invitation WHERE org_id = $1 AND role = 'owner' AND email = 'Sam@shop.example'",
		staff.Org); n != 1 {
		t.Errorf("%d invitations of the owner", n)
	}
	sam := staff.as(auth.Owner)
	ada.as(auth.Admin).do("POST", clientsPath+"/"+shop.ID+"/detach", nil).want(t, 403, "forbidden")
	ada.do("POST", clientsPath+"/"+shop.ID+"/detach", nil).want(t, 200, "").into(t, &shop)
	if shop.Status != "detached" {
		t.Errorf("detached: %+v", shop)
	}
	ada.do("GET", clientsPath+"/"+shop.ID, nil).want(t, 404, "not_found")
	s.eventually(func() bool { return staff.do("GET", contactsPath, nil).Status == 401 })
	if used := *ada.rights().Features["client_orgs"].Used; used != 0 {
		t.Errorf("a detached client counts %d", used)
	}
	if r := sam.rights(); r.Plan != "trial" || r.Features["contacts"].Value != nil {
		t.Errorf("on its own: %+v", r)
	}
	sam.contact("b@shop.example") // the allocation of one has ended
	if log := sam.logged(); !strings.Contains(log, "organization.detached") {
		t.Errorf("the log:\n%s", log)
	}
}

func TestOfParallelCreationsAtTheLastPlaceOneSucceeds(t *testing.T) {
	t.Parallel()
	s := start(t, unlimited)
	ada := s.signup().subscribe("agency_growth")
	for range 9 {
		ada.client(`{"name":"Shop"}`)
	}
	const n = 200
	var (
		wait   sync.WaitGroup
		status [n]int
		gate   = make(chan struct{})
	)
	for i := range n {
		wait.Go(func() {
			<-gate
			got, err := ada.try("POST", clientsPath, `{"name":"One more"}`)
			if status[i] = got.Status; err != nil {
				t.Error(err)
			}
			if got.Status != 201 && (got.Status != 402 || got.code() != "plan_limit_reached") {
				t.Errorf("%d %s", got.Status, got.Body)
			}
		})
	}
	close(gate)
	wait.Wait()
	made := 0
	for _, one := range status {
		if one == 201 {
			made++
		}
	}
	orgs := s.count("org WHERE parent_org_id = $1", ada.Org)
	if made != 1 || orgs != 10 {
		t.Errorf("%d made, %d orgs; want 1, 10", made, orgs)
	}
	f := ada.rights().Features["client_orgs"]
	want := f
	want.Used, want.Value, want.OverLimit = new(int64(10)), 10.0, false
	if diff := cmp.Diff(want, f); diff != "" {
		t.Errorf("client_orgs (-want +got):\n%s", diff)
	}
}

func TestOverageIsCountedAndADowngradeDeletesNothing(t *testing.T) {
	t.Parallel()
	s := start(t, unlimited)
	ada := s.signup().subscribe("white_label_pro")
	sql := testkit.Pgx(t, s.DB.URL)
	if _, err := sql.Exec(t.Context(), `UPDATE quota SET cap = 1 WHERE org_id = $1 AND feature = 'client_orgs'`,
		ada.Org); err != nil {
		t.Fatal(err)
	}
	for range 3 {
		ada.client(`{"name":"Shop"}`)
	}
	var over int
	if err := sql.QueryRow(t.Context(),
		`SELECT used - cap FROM quota WHERE org_id = $1 AND feature = 'client_orgs' AND overage`, ada.Org).
		Scan(&over); err != nil || over != 2 {
		t.Errorf("overage %d, %v", over, err)
	}
	ada.subscribe("solo_pro")
	f := ada.rights().Features["client_orgs"]
	want := f
	want.Used, want.Value, want.OverLimit = new(int64(3)), 0.0, true
	if diff := cmp.Diff(want, f); diff != "" {
		t.Errorf("after the downgrade (-want +got):\n%s", diff)
	}
	ada.do("POST", clientsPath, `{"name":"Shop"}`).want(t, 402, "plan_limit_reached")
	var l struct{ Data []clientBody }
	if ada.do("GET", clientsPath, nil).want(t, 200, "").into(t, &l); len(l.Data) != 3 {
		t.Errorf("%d clients are left", len(l.Data))
	}
}
