package social_test

import (
	"context"
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/sandbox/oauth"
	"github.com/funnelwork/funnelwork/internal/social"
	"github.com/funnelwork/funnelwork/internal/social/provider"
)

// TestAdAccountsFollowTheirLogin lets a login reach fewer accounts, then more, with changed names; accounts of other
// logins, also of the same org and with the same ids, stay unchanged.
func TestAdAccountsFollowTheirLogin(t *testing.T) {
	t.Parallel()
	s := newShore(t, nil)
	both := s.grants("meta_ads", "facebook", 2, time.Hour)
	g, other := both[0], both[1]
	r := s.refresher()
	p, err := s.set.Get("meta_ads")
	if err != nil {
		t.Fatal(err)
	}
	token, err := r.Token(t.Context(), g.org, g.grant)
	if err != nil {
		t.Fatal(err)
	}
	_, accounts, err := p.Login(t.Context(), token)
	if err != nil || len(accounts) != 3 {
		t.Fatalf("%d accounts, %v", len(accounts), err)
	}
	s.set1("DELETE FROM social_account WHERE grant_id = $1", g.grant)
	for i, a := range accounts {
		for _, of := range []at{g, {other.org, other.grant}} {
			s.set1(`INSERT INTO social_account (org_id, id, platform, kind, external_account_id, grant_id,
				display_name, connected_at) VALUES ($1, $2, 'meta_ads', 'ads', $3, $4, $5, now())`,
				of.org, id.New(), a.ExternalID, of.grant, fmt.Sprintf("old name %d", i))
		}
	}
	before := s.rows("SELECT to_jsonb(a)::text FROM social_account a WHERE grant_id = $1 ORDER BY id", other.grant)
	sync := func(want social.Synced) {
		t.Helper()
		if got, err := r.SyncAccounts(t.Context(), g.org, g.grant); err != nil || got != want {
			t.Errorf("%+v, %v; want %+v", got, err, want)
		}
	}
	sync(social.Synced{Renamed: 3})
	sync(social.Synced{})
	s.knobs("facebook", oauth.Knobs{Accounts: 1})
	sync(social.Synced{Gone: 2})
	sync(social.Synced{})
	if n := s.rows("SELECT type FROM event WHERE org_id = $1 AND type = 'social_account.reauth_required'",
		g.org); len(n) != 2 {
		t.Errorf("%d events of two accounts that are gone", len(n))
	}
	s.knobs("facebook", oauth.Knobs{})
	sync(social.Synced{Back: 2})
	if got := s.rows("SELECT display_name || ' ' || status || reason FROM social_account WHERE grant_id = $1",
		g.grant); len(got) != 3 {
		t.Errorf("%v: none was to be added or taken away", got)
	}
	if err := s.box.Strike(t.Context(), oauth.Fault{Op: "api", Status: 500, Times: 1}); err != nil {
		t.Fatal(err)
	}
	if _, err := r.SyncAccounts(t.Context(), g.org, g.grant); provider.ClassOf(err) != provider.Transient {
		t.Errorf("a provider that is away: %v", err)
	}
	after := s.rows("SELECT to_jsonb(a)::text FROM social_account a WHERE grant_id = $1 ORDER BY id", other.grant)
	if fmt.Sprint(before) != fmt.Sprint(after) {
		t.Errorf("another login's accounts changed:\n%v\n%v", before, after)
	}
	grants, err := r.AdGrants(t.Context(), social.Claim{}, 10)
	if err != nil || len(grants) != 2 {
		t.Errorf("%d ad logins, %v", len(grants), err)
	}
}

// TestAnEndThatNothingMovesIsToldThreeTimes covers half a year until the end of a login that cannot be renewed beyond
// it.
func TestAnEndThatNothingMovesIsToldThreeTimes(t *testing.T) {
	t.Parallel()
	for name, sql := range map[string]string{
		"a refresh token's end": "UPDATE social_grant SET refresh_expires_at = $1::timestamptz + interval '40 " +
			"days', access_expires_at = $1::timestamptz + interval '60 days', refresh_at = $1::timestamptz + " +
			"interval '90 days'",
		"without a refresh token": "UPDATE social_grant SET sealed_refresh = NULL, access_expires_at = " +
			"$1::timestamptz + interval '40 days', refresh_at = access_expires_at",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newShore(t, newClock())
			g := s.grants("linkedin", "linkedin", 1, time.Hour)[0]
			s.grants("facebook", "facebook", 1, 20*24*time.Hour) // renewable: no end to warn of
			began := s.clock.Now()
			s.set1(sql+" WHERE id = $2", began, g.grant)
			r := s.refresher()
			var told []int
			for day := range 40 {
				for range 2 {
					_, err := r.Warn(t.Context(), 10, func(_ context.Context, _ *postgres.Tx, grant id.ID) error {
						if grant != g.grant {
							t.Error("told of a login that renews itself")
						}
						told = append(told, 40-day)
						return nil
					})
					if err != nil {
						t.Fatal(err)
					}
				}
				s.clock.move(24 * time.Hour)
			}
			if fmt.Sprint(told) != "[30 7 1]" {
				t.Errorf("told %v days before", told)
			}
			if row := s.stands(g); row.Status != "expiring" {
				t.Errorf("%+v", row)
			}
		})
	}
}

func (s *shore) rows(sql string, args ...any) (out []string) {
	s.t.Helper()
	rows, err := s.sql.Query(s.t.Context(), sql, args...)
	if err != nil {
		s.t.Fatal(err)
	}
	defer rows.Close()
	for rows.Next() {
		var text string
		if err := rows.Scan(&text); err != nil {
			s.t.Fatal(err)
		}
		out = append(out, text)
	}
	if err := rows.Err(); err != nil {
		s.t.Fatal(err)
	}
	return out
}

