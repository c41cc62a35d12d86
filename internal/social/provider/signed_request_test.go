package provider_test

import (
	"strings"
	"testing"
	"time"

	"github.com/funnelwork/funnelwork/internal/social/provider"
	"github.com/funnelwork/funnelwork/internal/testkit/consent"
)

func TestASignedRequestIsReadOnlyUnderTheApplicationsOwnSecret(t *testing.T) {
	t.Parallel()
	set := provider.New(provider.Options{Apps: map[string]provider.App{
		"facebook": {ClientID: "1", ClientSecret: "fb"}, "instagram": {ClientID: "2", ClientSecret: "ig"},
		"x": {ClientID: "3", ClientSecret: "fb"},
	}})
	at := time.Unix(1_790_000_000, 0)
	good := consent.SignedRequest("fb", "4711", at)
	signature, payload, _ := strings.Cut(good, ".")
	_, other, _ := strings.Cut(consent.SignedRequest("fb", "4712", at), ".")
	for name, tc := range map[string]struct {
		platform, raw string
		want          bool
	}{
		"good":                       {"facebook", good, true},
		"good, of the ads":           {"meta_ads", good, true},
		"padded":                     {"facebook", signature + "=." + payload, true},
		"another application's":      {"instagram", good, false},
		"a provider that sends none": {"x", good, false},
		"another person's payload":   {"facebook", signature + "." + other, false},
		"no signature":               {"facebook", "." + payload, false},
		"no payload":                 {"facebook", signature, false},
		"nothing":                    {"facebook", "", false},
		"cut":                        {"facebook", good[:len(good)-2], false},
		"no person":                  {"facebook", consent.SignedRequest("fb", "", at), false},
	} {
		p, err := set.Get(tc.platform)
		if err != nil {
			t.Fatal(err)
		}
		got, err := p.SignedRequest(tc.raw)
		if (err == nil) != tc.want {
			t.Errorf("%s: %v", name, err)
		}
		if tc.want && (got.Subject != "4711" || !got.IssuedAt.Equal(at)) {
			t.Errorf("%s: %+v", name, got)
		}
	}
}
