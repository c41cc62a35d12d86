package branding_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/funnelwork/funnelwork/internal/branding"
	"github.com/funnelwork/funnelwork/internal/fault"
)

func TestOnlyANameThatOneOrgCanHaveIsADomain(t *testing.T) {
	t.Parallel()
	s := branding.NewDomains(branding.DomainOptions{Target: "edge.funnel.example", Own: []string{"app.funnel.example"}})
	long := strings.Repeat("a", 60) + "." + strings.Repeat("b", 60) + "." + strings.Repeat("c", 60) + "."
	for given, want := range map[string]string{
		"crm.acme.com":                          "crm.acme.com",
		"acme.com":                              "acme.com",
		"\tCRM.Acme.COM.\n":                     "crm.acme.com",
		"crm.bücher.de":                         "crm.xn--bcher-kva.de",
		"CRM.BÜCHER.DE":                         "crm.xn--bcher-kva.de",
		"xn--bcher-kva.de":                      "xn--bcher-kva.de",
		"ｃｒｍ.acme.com":                          "crm.acme.com", // full width
		"crm。acme。com":                          "crm.acme.com", // ideographic full stops
		"a.b.c.d.acme.co.uk":                    "a.b.c.d.acme.co.uk",
		"acme.github.io":                        "acme.github.io",
		"crm.acme.test":                         "crm.acme.test",
		"3com.com":                              "3com.com",
		"notfunnel.example":                     "notfunnel.example",
		"xapp.funnel.example":                   "xapp.funnel.example",
		long + strings.Repeat("d", 54) + ".com": long + strings.Repeat("d", 54) + ".com",
	} {
		if got, err := s.Host(given); err != nil || got != want {
			t.Errorf("%q: %q, %v; want %q", given, got, err, want)
		}
	}
	for given, want := range map[string]string{
		"": "required", " ": "required", ".": "required",
		"acme": "invalid_domain", "https://crm.acme.com": "invalid_domain", "crm.acme.com/": "invalid_domain",
		"crm.acme.com:443": "invalid_domain", "user@acme.com": "invalid_domain",
		"*.acme.com": "invalid_domain", "crm..acme.com": "invalid_domain", ".acme.com": "invalid_domain",
		"-crm.acme.com": "invalid_domain", "crm-.acme.com": "invalid_domain",
		"_dmarc.acme.com": "invalid_domain", "crm acme.com": "invalid_domain", "crm.acme.com\x00": "invalid_domain",
		"crm.acme.com\n.x.com": "invalid_domain", "xn--a.acme.com": "invalid_domain",
		"crm.acme.com..": "invalid_domain", "crm%2eacme.com": "invalid_domain", "crm.acme.com?x": "invalid_domain",
		strings.Repeat("a", 64) + ".com": "invalid_domain",
		"127.0.0.1":                      "ip_address", "::1": "ip_address", "[2001:db8::1]": "ip_address",
		"0x7f.1": "ip_address", "1.2.3": "ip_address", "2130706433": "ip_address", "0177.0.0.1": "ip_address",
		"１２７.0.0.1": "ip_address", "fe80::1%eth0": "ip_address", "acme.0x7f": "ip_address",
		"com": "invalid_domain", "co.uk": "public_suffix", "github.io": "public_suffix", "foo.ck": "public_suffix",
		"s3.amazonaws.com": "public_suffix",
		"www.localhost":    "reserved_domain", "printer.local": "reserved_domain", "db.internal": "reserved_domain",
		"1.168.192.in-addr.arpa": "reserved_domain", "x.onion": "reserved_domain",
		"app.funnel.example": "own_domain", "x.app.funnel.example": "own_domain", "APP.funnel.example.": "own_domain",
		"edge.funnel.example": "own_domain", "a.edge.funnel.example": "own_domain",
		long + strings.Repeat("d", 60) + ".com": "too_long",
	} {
		got, err := s.Host(given)
		f := fault.Of(err)
		if f == nil || f.Code != fault.ValidationFailed {
			t.Errorf("%q: %q, %v; want %s", given, got, err, fault.ValidationFailed)
			continue
		}
		fields := []fault.FieldError{{Pointer: "#/domain", Code: want}}
		if diff := cmp.Diff(fields, f.Fields, cmpopts.IgnoreFields(fault.FieldError{}, "Detail")); diff != "" {
			t.Errorf("%q (-want +got):\n%s", given, diff)
		}
	}
}
