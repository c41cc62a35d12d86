package api_test

import (
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/funnelwork/funnelwork/internal/queue"
	"github.com/funnelwork/funnelwork/internal/sandbox/oauth"
	"github.com/funnelwork/funnelwork/internal/social"
	"github.com/funnelwork/funnelwork/internal/testkit"
	"github.com/funnelwork/funnelwork/internal/testkit/consent"
	"github.com/funnelwork/funnelwork/jobs/accountnotice"
	"github.com/funnelwork/funnelwork/jobs/adaccountssync"
)

// noticed posts a signed request like Meta.
func (s *service) noticed(path, signed string) answer {
	s.Helper()
	form := url.Values{"signed_request": {signed}}
	return s.stranger().do("POST", path, form.Encode(), "Content-Type", "application/x-www-form-urlencoded")
}

func (s *service) acting() queue.Handler {
	return accountnotice.Job{App: s.DB.App, System: s.DB.System, Social: s.Deps.Social}.Handler()
}

// subject returns a family's id of a person.
func (s *service) subject(family, person string) string {
	s.Helper()
	all, err := s.OAuth.Grants(s.Context(), 0)
	if err != nil {
		s.Fatal(err)
	}
	for _, g := range all {
		if g.Family == family && g.Person == person {
			return g.Subject
		}
	}
	s.Fatalf("%s has no login at %s", person, family)
	return ""
}

func TestAPersonWhoRemovesTheApplicationAtMetaIsAskedToLogInAgain(t *testing.T) {
	t.Parallel()
	s := start(t, unlimited)
	c, other := s.signup(), s.signup()
	c.login("social", "facebook", "Ada Lovelace")
	c.login("ads", "meta_ads", "Ada Lovelace")
	c.login("social", "instagram", "Ada Lovelace")
	mine, ads := len(c.accounts("social", "?platform=facebook")), len(c.accounts("ads", ""))
	other.login("social", "facebook", "Ada Lovelace")
	theirs := len(other.login("social", "facebook", "Grace Hopper"))
	_, secret := oauth.Client("facebook")
	ada := s.subject("facebook", "Ada Lovelace")

	s.noticed("/oauth/facebook/deauthorize", consent.SignedRequest("guessed", ada, time.Now())).
		want(t, 400, "invalid_signature")
	s.noticed("/oauth/instagram/deauthorize", consent.SignedRequest(secret, ada, time.Now())).
		want(t, 400, "invalid_signature")
	s.noticed("/oauth/facebook/deauthorize", "").want(t, 400, "invalid_signature")
	if n := s.work(s.acting()); n != 0 {
		t.Errorf("%d jobs of notices that nobody signed", n)
	}
	s.noticed("/oauth/facebook/deauthorize", consent.SignedRequest(secret, ada, time.Now().Add(-time.Hour))).
		want(t, 200, "")
	s.noticed("/oauth/facebook/deauthorize", consent.SignedRequest(secret, "nobody", time.Now())).want(t, 200, "")
	if n := s.work(s.acting()); n != 2 {
		t.Errorf("%d jobs", n)
	}
	if n := len(c.accounts("social", "?status=reauth_required")); n != 0 {
		t.Errorf("a notice from before the login broke %d accounts", n)
	}

	s.noticed("/oauth/facebook/deauthorize", consent.SignedRequest(secret, ada, time.Now())).want(t, 200, "")
	if n := s.work(s.acting()); n != 1 {
		t.Errorf("%d jobs", n)
	}
	if n := len(c.accounts("social", "?platform=facebook&status=reauth_required")); n != mine {
		t.Errorf("%d of %d pages are broken", n, mine)
	}
	if n := len(c.accounts("ads", "?status=reauth_required")); n != ads {
		t.Errorf("%d of %d ad accounts are broken", n, ads)
	}
	if n := len(c.accounts("social", "?platform=instagram&status=active")); n != 1 {
		t.Errorf("%d accounts of another application are active", n)
	}
	if n := len(other.accounts("social", "?status=active")); n != theirs {
		t.Errorf("%d of %d accounts of another person are active", n, theirs)
	}
	if got := s.announced(c.Org)["social_account.reauth_required"]; got != mine+ads {
		t.Errorf("%d events, want %d", got, mine+ads)
	}
}

