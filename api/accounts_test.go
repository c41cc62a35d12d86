package api_test

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"flag"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"

	"github.com/funnelwork/funnelwork/api"
	"github.com/funnelwork/funnelwork/internal/auth"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/queue"
	"github.com/funnelwork/funnelwork/internal/queue/store"
	"github.com/funnelwork/funnelwork/internal/sandbox/oauth"
	"github.com/funnelwork/funnelwork/internal/social"
	"github.com/funnelwork/funnelwork/internal/social/provider"
	"github.com/funnelwork/funnelwork/internal/testkit"
	"github.com/funnelwork/funnelwork/internal/testkit/consent"
	"github.com/funnelwork/funnelwork/jobs/accountnotify"
	"github.com/funnelwork/funnelwork/jobs/tokenrevoke"
)

var capRaces = flag.Int("cap-races", 6, "orgs in which 20 connections race for 5 places")

// rows returns an org's rows of a table as text, by id.
func (s *service) rows(table string, org id.ID) map[string]string {
	s.Helper()
	rows, err := testkit.Pgx(s, s.DB.URL).Query(s.Context(),
		fmt.Sprintf("SELECT id::text, x::text FROM %s x WHERE org_id = $1", table), org)
	if err != nil {
		s.Fatal(err)
	}
	found := map[string]string{}
	var key, row string
	if _, err := pgx.ForEachRow(rows, []any{&key, &row}, func() error {
		found[key] = row
		return nil
	}); err != nil {
		s.Fatal(err)
	}
	return found
}

// work runs the due jobs of a handler's kind and returns their number.
func (s *service) work(h queue.Handler) (n int) {
	s.Helper()
	rows, err := testkit.Pgx(s, s.DB.URL).Query(s.Context(),
		`UPDATE job SET wake_at = now(), owner = NULL WHERE kind = $1 AND state = 'ready' AND run_at <= now()
			RETURNING org_id, id`, h.Kind)
	if err != nil {
		s.Fatal(err)
	}
	due, err := pgx.CollectRows(rows, pgx.RowToStructByPos[struct{ Org, Job id.ID }])
	if err != nil {
		s.Fatal(err)
	}
	ledger := store.New(s.DB.App, s.DB.System)
	for _, d := range due {
		run, err := ledger.Claim(s.Context(), d.Org, d.Job)
		if err != nil {
			s.Fatal(err)
		}
		if h.Tx != nil {
			if err := s.DB.App.Tx(s.Context(), d.Org, func(tx *postgres.Tx) error {
				return h.Tx(s.Context(), tx, run)
			}); err != nil {
				s.Fatal(err)
			}
		} else if err := h.Call(s.Context(), run); err != nil {
			s.Fatalf("%s: %v", h.Kind, err)
		}
		if err := ledger.Finish(s.Context(), run, store.Completion{Outcome: store.Done}); err != nil {
			s.Fatal(err)
		}
	}
	return len(due)
}

func (s *service) revocation() queue.Handler {
	return tokenrevoke.Kind.Handle(tokenrevoke.Job{
		App: s.DB.App, System: s.DB.System, Social: s.Deps.Social,
		Log: s.Deps.Log,
	}.Work)
}

// alive returns the number of a person's logins that the platforms still hold.
func (s *service) alive(person string) (n int) {
	s.Helper()
	all, err := s.OAuth.Grants(s.Context(), 0)
	if err != nil {
		s.Fatal(err)
	}
	for _, g := range all {
		if g.Person == person && g.Alive {
			n++
		}
	}
	return n
}

