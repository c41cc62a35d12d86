package api_test

import (
	"flag"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/funnelwork/funnelwork/internal/auth"
	"github.com/funnelwork/funnelwork/internal/billing/plans"
	"github.com/funnelwork/funnelwork/internal/sandbox/oauth"
	"github.com/funnelwork/funnelwork/internal/sandbox/stripe"
	"github.com/funnelwork/funnelwork/internal/testkit/consent"
	"github.com/funnelwork/funnelwork/internal/wire"
)

// found maps routes to the addresses of a walk: those without parameters, and one example of each other route.
type found map[string]string

// filled gives c's org at least one of every readable resource.
func (c *caller) filled() found {
	c.Helper()
	must := func(status int, method, path string, body any) answer {
		c.Helper()
		return c.do(method, path, body).want(c, status, "")
	}
	at := func(got answer) string { return got.Header.Get("Location") }
	known := found{}
	ada := at(must(201, "POST", contactsPath,
		`{"email":"ada@example.test","first_name":"Ada","last_name":"Lovelace","tag":"vip","segment":"board",`+
			`"attributes":{"shoe_size":38}}`))
	eve := at(must(201, "POST", contactsPath, `{"email":"eve@example.test","first_name":"Eve","last_name":"Lovelace"}`))
	one := func(path string) string { return path[strings.LastIndex(path, "/")+1:] }
	must(200, "POST", ada+"/merge", map[string]any{"loser_ids": []string{one(eve)}})
	known["/api/v1/crm/merges/{id}"] = mergesPath + "/" + c.first(mergesPath)
	for _, suffix := range []string{"", "/score", "/timeline", "/data-export"} {
		known["/api/v1/crm/contacts/{id}"+suffix] = ada + suffix
	}
	known["/api/v1/events/{id}"] = "/api/v1/events/" + c.first("/api/v1/events")
	contact := one(ada)
	known["/api/v1/crm/fields/{key}"] = "/api/v1/crm/fields/shoe_size"
	known["/api/v1/ai/score-model/versions/{version}"] = "/api/v1/ai/score-model/versions/prior-1"
	for path, body := range map[string]any{
		"/api/v1/crm/companies": `{"name":"Engines"}`,
		"/api/v1/crm/deals": map[string]any{
			"name": "Looms", "contact_id": contact, "amount": 100,
			"currency": "EUR",
		},
		"/api/v1/crm/notes": map[string]any{"body": "A note", "contact_id": contact},
		emailsPath: `{"contact_id":"` + one(ada) + `","mailbox_id":"` + c.sandboxMailbox() +
			`","subject":"Hi","text":"Good day"}`,
		templatesPath:          `{"name":"Welcome","subject":"Hi","text":"Good day"}`,
		sequencesPath:          `{"name":"Welcome"}`,
		"/api/v1/crm/tasks":    map[string]any{"title": "Call", "contact_id": contact},
		"/api/v1/crm/segments": `{"name":"Leads","filter":{"field":"stage","op":"eq","value":"lead"}}`,
		"/api/v1/api-keys":     `{"name":"Till","role":"viewer"}`,
		"/api/v1/members":      `{"email":"guest@example.test","role":"viewer"}`,
		hooksPath:              `{"url":"https://93.184.216.34/hook","events":["*"]}`,
		broadcastsPath:         `{"name":"News"}`,
		boxesPath:              `{"kind":"sandbox","from_email":"hello@sandbox.localhost"}`,
	} {
		known[path+"/{id}"] = at(must(201, "POST", path, body))
	}
	known[broadcastsPath+"/{id}/stats"] = known[broadcastsPath+"/{id}"] + "/stats"
	c.knowSequence(known, contact)
	known[boxesPath+"/{id}/provider"] = known[boxesPath+"/{id}"] + "/provider"
	must(200, "PUT", known[boxesPath+"/{id}/provider"], `{"provider":"mailgun","key":"`+providerKey+`"}`)
	sent := known[emailsPath+"/{id}"]
	c.exec(`UPDATE email SET marked_at = now() WHERE id = $1`, one(sent))
	known[messagesPath+"/{id}"] = messagesPath + "/" + one(sent)
	known[threadsPath+"/{id}"] = threadsPath + "/" + one(sent)
	hook := known[hooksPath+"/{id}"]
	known[hooksPath+"/{id}/deliveries"] = hook + "/deliveries"
	must(202, "POST", hook+"/test", `{"type":"contact.created"}`)
	known["/api/v1/webhook-deliveries/{id}"] = "/api/v1/webhook-deliveries/" + c.first(hook+"/deliveries")
	known[hooksPath+"/{id}/replays/{replay}"] = at(must(202, "POST", hook+"/replay",
		map[string]any{"from": time.Now().Add(-time.Hour), "to": time.Now()}))
	known["/api/v1/crm/contacts/bulk/{id}"] = at(must(202, "POST", bulkPath,
		`{"filter":{"field":"stage","op":"eq","value":"lead"},"action":{"type":"archive"},"dry_run":true}`))
	known["/api/v1/crm/contacts/imports/{id}"] = at(c.send(nil, "file",
		"email,first_name,last_name\nbob@example.test,B,B\nnone,B,B\n").want(c, 202, ""))
	known[suppressionImportsPath+"/{id}"] = at(c.sendTo(suppressionImportsPath, nil, "file",
		"email\nbob@example.test\nnone\n").want(c, 202, ""))
	known["/api/v1/crm/contacts/exports/{id}"] = at(must(202, "POST", exportsPath, `{"format":"csv"}`))
	c.workFiles()
	var made struct {
		URL *string `json:"download_url"`
	}
	must(200, "GET", known["/api/v1/crm/contacts/exports/{id}"], nil).into(c, &made)
	known["/api/v1/files/{token}"] = strings.TrimPrefix(*made.URL, c.Deps.PublicURL)
	must(200, "POST", "/api/v1/ai/classify-reply", `{"text":"Please call me."}`)
	known["/api/v1/social/accounts/{id}"] = "/api/v1/social/accounts/" + c.login("social", "x", "Ada Lovelace")[0].ID
	known["/api/v1/ads/accounts/{id}"] = "/api/v1/ads/accounts/" + c.login("ads", "meta_ads", "Ada Lovelace")[0].ID
	known["/api/v1/social/pending/{id}"] = "/api/v1/social/pending/" +
		c.offered("social", "linkedin", "Ada Lovelace").ID
	known["/api/v1/crm/pipelines/{id}"] = "/api/v1/crm/pipelines/" + c.first("/api/v1/crm/pipelines")
	known["/api/v1/crm/pipelines/{id}/board"] = known["/api/v1/crm/pipelines/{id}"] + "/board"
	known["/api/v1/jobs/{id}"] = "/api/v1/jobs/" + c.first("/api/v1/jobs")
	var tracked struct{ HTML string }
	must(201, "POST", emailsPath, `{"contact_id":"`+contact+`","mailbox_id":"`+c.sandboxMailbox()+`","subject":"Hi",`+
		`"html":"<a href='https://shop.example/'>Shop</a>","tracking":{"opens":true,"clicks":true}}`).into(c, &tracked)
	known["/t/o/{token}"] = c.addressIn(tracked.HTML, "/t/o/")
	known["/t/c/{token}"] = c.addressIn(tracked.HTML, "/t/c/")
	known["/t/u/{token}"], known["/t/s/{token}"] = "/t/u/preview", "/t/s/preview"
	known["/t/p/{token}"] = "/t/p/preview"
	known["/api/v1/search"] = "/api/v1/search?q=ada"
	for _, family := range []string{"facebook", "instagram"} {
		_, secret := oauth.Client(family)
		signed := consent.SignedRequest(secret, "nobody of the walk", time.Now())
		var erasure struct {
			Code string `json:"confirmation_code"`
		}
		c.noticed("/oauth/"+family+"/data-deletion", signed).want(c, 200, "").into(c, &erasure)
		known["/oauth/"+family+"/data-deletion/{code}"] = "/oauth/" + family + "/data-deletion/" + erasure.Code
	}
	return known
}

