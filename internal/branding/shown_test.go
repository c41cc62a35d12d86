package branding_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/funnelwork/funnelwork/internal/branding"
)

func ptr[T any](v T) *T { return &v }

// acme returns an org with every setting and the given rights.
func acme(r branding.Rights) branding.Tenant {
	p := branding.DefaultPalette
	p.Primary = branding.Color{R: 0x8a, G: 0x1c, B: 0x4a}
	return branding.Tenant{Rights: r, Settings: branding.Settings{
		Name: ptr("Acme"), Colors: &p, HideBrand: true, SupportEmail: ptr("help@acme.test"),
		Logo: &branding.LogoInfo{Digest: "d", Type: "image/png", Width: 3, Height: 2}, Edit: 4,
	}}
}

var (
	all     = branding.Rights{WhiteLabel: true, HideBrand: true}
	looks   = branding.Rights{WhiteLabel: true}
	silence = branding.Rights{HideBrand: true}
	none    = branding.Rights{}
)

func TestWhatIsShownFollowsFromTheWishAndThePlan(t *testing.T) {
	t.Parallel()
	own := acme(all)
	full := branding.Shown{
		Name: "Acme", Colors: *own.Settings.Colors, Logo: *own.Settings.Logo,
		SupportEmail: "help@acme.test", Hidden: true,
	}
	beside := full
	beside.Hidden = false
	blank := branding.Platform
	blank.Name, blank.Hidden = "", true
	client := func(r branding.Rights, wish bool) branding.Tenant {
		return branding.Tenant{Rights: r, Settings: branding.Settings{HideBrand: wish}}
	}
	named := branding.Tenant{Rights: looks, Settings: branding.Settings{Name: ptr("Client"), Edit: 1}}
	ofAgency := branding.Platform
	ofAgency.Name, ofAgency.Hidden = "Client", true
	agency, poor := acme(all), acme(none)
	for name, c := range map[string]struct {
		own    branding.Tenant
		agency *branding.Tenant
		want   branding.Shown
	}{
		"wished and in the plan":                                {acme(all), nil, full},
		"wished, and the plan has looks alone":                  {acme(looks), nil, beside},
		"wished, and the plan hides alone":                      {acme(silence), nil, blank},
		"wished, and the plan has nothing of it":                {acme(none), nil, branding.Platform},
		"nothing set":                                           {branding.Tenant{Rights: all}, nil, branding.Platform},
		"only the wish":                                         {client(all, true), nil, blank},
		"a client with nothing of its own has its agency's":     {client(all, false), &agency, full},
		"a client's wish counts beside an agency without one":   {client(silence, true), &poor, blank},
		"an agency that lost its plan shows and hides nothing":  {client(none, false), &poor, branding.Platform},
		"a client with looks of its own, hidden by its agency":  {named, &agency, ofAgency},
		"a client that lost its looks has those of its agency":  {acme(none), &agency, full},
		"a client that hides under an agency with other rights": {client(silence, true), ptr(acme(looks)), full},
	} {
		if diff := cmp.Diff(c.want, branding.Show(c.own, c.agency)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

func TestThePlatformStandsBesideANameUnlessItIsHidden(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		shown branding.Shown
		want  string
	}{
		"the platform alone": {branding.Platform, ""}, "beside": {branding.Shown{Name: "Acme"}, branding.PlatformName},
		"hidden":                 {branding.Shown{Name: "Acme", Hidden: true}, ""},
		"hidden, without a name": {branding.Shown{Hidden: true}, ""},
	} {
		if got := c.shown.PoweredBy(); got != c.want {
			t.Errorf("%s: %q", name, got)
		}
	}
}