func TestConnectingAnotherAccountLeavesTheOthersByteForByte(t *testing.T) {
	t.Parallel()
	s := start(t, unlimited)
	c, other := s.signup(), s.signup()
	for _, p := range platforms { // on every platform
		c.login(p.area, p.name, "Ada Lovelace")
		other.login(p.area, p.name, "Ada Lovelace")
	}
	theirs := s.rows("social_account", other.Org)
	for _, p := range platforms {
		accounts, grants := s.rows("social_account", c.Org), s.rows("social_grant", c.Org)
		fresh := c.login(p.area, p.name, "Grace Hopper")
		after, grantsAfter := s.rows("social_account", c.Org), s.rows("social_grant", c.Org)
		if len(after) != len(accounts)+len(fresh) || len(grantsAfter) != len(grants)+1 {
			t.Errorf("%s: %d accounts and %d grants came to %d and %d", p.name, len(fresh), 1,
				len(after)-len(accounts), len(grantsAfter)-len(grants))
		}
		for key, row := range accounts {
			if after[key] != row {
				t.Errorf("%s changed an account:\n%s\n%s", p.name, row, after[key])
			}
		}
		for key, row := range grants {
			if grantsAfter[key] != row {
				t.Errorf("%s changed a grant:\n%s\n%s", p.name, row, grantsAfter[key])
			}
		}
	}
	// Connecting another account of the same login keeps the first one's row.
	k := s.signup()
	o := k.offered("social", "facebook", "Alan Turing")
	k.choose(o.ID, o.Accounts[0].External)
	before := s.rows("social_account", k.Org)
	o = k.offered("social", "facebook", "Alan Turing")
	if !o.Accounts[0].Connected || o.Accounts[1].Connected {
		t.Errorf("offers %+v", o.Accounts)
	}
	k.choose(o.ID, o.Accounts[1].External)
	after := s.rows("social_account", k.Org)
	for key, row := range before {
		if after[key] != row || len(after) != 2 {
			t.Errorf("the page beside it changed:\n%s\n%s", row, after[key])
		}
	}
	if now := s.rows("social_account", other.Org); fmt.Sprint(now) != fmt.Sprint(theirs) {
		t.Error("another org's accounts changed")
	}
	s.noSharedRows()
}

// noSharedRows checks that one external account in two orgs is two rows with two grants.
func (s *service) noSharedRows() {
	s.Helper()
	if n := s.count("social_account a JOIN social_account b ON a.external_account_id = b.external_account_id AND " +
		"a.platform = b.platform AND a.org_id <> b.org_id WHERE a.grant_id = b.grant_id"); n != 0 {
		s.Errorf("%d accounts of two orgs hang on one grant", n)
	}
}

func TestALoginForTheWrongAccountChangesNothing(t *testing.T) {
	t.Parallel()
	s := start(t, unlimited)
	c := s.signup()
	mine := c.login("social", "x", "Ada Lovelace")[0]
	before := fmt.Sprint(s.rows("social_account", c.Org), s.rows("social_grant", c.Org))
	again := map[string]any{"account_id": mine.ID, "redirect_url": home["redirect_url"]}
	for _, console := range []bool{true, false} {
		b := c.browser(console)
		q := end(t, b.open(b.consent(b.connect("social", "x", again), consent.Choice{Person: "Grace Hopper"})))
		if q.Get("status") != "failed" || q.Get("code") != "wrong_account" {
			t.Errorf("console %v: status %q, code %q; want failed, wrong_account", console, q.Get("status"),
				q.Get("code"))
		}
		if q.Has("pending_id") {
			t.Errorf("console %v: the login is pending: %v", console, q)
		}
		b.open(b.consent(b.connect("social", "x", map[string]any{"account_id": mine.ID}),
			consent.Choice{Person: "Grace Hopper"})).want(t, 409, "wrong_account")
	}
	if after := fmt.Sprint(s.rows("social_account", c.Org), s.rows("social_grant", c.Org)); after != before {
		t.Errorf("rows changed:\n%s\n%s", before, after)
	}
	type logins struct{ Revocations, Wrong, Right, Pending int }
	if diff := cmp.Diff(logins{Revocations: 4, Right: 1}, logins{
		s.work(s.revocation()), s.alive("Grace Hopper"), s.alive("Ada Lovelace"), s.count("social_pending"),
	}); diff != "" {
		t.Errorf("logins (-want +got):\n%s", diff)
	}
	// For the right person with several accounts, only the account to reconnect is connected.
	k := s.signup()
	pages := k.login("social", "facebook", "Ada Lovelace")
	b := k.browser(false)
	q := end(t,
		b.open(b.consent(b.connect("social", "facebook",
			map[string]any{"account_id": pages[0].ID, "redirect_url": home["redirect_url"]}),
			consent.Choice{Person: "Ada Lovelace"})))
	k.pick(q.Get("pending_id"), pages[1].External).want(t, 409, "wrong_account")
	k.choose(q.Get("pending_id"), pages[0].External)
	b = k.browser(true)
	q = end(t,
		b.open(b.consent(b.connect("social", "facebook",
			map[string]any{"account_id": pages[2].ID, "redirect_url": home["redirect_url"]}),
			consent.Choice{Person: "Ada Lovelace"})))
	if q.Get("status") != "connected" || q.Get("account_id") != pages[2].ID {
		t.Errorf("the console's own: %v", q)
	}
	if got := s.announced(k.Org); got["social_account.connected"] != 3 {
		t.Errorf("events %v: connecting anew what is well is none", got)
	}
}