// first returns the id of a list's first row.
func (c *caller) first(path string) string {
	c.Helper()
	var list struct{ Data []struct{ ID string } }
	c.do("GET", path, nil).want(c, 200, "").into(c, &list)
	if len(list.Data) == 0 {
		c.Fatalf("%s lists nothing", path)
	}
	return list.Data[0].ID
}

// elsewhere lists the routes with parameters that other tests cover: they redirect a browser, or show a brand's logo.
var elsewhere = []string{"/oauth/{platform}/callback", "/white-label/brand/logo/{digest}"}

// walk reads every address in known as each caller, and sends every resource an empty patch, which changes nothing. The
// harness validates each response against the document.
func (s *service) walk(t *testing.T, state string, known found, callers map[string]*caller) {
	t.Helper()
	for _, role := range slices.Sorted(maps.Keys(callers)) {
		c := callers[role]
		for _, r := range s.App.Routes() {
			path, ok := known[r.Path], true
			if path == "" {
				path, ok = r.Path, !strings.Contains(r.Path, "{")
			}
			switch {
			case !ok && r.Method == "GET" && !slices.Contains(elsewhere, r.Path) &&
				!strings.HasPrefix(r.Path, clientsPath) && !strings.HasPrefix(r.Path, "/billing/changes"):
				t.Errorf("the walk knows no %s", r.Path)
			case ok && r.Method == "GET":
				got := c.do("GET", path, nil)
				if got.Status >= 500 || role == "owner" && got.Status >= 400 && !absent[r.Path] {
					t.Errorf("%s, %s: GET %s: %d %s", state, role, path, got.Status, got.Body)
				}
			case ok && r.Method == "PATCH":
				if got := c.do("PATCH", path, `{}`); got.Status >= 500 {
					t.Errorf("%s, %s: PATCH %s: %d %s", state, role, path, got.Status, got.Body)
				}
			}
		}
	}
}

