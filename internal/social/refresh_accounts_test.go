package social_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/sandbox/oauth"
	"github.com/funnelwork/funnelwork/internal/social"
	"github.com/funnelwork/funnelwork/internal/social/provider"
)

// TestAdAccountsFollowTheirLogin lets a login reach fewer accounts, then more, and its names change; other logins' accounts, also
// of the same org and with the same ids, stay as they are.
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
			s.set1(`INSERT INTO social_account (org_id, id, platform, kind, external_account_id, grant_id, display_name, connected_at) VALUES ($1, $2, 'meta_ads', 'ads', $3, $4, $5, now())`,
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
	if n := s.rows("SELECT type FROM event WHERE org_id = $1 AND type = 'social_account.reauth_required'", g.org); len(n) != 2 {
		t.Errorf("%d events of two accounts that are gone", len(n))
	}
	s.knobs("facebook", oauth.Knobs{})
	sync(social.Synced{Back: 2})
	if got := s.rows("SELECT display_name || ' ' || status || reason FROM social_account WHERE grant_id = $1", g.grant); len(got) != 3 {
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

// TestAnEndThatNothingMovesIsToldThreeTimes lets half a year go by before the end of a login that cannot be renewed beyond it.
func TestAnEndThatNothingMovesIsToldThreeTimes(t *testing.T) {
	t.Parallel()
	for name, sql := range map[string]string{
		"a refresh token's end":   "UPDATE social_grant SET refresh_expires_at = $1::timestamptz + interval '40 days', access_expires_at = $1::timestamptz + interval '60 days', refresh_at = $1::timestamptz + interval '90 days'",
		"without a refresh token": "UPDATE social_grant SET sealed_refresh = NULL, access_expires_at = $1::timestamptz + interval '40 days', refresh_at = access_expires_at",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newShore(t, newClock())
			g := s.grants("linkedin", "linkedin", 1, time.Hour)[0]
			s.grants("facebook", "facebook", 1, 20*24*time.Hour) // renews itself: no end to tell of
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