func TestADisconnectedAccountKeepsNoTokenAndItsProviderIsTold(t *testing.T) {
	t.Parallel()
	s := start(t, unlimited)
	c := s.signup()
	pages := c.login("social", "facebook", "Ada Lovelace")
	path := "/api/v1/social/accounts/"
	tag := c.do("GET", path+pages[0].ID, nil).Header.Get("ETag")
	c.as(auth.Member).do("DELETE", path+pages[0].ID, nil).want(t, 403, "forbidden")
	c.do("DELETE", path+pages[0].ID, nil, "If-Match", `"9.9"`).want(t, 412, "precondition_failed")
	c.do("DELETE", path+pages[0].ID, nil, "If-Match", tag).want(t, 204, "")
	c.do("DELETE", path+pages[0].ID, nil).want(t, 204, "")
	c.do("GET", path+pages[0].ID, nil).want(t, 404, "not_found")
	var gone account
	c.do("GET", path+pages[0].ID+"?include_archived=true", nil).want(t, 200, "").into(t, &gone)
	if gone.Status != "revoked" || gone.Expires != nil {
		t.Errorf("the account: status %s, token_expires_at %v; want revoked, none", gone.Status, gone.Expires)
	}
	if n := len(c.accounts("social", "")); n != 2 {
		t.Errorf("%d accounts are listed, want 2", n)
	}
	if n := len(c.accounts("social", "?archived=true&status=revoked")); n != 1 {
		t.Errorf("%d archived accounts are listed, want 1", n)
	}
	tokens := func() int {
		return s.count("social_grant WHERE org_id = $1 AND (sealed_access IS NOT NULL OR sealed_refresh IS NOT NULL)",
			c.Org) +
			s.count("social_account WHERE org_id = $1 AND disconnected_at IS NOT NULL AND sealed_token IS NOT NULL",
				c.Org)
	}
	type logins struct{ Tokens, Revocations, Live, Pending int }
	if diff := cmp.Diff(logins{Tokens: 1, Live: 1}, logins{
		Tokens: tokens(), Revocations: s.work(s.revocation()), Live: s.alive("Ada Lovelace"),
	}); diff != "" {
		t.Errorf("while accounts use the login (-want +got):\n%s", diff)
	}
	c.do("DELETE", path+pages[1].ID, nil).want(t, 204, "")
	c.do("DELETE", path+pages[2].ID, nil).want(t, 204, "")
	if tokens() != 0 {
		t.Errorf("%d rows still hold tokens", tokens())
	}
	if diff := cmp.Diff(logins{Revocations: 1}, logins{
		Revocations: s.work(s.revocation()), Live: s.alive("Ada Lovelace"), Pending: s.count("social_pending"),
	}); diff != "" {
		t.Errorf("after the last account (-want +got):\n%s", diff)
	}
	if got := s.announced(c.Org); got["social_account.disconnected"] != 3 {
		t.Errorf("events %v", got)
	}
	// Reconnecting keeps the account's id.
	back := c.login("social", "facebook", "Ada Lovelace")
	for i := range back {
		if back[i].ID != pages[i].ID || back[i].Status != "active" {
			t.Errorf("%+v came back as %+v", pages[i], back[i])
		}
	}
	if got := s.announced(c.Org); got["social_account.connected"] != 6 {
		t.Errorf("events %v", got)
	}
	// Another org uses the same person's consent, so it is not revoked there.
	other := s.signup()
	theirs := other.login("social", "facebook", "Ada Lovelace")
	for _, a := range theirs {
		other.do("DELETE", path+a.ID, nil).want(t, 204, "")
	}
	if n := s.work(s.revocation()); n != 1 {
		t.Errorf("%d revocations ran, want 1", n)
	}
	if s.alive("Ada Lovelace") == 0 {
		t.Error("the revocation ended the other org's login")
	}
	if n := s.count("social_pending"); n != 0 {
		t.Errorf("%d logins are pending, want 0", n)
	}
}