// everyRole makes the walk take every role through every state, as .ci/full does.
var everyRole = flag.Bool("every-role", false, "read all as every role in every state of an org")

// absent lists the routes without parameters that may have nothing to read: no logo, no domain, no browser state.
var absent = map[string]bool{
	"/white-label/logo": true, "/white-label/domain": true, "/white-label/brand": true,
	"/white-label/connect/return": true, "/white-label/connect/refresh": true,
}

// everybody returns one caller of each role.
func (c *caller) everybody() map[string]*caller {
	return map[string]*caller{
		"owner": c, "admin": c.as(auth.Admin), "member": c.as(auth.Member), "viewer": c.as(auth.Viewer),
		"key": c.key(auth.Admin), "stranger": c.stranger(),
	}
}

// becomes waits until the process sees the org's status.
func (c *caller) becomes(status plans.Status) {
	c.Helper()
	c.settle()
	c.eventually(func() bool { return c.rights().Status == string(status) })
}

// TestEveryAnswerIsWhatTheDocumentPromisesInEveryStateOfAnOrg reads all of an org's resources in each state of a
// subscription.
func TestEveryAnswerIsWhatTheDocumentPromisesInEveryStateOfAnOrg(t *testing.T) {
	t.Parallel()
	s := start(t, unlimited)
	c := s.signup()
	known, callers := c.filled(), c.everybody()
	in := func(d time.Duration) *wire.Time {
		at := wire.At(time.Now().Add(d))
		return &at
	}
	paid := func(plan, interval string, status plans.Status) plans.State {
		return plans.State{
			Plan: plan, Interval: interval, Status: status, Quantity: 1, PeriodStart: in(-time.Hour),
			PeriodEnd: in(30 * 24 * time.Hour), Customer: "cus_1", Subscription: "sub_1", Item: "si_1",
		}
	}
	ending := paid("solo_pro", "month", plans.Active)
	ending.CancelAtPeriodEnd = true
	s.walk(t, "a trial without end", known, callers)
	others := slices.DeleteFunc(slices.Sorted(maps.Keys(callers)), func(role string) bool { return role == "owner" })
	for n, at := range []struct {
		name  string
		state plans.State
		is    plans.Status
	}{
		{
			"a trial",
			plans.State{Plan: "trial", Status: plans.Trialing, Quantity: 1, TrialEnds: in(time.Hour)},
			plans.Trialing,
		},
		{
			"a trial that has ended",
			plans.State{Plan: "trial", Status: plans.Trialing, Quantity: 1, TrialEnds: in(-time.Hour)},
			plans.TrialEnded,
		},
		{"solo_smb", paid("solo_pro", "month", plans.Active), plans.Active},
		{"agency", paid("agency_growth", "year", plans.Active), plans.Active},
		{"white_label", paid("white_label_pro", "month", plans.Active), plans.Active},
		{"a cancellation", ending, plans.Active},
		{"grace", paid("solo_pro", "month", plans.PastDue), plans.PastDue},
		{"the free set after grace", paid("solo_pro", "month", plans.PastDue), plans.Unpaid},
		{"unpaid", paid("solo_pro", "month", plans.Unpaid), plans.Unpaid},
		{"incomplete", paid("solo_pro", "month", plans.Incomplete), plans.Incomplete},
		{"canceled", paid("solo_pro", "month", plans.Canceled), plans.Canceled},
		{"a paused subscription", paid("solo_pro", "month", plans.Paused), plans.Paused},
	} {
		c.state(at.state)
		if at.is == plans.Unpaid && at.state.Status == plans.PastDue {
			s.exec("UPDATE subscription SET past_due_since = now() - interval '60 days' WHERE org_id = $1", c.Org)
		}
		c.becomes(at.is)
		// What a role may do does not depend on the state: the other roles take turns.
		some := callers
		if !*everyRole {
			other := others[n%len(others)]
			some = map[string]*caller{"owner": c, other: callers[other]}
		}
		s.walk(t, at.name, known, some)
	}
}

