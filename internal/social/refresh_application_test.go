package social_test

import (
	"testing"
	"time"

	"github.com/funnelwork/funnelwork/internal/sandbox/oauth"
	"github.com/funnelwork/funnelwork/internal/social"
	"github.com/funnelwork/funnelwork/internal/social/provider"
)

func TestALoginIsRenewedWithTheApplicationThatItWasMadeWith(t *testing.T) {
	t.Parallel()
	s := newShore(t, nil)
	g := s.grants("linkedin_page", "linkedin", 1, 10*24*time.Hour)[0]
	client, password := oauth.Client("linkedin")
	profile := provider.App{ClientID: client, ClientSecret: provider.Secret(password), Base: s.places.Providers}
	own := provider.App{ClientID: "a new one", ClientSecret: "of the pages", Base: s.places.Providers}
	r := s.refresherOf(provider.New(provider.Options{Apps: map[string]provider.App{
		"linkedin":      profile,
		"linkedin_page": own,
	}}))
	if out := s.one(r); out != social.Renewed {
		t.Fatalf("%s", out)
	}
	if !s.alive(g) {
		t.Errorf("%+v", s.stands(g))
	}
	if _, err := r.SyncAccounts(t.Context(), g.org, g.grant); err != nil {
		t.Errorf("its pages: %v", err)
	}
}