func TestALoginThatNobodyChoosesFromIsEnded(t *testing.T) {
	t.Parallel()
	s := start(t, unlimited)
	c := s.signup()
	c.offered("social", "x", "Ada Lovelace")
	if n := s.work(s.revocation()); n != 0 || s.alive("Ada Lovelace") != 1 {
		t.Errorf("%d jobs were due at once", n)
	}
	s.exec(`UPDATE social_pending SET expires_at = now() - interval '1 second'`)
	s.exec(`UPDATE job SET run_at = now() WHERE kind = 'token.revoke'`)
	type logins struct{ Revocations, Live, Pending int }
	if diff := cmp.Diff(logins{Revocations: 1}, logins{
		s.work(s.revocation()), s.alive("Ada Lovelace"), s.count("social_pending"),
	}); diff != "" {
		t.Errorf("logins (-want +got):\n%s", diff)
	}
	if s.count("audit_log WHERE action = 'social_grant.ended' AND detail->>'outcome' = 'revoked'") != 1 {
		t.Error("the log does not tell")
	}
}

// ready creates n pending logins of c, each of a different person.
func (c *caller) ready(n int) (pending []id.ID, externals []string) {
	c.Helper()
	taken := &social.Taken{
		Org: c.Org, Platform: "x", Kind: provider.Social,
		Actor: social.Actor{Type: "user", ID: c.User},
	}
	ends := time.Now().Add(time.Hour)
	err := c.DB.App.Tx(c.Context(), c.Org, func(tx *postgres.Tx) error {
		for i := range n {
			token := provider.Token{
				Access:  provider.Secret(fmt.Sprint("access ", i)),
				Refresh: provider.Secret(fmt.Sprint("refresh ", i)), IssuedAt: time.Now(), ExpiresAt: &ends,
			}
			p, err := c.Deps.Social.Keep(c.Context(), tx, taken, token)
			if err != nil {
				return err
			}
			external := fmt.Sprint(1000 + i)
			reached := &social.Reached{
				Login:    provider.Login{Subject: external},
				Accounts: []provider.Account{{ExternalID: external, DisplayName: "Somebody"}},
			}
			if err := c.Deps.Social.Offer(c.Context(), tx, p, reached); err != nil {
				return err
			}
			pending, externals = append(pending, p.ID), append(externals, external)
		}
		return nil
	})
	if err != nil {
		c.Fatal(err)
	}
	return pending, externals
}

func TestTheCapOfAccountsIsExactHoweverManyRace(t *testing.T) {
	t.Parallel()
	// Each database check keeps a session until its test ends, so the races run in groups of ten.
	for left := *capRaces; left > 0; left -= 10 {
		t.Run("at most ten", func(t *testing.T) { raceForAccounts(t, min(left, 10)) })
	}
}

func raceForAccounts(t *testing.T, races int) {
	t.Helper()
	s := start(t, unlimited)
	for range races {
		c := s.signup().subscribe("solo_starter")
		c.allow(map[string]int{"social_accounts": 5})
		pending, externals := c.ready(20)
		statuses := make([]int, len(pending))
		var wg sync.WaitGroup
		for i := range pending {
			wg.Go(func() { statuses[i] = c.pick(pending[i].String(), externals[i]).Status })
		}
		wg.Wait()
		in, full := 0, 0
		for _, status := range statuses {
			switch status {
			case 200:
				in++
			case 402:
				full++
			}
		}
		if in != 5 || full != 15 {
			t.Fatalf("%d connected, %d refused of %v; want 5, 15", in, full, statuses)
		}
		if n := s.count("social_account WHERE org_id = $1 AND disconnected_at IS NULL", c.Org); n != 5 {
			t.Fatalf("%d connected accounts, want 5", n)
		}
		// Broken accounts count against the limit and can be reconnected at the limit.
		s.exec(`UPDATE social_account SET status = 'reauth_required' WHERE org_id = $1`, c.Org)
		s.exec(`UPDATE social_grant SET status = 'reauth_required' WHERE org_id = $1`, c.Org)
		pending, externals = c.ready(20)
		for i := range pending {
			wg.Go(func() { statuses[i] = c.pick(pending[i].String(), externals[i]).Status })
		}
		wg.Wait()
		again := 0
		for _, status := range statuses {
			if status == 200 {
				again++
			}
		}
		if again != 5 {
			t.Errorf("%d of 5 were connected again at the cap: %v", again, statuses)
		}
		if n := s.count("social_account WHERE org_id = $1 AND status = 'active'", c.Org); n != 5 {
			t.Errorf("%d active accounts, want 5", n)
		}
		if n := s.count("social_account WHERE org_id = $1", c.Org); n != 5 {
			t.Errorf("%d accounts, want 5", n)
		}
	}
}