// TestALoginThatNothingRenewsEndsWhenItsTokenIsRefused: no refresh would detect it. Temporary errors and our own errors
// end no login.
func TestALoginThatNothingRenewsEndsWhenItsTokenIsRefused(t *testing.T) {
	t.Parallel()
	for _, platform := range []string{"x_ads", "tiktok_ads"} {
		t.Run(platform, func(t *testing.T) {
			t.Parallel()
			s := newShore(t, nil)
			g, other := s.endless(platform, "Ada Lovelace"), s.endless(platform, "Grace Hopper")
			r := s.refresher()
			if claims := s.sweep(r); len(claims) != 0 {
				t.Errorf("%d claims of logins that nothing renews", len(claims))
			}
			if _, err := r.SyncAccounts(t.Context(), g.org, g.grant); err != nil {
				t.Fatal(err)
			}
			for _, f := range []oauth.Fault{
				{Op: "api", Status: 503, Times: 1},
				{Op: "api", Status: 429, RetryAfter: 5, Times: 1},
				{Op: "api", Status: 403, Body: `{"code":40101,"errors":[{"code":"?"}]}`, Times: 1},
			} {
				if err := s.box.Strike(t.Context(), f); err != nil {
					t.Fatal(err)
				}
				if _, err := r.SyncAccounts(t.Context(), g.org, g.grant); err == nil {
					t.Errorf("%+v was no error", f)
				}
			}
			if row := s.stands(at{g.org, g.grant}); row.Status != "active" {
				t.Fatalf("after faults of others: %+v", row)
			}
			if err := s.box.Kill(t.Context(), g.login, "revoked"); err != nil {
				t.Fatal(err)
			}
			for range 2 { // the second call finds nothing to sync
				if _, err := r.SyncAccounts(t.Context(), g.org, g.grant); err == nil {
					t.Error("a revoked token lists accounts")
				}
			}
			if row := s.stands(at{g.org, g.grant}); row.Status != "reauth_required" || row.Reason == "" {
				t.Errorf("%+v", row)
			}
			n := s.rows("SELECT 'one' FROM event WHERE org_id = $1 AND type = 'social_account.reauth_required'", g.org)
			if len(n) != 1 {
				t.Errorf("%d events", len(n))
			}
			if len(s.told) != 1 || s.told[0] != g.grant {
				t.Errorf("written to about %v", s.told)
			}
			if row := s.stands(at{other.org, other.grant}); row.Status != "active" {
				t.Errorf("another login: %+v", row)
			}
		})
	}
}

// TestATokenThatWasReplacedMeanwhileEndsNothing: the refused token was the previous one.
func TestATokenThatWasReplacedMeanwhileEndsNothing(t *testing.T) {
	t.Parallel()
	s := newShore(t, nil)
	g := s.endless("x_ads", "Ada Lovelace")
	if err := s.box.Kill(t.Context(), g.login, "revoked"); err != nil {
		t.Fatal(err)
	}
	moves := func() { s.set1("UPDATE social_grant SET version = version + 1 WHERE id = $1", g.grant) }
	r := s.refresherOf(s.between(moves))
	if _, err := r.SyncAccounts(t.Context(), g.org, g.grant); provider.ClassOf(err) != provider.Dead {
		t.Error(err)
	}
	if row := s.stands(at{g.org, g.grant}); row.Status != "active" {
		t.Errorf("%+v", row)
	}
}

// endless is a login with a token that does not expire, and one account.
type endless struct {
	org, grant id.ID
	login      string // its id in the sandbox
}

func (s *shore) endless(platform, person string) endless {
	s.t.Helper()
	p, err := s.set.Get(platform)
	if err != nil {
		s.t.Fatal(err)
	}
	held, err := s.box.Issue(s.t.Context(), platform, person)
	if err != nil {
		s.t.Fatal(err)
	}
	one := endless{id.New(), id.New(), held.ID}
	access := held.Access
	if held.Secret != "" {
		access = provider.Signed(held.Access, held.Secret).Reveal()
	}
	s.set1("INSERT INTO org (id, name) VALUES ($1, 'Org')", one.org)
	s.set1(`INSERT INTO social_grant
			(org_id, id, platform, kind, client_id, subject_id, sealed_access, granted_at, issued_at, scopes)
		VALUES ($1, $2, $3, 'ads', $4, $5, $6, now(), now(), '{}')`,
		one.org, one.grant, platform, p.ClientID(), held.Subject, s.seal(access, at{one.org, one.grant}, "access"))
	_, accounts, err := p.Login(s.t.Context(), provider.Token{Access: provider.Secret(access), Subject: held.Subject})
	if err != nil {
		s.t.Fatal(err)
	}
	s.set1(`INSERT INTO social_account
			(org_id, id, platform, kind, external_account_id, grant_id, display_name, connected_at)
		VALUES ($1, $2, $3, 'ads', $4, $5, 'Account', now())`,
		one.org, id.New(), platform, accounts[0].ExternalID, one.grant)
	return one
}

// between returns the providers with a hook before each request.
func (s *shore) between(happens func()) *provider.Set {
	apps := map[string]provider.App{}
	for _, family := range provider.Families() {
		client, password := oauth.Client(family)
		apps[family] = provider.App{ClientID: client, ClientSecret: provider.Secret(password), Base: s.places.Providers}
	}
	return provider.New(provider.Options{Apps: apps, HTTP: &http.Client{Transport: meanwhile(happens)}})
}

// meanwhile is a transport that calls a function before each request.
type meanwhile func()

func (m meanwhile) RoundTrip(r *http.Request) (*http.Response, error) {
	m()
	return http.DefaultTransport.RoundTrip(r)
}