// TestEveryAnswerOfAClientOrgIsWhatTheDocumentPromises reads all resources of a client org and its agency while the
// client is active, paused and detached.
func TestEveryAnswerOfAClientOrgIsWhatTheDocumentPromises(t *testing.T) {
	t.Parallel()
	s := start(t, unlimited)
	agency := s.signup().subscribe("agency_growth")
	shop := agency.client(`{"name":"Shop"}`)
	staff := agency.enter(shop.ID, `{}`)
	boss := staff.as(auth.Owner)
	known, callers := boss.filled(), boss.everybody()
	callers["staff"] = staff
	at := clientsPath + "/" + shop.ID
	for _, state := range []string{"", "/pause", "/resume", "/detach"} {
		if state != "" {
			agency.do("POST", at+state, nil).want(t, 200, "")
		}
		s.walk(t, "a client org after "+state, known, callers)
		for role, c := range map[string]*caller{"owner": agency, "viewer": agency.as(auth.Viewer)} {
			for _, path := range []string{
				clientsPath, at, clientsPath + "?count=exact", "/billing/my-entitlements",
				"/billing/subscription",
			} {
				if got := c.do("GET", path, nil); got.Status != 200 && path != at {
					t.Errorf("the agency's %s after %s: GET %s: %d %s", role, state, path, got.Status, got.Body)
				}
			}
		}
	}
}

// TestEveryAnswerAboutChangesOfPlanIsWhatTheDocumentPromises creates and reads each kind of change.
func TestEveryAnswerAboutChangesOfPlanIsWhatTheDocumentPromises(t *testing.T) {
	t.Parallel()
	s := published(t)
	for _, archetype := range [][2]string{
		{"solo_starter", "solo_pro"},
		{"agency_growth", "agency_scale"},
		{"solo_pro", "white_label_pro"},
	} {
		c := s.signup()
		c.do("POST", "/billing/change-plan/preview", plan(archetype[0], "month")).want(t, 200, "")
		for _, step := range []struct {
			path string
			body any
		}{
			{"/billing/change-plan", plan(archetype[0], "month")},
			{"/billing/change-plan", plan(archetype[0], "month")}, // unchanged
			{"/billing/change-plan", plan(archetype[1], "month")},
			{"/billing/change-plan", plan(archetype[0], "month")}, // scheduled
			{"/billing/change-plan", plan(archetype[1], "year")},
			{"/billing/cancel", nil},
			{"/billing/resume", nil},
			{"/billing/portal", nil},
		} {
			got := c.do("POST", step.path, step.body).want(t, 200, "")
			var change struct{ ID *string }
			got.into(t, &change)
			paths := []string{
				"/billing/subscription", "/billing/my-entitlements", "/white-label/connect",
				"/white-label/connect/fees",
			}
			if change.ID != nil {
				paths = append(paths, "/billing/changes/"+*change.ID)
			}
			for _, path := range paths {
				if got := c.do("GET", path, nil); got.Status != 200 {
					t.Errorf("%v after %s: GET %s: %d %s", archetype, step.path, path, got.Status, got.Body)
				}
			}
		}
	}
	c := s.signup()
	c.do("POST", "/billing/change-plan", plan("solo_starter", "month")).want(t, 200, "")
	for _, conduct := range []stripe.Conduct{stripe.ThreeDS, stripe.Decline} {
		if err := s.Stripe.SetCard(t.Context(), c.stripeCustomer(), conduct); err != nil {
			t.Fatal(err)
		}
		got := c.do("POST", "/billing/change-plan", plan("solo_pro", "month"))
		for _, path := range []string{"/billing/subscription", "/billing/my-entitlements"} {
			c.do("GET", path, nil).want(t, 200, "")
		}
		if got.Status != 202 && got.Status != 402 && got.Status != 409 {
			t.Errorf("a card that says %s: %d %s", conduct, got.Status, got.Body)
		}
	}
}