func TestMoreThanFitsIsRefusedWholeAndSaysHowManyFit(t *testing.T) {
	t.Parallel()
	s := start(t, unlimited)
	c := s.signup().subscribe("solo_starter")
	c.allow(map[string]int{"social_accounts": 4})
	if err := s.OAuth.Set(t.Context(), "facebook", oauth.Knobs{Accounts: 5}); err != nil {
		t.Fatal(err)
	}
	c.login("social", "x", "Ada Lovelace")
	o := c.offered("social", "facebook", "Ada Lovelace")
	got := c.pick(o.ID, o.externals()...)
	var p struct {
		Detail                   string
		Limit, Used, Fit, Chosen int
	}
	got.want(t, 402, "plan_limit_reached").into(t, &p)
	want := p
	want.Limit, want.Used, want.Fit, want.Chosen = 4, 1, 3, 5
	if diff := cmp.Diff(want, p); diff != "" {
		t.Errorf("the refusal (-want +got):\n%s", diff)
	}
	if !strings.Contains(p.Detail, "3 of 5 fit") {
		t.Errorf("the detail %q does not contain %q", p.Detail, "3 of 5 fit")
	}
	if n := len(c.accounts("social", "?platform=facebook")); n != 0 {
		t.Errorf("%d were connected all the same", n)
	}
	c.choose(o.ID, o.externals()[:3]...)
	if n := s.count("job WHERE org_id = $1 AND kind = 'quota.announce' AND args->>'kind' = 'social_accounts'",
		c.Org); n != 1 && n != 2 {
		t.Errorf("%d crossings were announced", n)
	}
	// At the limit, the console's own callback keeps the login pending and reports it.
	b := c.browser(true)
	q := end(t, b.open(b.consent(b.connect("social", "pinterest", home), consent.Choice{})))
	if q.Get("status") != "failed" || q.Get("code") != "plan_limit_reached" {
		t.Errorf("status %q, code %q; want failed, plan_limit_reached", q.Get("status"), q.Get("code"))
	}
	if q.Get("pending_id") == "" {
		t.Errorf("the login is not pending: %v", q)
	}
	c.allow(map[string]int{"social_accounts": 5})
	c.choose(q.Get("pending_id"), c.pending(q.Get("pending_id")).externals()...)
}

