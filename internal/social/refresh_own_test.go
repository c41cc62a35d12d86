package social_test

import (
	"context"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/sandbox/oauth"
	"github.com/funnelwork/funnelwork/internal/social"
	"github.com/funnelwork/funnelwork/internal/social/provider"
)

// pages creates accounts for everything that a login reaches, with old tokens of the accounts.
func (s *shore) pages(g at, platform string) (accounts []id.ID) {
	s.t.Helper()
	p, err := s.set.Get(platform)
	if err != nil {
		s.t.Fatal(err)
	}
	token, err := s.refresher().Token(s.t.Context(), g.org, g.grant)
	if err != nil {
		s.t.Fatal(err)
	}
	_, reached, err := p.Login(s.t.Context(), token)
	if err != nil || len(reached) == 0 {
		s.t.Fatalf("%d accounts, %v", len(reached), err)
	}
	s.set1("DELETE FROM social_account WHERE grant_id = $1", g.grant)
	for _, a := range reached {
		account := id.New()
		sealed, err := s.secret.Seal([]byte(a.Token.Reveal()),
			"social_account|"+g.org.String()+"|"+account.String()+"|token")
		if err != nil {
			s.t.Fatal(err)
		}
		s.set1(`INSERT INTO social_account (org_id, id, platform, kind, external_account_id, grant_id,
			display_name, avatar_url, sealed_token, connected_at)
			VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, now())`, g.org, account, platform, string(p.Kind),
			a.ExternalID, g.grant, a.DisplayName, a.AvatarURL, sealed)
		accounts = append(accounts, account)
	}
	return accounts
}

// own returns an account's own token.
func (s *shore) own(org, account id.ID) string {
	s.t.Helper()
	var sealed []byte
	if err := s.sql.QueryRow(s.t.Context(), "SELECT sealed_token FROM social_account WHERE id = $1", account).
		Scan(&sealed); err != nil {
		s.t.Fatal(err)
	}
	token, err := s.secret.Open(sealed, "social_account|"+org.String()+"|"+account.String()+"|token")
	if err != nil {
		s.t.Fatal(err)
	}
	return string(token)
}

func TestPagesGetNewTokensWhenTheTokenOfTheirLoginIsRenewed(t *testing.T) {
	t.Parallel()
	s := newShore(t, nil)
	g := s.grants("facebook", "facebook", 1, 10*24*time.Hour)[0]
	pages := s.pages(g, "facebook")
	before := s.own(g.org, pages[0])
	r := s.refresher()
	var asked []id.ID
	r.Service.OwnTokens = func(_ context.Context, tx *postgres.Tx, grant id.ID) error {
		asked = append(asked, tx.Org(), grant)
		return nil
	}
	if out := s.one(r); out != social.Renewed {
		t.Fatalf("%s", out)
	}
	if want := []id.ID{g.org, g.grant}; !slices.Equal(asked, want) {
		t.Fatalf("own tokens of %v, want %v", asked, want)
	}
	got, err := r.SyncAccounts(t.Context(), g.org, g.grant)
	if err != nil || got != (social.Synced{Tokens: len(pages)}) {
		t.Errorf("%+v, %v; want %d tokens", got, err, len(pages))
	}
	for _, page := range pages {
		token := s.own(g.org, page)
		held, err := s.box.Holder(t.Context(), token)
		if err != nil {
			t.Error(err)
		}
		if token == before {
			t.Errorf("page %v still has the first token", page)
		}
		if !held.Alive {
			t.Errorf("page %v has a dead token", page)
		}
	}
}

func TestALoginWhoseAccountsHaveNoTokensAsksForNoLook(t *testing.T) {
	t.Parallel()
	s := newShore(t, nil)
	s.grants("meta_ads", "facebook", 1, 10*24*time.Hour)
	r := s.refresher()
	r.Service.OwnTokens = func(context.Context, *postgres.Tx, id.ID) error {
		t.Error("asked for a look")
		return nil
	}
	if out := s.one(r); out != social.Renewed {
		t.Errorf("%s", out)
	}
}

// between calls a function before each list of pages is returned.
type between struct{ do func() }

func (b between) RoundTrip(r *http.Request) (*http.Response, error) {
	if strings.HasSuffix(r.URL.Path, "/me/accounts") {
		b.do()
	}
	return http.DefaultTransport.RoundTrip(r)
}

func TestPagesKeepTheirTokensWhereTheLoginHasMovedOnMeanwhile(t *testing.T) {
	t.Parallel()
	for name, sql := range map[string]string{
		"renewed": "UPDATE social_grant SET issued_at = issued_at + interval '1 hour', version = version + 1 WHERE " +
			"id = $1",
		"dead": "UPDATE social_grant SET status = 'reauth_required', version = version + 1 WHERE id = $1",
	} {
		s := newShore(t, nil)
		g := s.grants("facebook", "facebook", 1, 10*24*time.Hour)[0]
		pages := s.pages(g, "facebook")
		s.set1("UPDATE social_account SET sealed_token = 'of before' WHERE grant_id = $1", g.grant)
		client, password := oauth.Client("facebook")
		r := s.refresherOf(provider.New(provider.Options{Apps: map[string]provider.App{"facebook": {
			ClientID: client, ClientSecret: provider.Secret(password), Base: s.places.Providers,
			HTTP: &http.Client{Transport: between{func() { s.set1(sql, g.grant) }}},
		}}}))
		got, err := r.SyncAccounts(t.Context(), g.org, g.grant)
		if err != nil || got.Tokens != 0 {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
		if n := len(s.rows("SELECT id::text FROM social_account WHERE grant_id = $1 AND sealed_token = 'of before'",
			g.grant)); n != len(pages) {
			t.Errorf("%s: %d of %d pages kept their tokens", name, n, len(pages))
		}
	}
}