func TestAPersonsDataAreErasedWhenMetaAsksForItAndAPageSaysSo(t *testing.T) {
	t.Parallel()
	s := start(t, unlimited)
	for platform, family := range map[string]string{"facebook": "facebook", "instagram": "instagram"} {
		c, other := s.signup(), s.signup()
		accounts := c.login("social", platform, "Ada Lovelace")
		c.offered("social", platform, "Ada Lovelace")
		kept := other.login("social", platform, "Grace Hopper")
		_, secret := oauth.Client(family)
		ada := s.subject(family, "Ada Lovelace")
		s.noticed("/oauth/"+platform+"/data-deletion", consent.SignedRequest(secret+"x", ada, time.Now())).
			want(t, 400, "invalid_signature")
		var out struct {
			URL  string `json:"url"`
			Code string `json:"confirmation_code"`
		}
		got := s.noticed("/oauth/"+platform+"/data-deletion", consent.SignedRequest(secret, ada, time.Now()))
		got.want(t, 200, "")
		got.into(t, &out)
		if want := "http://api.test/oauth/" + platform + "/data-deletion/" + out.Code; out.URL != want ||
			len(out.Code) < 20 {
			t.Fatalf("%+v, want the address %s", out, want)
		}
		shows := func(text string) {
			t.Helper()
			got := s.stranger().do("GET", strings.TrimPrefix(out.URL, "http://api.test"), nil)
			got.want(t, 200, "")
			if !strings.Contains(string(got.Body), text) {
				t.Errorf("%s: no %q in %s", platform, text, got.Body)
			}
			if kind := got.Header.Get("Content-Type"); !strings.HasPrefix(kind, "text/html") {
				t.Errorf("%s: Content-Type %q, want text/html", platform, kind)
			}
		}
		shows("Your request has arrived.")
		if n := s.work(s.acting()); n != 1 {
			t.Fatalf("%d jobs", n)
		}
		shows("Your data were deleted on " + time.Now().UTC().Format("2 January 2006"))
		if n := len(c.accounts("social", "")); n != 0 {
			t.Errorf("%s: %d accounts are connected", platform, n)
		}
		if n := len(other.accounts("social", "?status=active")); n != len(kept) {
			t.Errorf("%s: %d of %d accounts of another person are active", platform, n, len(kept))
		}
		if got := s.announced(c.Org)["social_account.disconnected"]; got != len(accounts) {
			t.Errorf("%s: %d events, want %d", platform, got, len(accounts))
		}
		for _, table := range []string{"social_grant", "social_account", "social_pending"} {
			for key, row := range s.rows(table, c.Org) {
				for _, secret := range append([]string{ada}, names(accounts)...) {
					if strings.Contains(row, secret) {
						t.Errorf("%s %s still has %q: %s", table, key, secret, row)
					}
				}
			}
		}
		if n := s.count(
			"social_grant WHERE org_id = $1 AND (sealed_access IS NOT NULL OR sealed_refresh IS NOT NULL)", c.Org) +
			s.count("social_account WHERE org_id = $1 AND sealed_token IS NOT NULL",
				c.Org) + s.count("social_pending WHERE org_id = $1", c.Org); n != 0 {
			t.Errorf("%s: %d rows still hold a token", platform, n)
		}
		if n := s.count("social_notice WHERE subject_id = $1", ada); n != 0 {
			t.Errorf("%s: the notice still names the person", platform)
		}
		if n := len(c.login("social", platform, "Ada Lovelace")); n != len(accounts) {
			t.Errorf("%s: %d accounts after a new login", platform, n)
		}
	}
	s.stranger().do("GET", "/oauth/facebook/data-deletion/"+strings.Repeat("0", 32), nil).want(t, 404, "not_found")
}

// names returns the names of accounts, here and at their platform.
func names(all []account) (out []string) {
	for _, a := range all {
		out = append(out, a.Name, a.External)
	}
	return out
}

func TestALoginMadeAgainGivesItsOtherPagesNewTokens(t *testing.T) {
	t.Parallel()
	s := start(t, unlimited)
	c := s.signup()
	pages := c.login("social", "facebook", "Ada Lovelace")
	sealed := func(page account) (token string) {
		t.Helper()
		if err := testkit.Pgx(t, s.DB.URL).QueryRow(t.Context(),
			`SELECT encode(sealed_token, 'hex') FROM social_account WHERE id = $1`, page.ID).Scan(&token); err != nil {
			t.Fatal(err)
		}
		return token
	}
	before := map[string]string{}
	for _, p := range pages {
		before[p.ID] = sealed(p)
	}
	o := c.offered("social", "facebook", "Ada Lovelace")
	c.choose(o.ID, pages[0].External)
	refresher := social.NewRefresher(social.RefreshOptions{
		Service: s.Deps.Social, App: s.DB.App, System: s.DB.System,
		Log: s.Deps.Log,
	})
	if n := s.work(adaccountssync.Kind.Handle(adaccountssync.Job{Refresher: refresher, Log: s.Deps.Log}.Work)); n != 1 {
		t.Errorf("%d looks at the login's pages", n)
	}
	for _, p := range pages {
		if sealed(p) == before[p.ID] {
			t.Errorf("page %s keeps the token of the earlier login", p.Name)
		}
	}
}