func TestADeadGrantIsSeenToldOfAndMendedByALogin(t *testing.T) {
	t.Parallel()
	s := start(t, unlimited)
	c := s.signup()
	c.as(auth.Admin)
	c.as(auth.Member)
	pages := c.login("social", "linkedin_page", "Ada Lovelace")
	died := func(version int64, reason string) (was bool) {
		t.Helper()
		err := s.DB.App.Tx(t.Context(), c.Org, func(tx *postgres.Tx) (err error) {
			var grant id.ID
			if err := tx.QueryRow(t.Context(), `SELECT id FROM social_grant WHERE org_id = $1`, []any{c.Org},
				&grant); err != nil {
				return err
			}
			was, err = s.Deps.Social.Died(t.Context(), tx, grant, version, reason)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		return was
	}
	version := func() (v int64) {
		t.Helper()
		if err := testkit.Pgx(t, s.DB.URL).QueryRow(t.Context(), `SELECT version FROM social_grant WHERE org_id = $1`,
			c.Org).Scan(&v); err != nil {
			t.Fatal(err)
		}
		return v
	}
	tag := c.do("GET", "/api/v1/social/accounts/"+pages[0].ID, nil).Header.Get("ETag")
	if died(version()+1, "invalid_grant") {
		t.Error("a stale version killed a grant")
	}
	v := version()
	if !died(v, "invalid_grant") {
		t.Error("the current version does not kill the grant")
	}
	if died(v, "invalid_grant") {
		t.Error("a grant dies again at the same version")
	}
	if died(version(), "invalid_grant") {
		t.Error("a grant dies again at its newest version")
	}
	if n := len(c.accounts("social", "?status=reauth_required")); n != 3 {
		t.Errorf("%d accounts are shown as broken", n)
	}
	if got := c.do("GET", "/api/v1/social/accounts/"+pages[0].ID, nil, "If-None-Match", tag); got.Status != 200 ||
		strings.Split(got.Header.Get("ETag"), ".")[0] != strings.Split(tag, ".")[0] {
		t.Errorf("background work moves the second part alone: %s, %s", tag, got.Header.Get("ETag"))
	}
	if got := s.announced(c.Org); got["social_account.reauth_required"] != 3 {
		t.Errorf("events %v", got)
	}
	tell := accountnotify.Job{Box: s.Deps.Box, Social: s.Deps.Social}.Handler()
	if n := s.work(tell); n != 1 || s.count("system_mail WHERE org_id = $1", c.Org) != 2 { // to owner and admin
		t.Errorf("%d jobs, %d mails", n, s.count("system_mail WHERE org_id = $1", c.Org))
	}
	// Choosing one page also repairs the other pages of the same login.
	o := c.offered("social", "linkedin_page", "Ada Lovelace")
	c.choose(o.ID, o.Accounts[1].External)
	if n := len(c.accounts("social", "?status=active")); n != 3 {
		t.Errorf("%d accounts are well again", n)
	}
	if got := s.announced(c.Org); got["social_account.connected"] != 6 {
		t.Errorf("events %v", got)
	}
	// Again within a day: recorded, but no second mail.
	if !died(version(), "invalid_grant") || s.work(tell) != 0 {
		t.Error("a second mail within a day")
	}
	if got := s.announced(c.Org); got["social_account.reauth_required"] != 6 {
		t.Errorf("events %v", got)
	}
}

// TestNoTokenIsReadableAnywhere stores tokens of every platform and searches for them in every row of every table, in
// the log and in the API's responses. TestNoSecretAndNoAddressEverReachesRedis, end to end, listens to Redis.
func TestNoTokenIsReadableAnywhere(t *testing.T) {
	t.Parallel()
	var log lockedBuffer
	s := start(t, unlimited, func(d *api.Deps) {
		d.Log = slog.New(slog.NewJSONHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	})
	c := s.signup()
	var answers bytes.Buffer
	for _, p := range platforms {
		c.login(p.area, p.name, "Ada Lovelace")
		b := c.browser(true)
		got := b.open(b.consent(b.connect(p.area, p.name, home), consent.Choice{Person: "Grace Hopper"}))
		answers.WriteString(got.Header.Get("Location") + "\n")
		answers.Write(c.do("GET", "/api/v1/"+p.area+"/accounts", nil).Body)
		if err := s.OAuth.Strike(t.Context(),
			oauth.Fault{
				Op: "token", Status: 400,
				Body: `{"error":"invalid_grant","error_description":"sbxtok-in-an-error"}`, Times: 1,
			}); err != nil {
			t.Fatal(err)
		}
		b = c.browser(false)
		answers.Write(b.open(b.consent(b.connect(p.area, p.name, nil), consent.Choice{})).Body)
	}
	for _, a := range c.accounts("social", "") {
		c.do("DELETE", "/api/v1/social/accounts/"+a.ID, nil)
		break
	}
	planted, err := s.OAuth.Grants(t.Context(), 0)
	if err != nil || len(planted) < 2*len(platforms)-4 {
		t.Fatalf("%d logins, %v", len(planted), err)
	}
	places := map[string]string{"the answers": answers.String(), "the log": log.String(), "the tables": s.everything()}
	found := 0
	for where, text := range places {
		for _, mark := range []string{oauth.TokenMark, oauth.CodeMark} {
			for _, form := range []string{
				mark, hex.EncodeToString([]byte(mark)),
				base64.StdEncoding.EncodeToString([]byte(mark))[:8],
			} {
				if at := strings.Index(text, form); at >= 0 {
					t.Errorf("%s show %s: ...%s...", where, form, text[max(0, at-200):min(len(text), at+60)])
					found++
				}
			}
		}
	}
	for _, place := range []string{"the tables", "the log"} {
		if n := len(places[place]); n < 10_000 {
			t.Errorf("%s: only %d bytes were searched", place, n)
		}
	}
	if !strings.Contains(places["the tables"], "social_grant") {
		t.Error("the tables were searched without social_grant")
	}
}

// everything returns all rows of all tables as text.
func (s *service) everything() string {
	s.Helper()
	conn := testkit.Pgx(s, s.DB.URL)
	rows, err := conn.Query(s.Context(),
		`SELECT relname FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p')
			AND NOT relispartition ORDER BY 1`)
	if err != nil {
		s.Fatal(err)
	}
	tables, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		s.Fatal(err)
	}
	var all strings.Builder
	for _, table := range tables {
		var text string
		if err := conn.QueryRow(s.Context(),
			fmt.Sprintf(`SELECT coalesce(string_agg(x::text, E'\n'), '') FROM %q x`, table)).Scan(&text); err != nil {
			s.Fatal(err)
		}
		all.WriteString(table + "\n" + text + "\n")
	}
	return all.String()
}

// lockedBuffer is a log buffer that is safe for concurrent use.
type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lockedBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *lockedBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}
