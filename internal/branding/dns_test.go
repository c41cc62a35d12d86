package branding_test

import (
	"context"
	"net"
	"net/netip"
	"testing"
	"testing/synctest"
	"time"

	"golang.org/x/net/dns/dnsmessage"

	"github.com/funnelwork/funnelwork/internal/branding"
	"github.com/funnelwork/funnelwork/internal/testkit"
)

const (
	host   = "crm.acme.test"
	target = "edge.funnel.test"
	place  = "_funnelwork.crm.acme.test"
	token  = "funnelwork-verify=0123456789abcdef0123456789abcdef"
)

// set adds the same record to several servers.
func set(name, kind string, values ...string) func(...*testkit.NameServer) {
	return func(servers ...*testkit.NameServer) {
		for _, n := range servers {
			n.Set(name, kind, values...)
		}
	}
}

// TestEveryCaseOfTheDNS runs each case on two resolvers and checks their combined findings.
func TestEveryCaseOfTheDNS(t *testing.T) {
	t.Parallel()
	proof, lead := set(place, "TXT", token), set(host, "CNAME", target)
	both := func(fns ...func(...*testkit.NameServer)) func(a, b *testkit.NameServer) {
		return func(a, b *testkit.NameServer) {
			for _, fn := range fns {
				fn(a, b)
			}
		}
	}
	troubled := func(name string, how testkit.Trouble) func(a, b *testkit.NameServer) {
		return func(a, b *testkit.NameServer) {
			both(proof, lead)(a, b)
			b.Trouble(name, how)
		}
	}
	for name, c := range map[string]struct {
		play         func(a, b *testkit.NameServer)
		proof, route branding.Finding
		seen         string
	}{
		"right":          {both(proof, lead), branding.Right, branding.Right, ""},
		"nothing at all": {both(), branding.Missing, branding.Missing, ""},
		"the names have others": {
			both(set(place, "A", "192.0.2.1"), set(host, "TXT", "v=spf1")),
			branding.Missing, branding.Missing, "",
		},
		"no TXT": {both(lead), branding.Missing, branding.Right, ""},
		"another token": {
			both(lead, set(place, "TXT", "funnelwork-verify=ffff")), branding.Wrong,
			branding.Right, "funnelwork-verify=ffff",
		},
		"another's beside ours": {
			both(lead, set(place, "TXT", "funnelwork-verify=ffff", token)), branding.Right,
			branding.Right, "",
		},
		"the token in two strings": {
			both(lead, set(place, "TXT", token[:30]+"|"+token[30:])), branding.Right,
			branding.Right, "",
		},
		"the token in two records": {
			both(lead, set(place, "TXT", token[:30], token[30:])), branding.Wrong,
			branding.Right, token[30:],
		},
		"quotes of a form": {
			both(lead, set(place, "TXT", `"`+token+`" `)), branding.Right, branding.Right,
			"",
		},
		"the TXT behind a CNAME": {both(lead, set(place, "CNAME", "proof.dns.test"),
			set("proof.dns.test", "TXT", token)), branding.Right, branding.Right, ""},
		"no CNAME": {both(proof), branding.Right, branding.Missing, ""},
		"a CNAME to elsewhere": {
			both(proof, set(host, "CNAME", "shop.other.test")), branding.Right,
			branding.Wrong, "shop.other.test",
		},
		"a CNAME by another": {both(proof, set(host, "CNAME", "www.acme.test"),
			set("www.acme.test", "CNAME", target)), branding.Right, branding.Right, ""},
		"a CNAME round in circles": {both(proof, set(host, "CNAME", "www.acme.test"),
			set("www.acme.test", "CNAME", host)), branding.Right, branding.Unknown, ""},
		"flattened": {both(proof, set(host, "A", "192.0.2.7"),
			set(target, "A", "192.0.2.7", "192.0.2.8")), branding.Right, branding.Right, ""},
		"flattened, both families": {both(proof, set(host, "A", "192.0.2.7"), set(host, "AAAA", "2001:db8::7"),
			set(target, "A", "192.0.2.7"), set(target, "AAAA", "2001:db8::7")), branding.Right, branding.Right, ""},
		"flattened, one elsewhere": {
			both(proof, set(host, "A", "192.0.2.7"), set(host, "AAAA", "2001:db8::9"),
				set(target, "A", "192.0.2.7"), set(target, "AAAA", "2001:db8::7")), branding.Right, branding.Wrong,
			"192.0.2.7",
		},
		"an address of others": {
			both(proof, set(host, "A", "198.51.100.1"), set(target, "A", "192.0.2.7")),
			branding.Right, branding.Wrong, "198.51.100.1",
		},
		"only one has the TXT": {func(a, b *testkit.NameServer) {
			both(lead)(a, b)
			proof(a)
		}, branding.Split, branding.Right, ""},
		"only the other has it": {func(a, b *testkit.NameServer) {
			both(lead)(a, b)
			proof(b)
		}, branding.Split, branding.Right, ""},
		"one has an old TXT": {func(a, b *testkit.NameServer) {
			both(lead)(a, b)
			proof(a)
			set(place, "TXT", "old")(b)
		}, branding.Split, branding.Right, "old"},
		"only one has the CNAME": {func(a, b *testkit.NameServer) {
			both(proof)(a, b)
			lead(a)
		}, branding.Right, branding.Split, ""},
		"SERVFAIL for the TXT":  {troubled(place, testkit.ServFail), branding.Unknown, branding.Right, ""},
		"REFUSED for the TXT":   {troubled(place, testkit.Refused), branding.Unknown, branding.Right, ""},
		"SERVFAIL for the host": {troubled(host, testkit.ServFail), branding.Right, branding.Unknown, ""},
		"an answer cut short":   {troubled(place, testkit.Cut), branding.Right, branding.Right, ""},
		"SERVFAIL, and the other no": {func(_, b *testkit.NameServer) {
			b.Trouble(place, testkit.ServFail)
		}, branding.Unknown, branding.Missing, ""},
		"SERVFAIL for the target": {func(a, b *testkit.NameServer) {
			both(proof, set(host, "A", "192.0.2.7"))(a, b)
			b.Trouble(target, testkit.ServFail)
		}, branding.Right, branding.Unknown, ""},
		"not our bytes": {both(proof, lead, set(place, "TXT", "\x01\xff")), branding.Wrong, branding.Right, "??"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a, b := testkit.DNS(t), testkit.DNS(t)
			c.play(a, b)
			s := branding.NewDomains(branding.DomainOptions{
				Target: target,
				Views: []branding.View{
					branding.NameServers{Servers: []string{a.Addr}},
					branding.NameServers{Servers: []string{b.Addr}},
				},
			})
			got := s.CheckDNS(t.Context(), &branding.Domain{Host: host, Token: token[len("funnelwork-verify="):]})
			if got.Proof != c.proof || got.Route != c.route || got.Seen != c.seen {
				t.Errorf("TXT %s, CNAME %s, seen %q; want %s, %s, %q", got.Proof, got.Route, got.Seen, c.proof,
					c.route, c.seen)
			}
		})
	}
}

// A resolver that does not respond uses up the timeout and yields no finding. The same holds for a missing resolver and
// for spoofed responses.
func TestASilentResolverSaysNothing(t *testing.T) {
	t.Parallel()
	for name, how := range map[string]testkit.Trouble{
		"silent":               testkit.Silent,
		"a stranger's guesses": testkit.Garbage,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a, b := testkit.DNS(t), testkit.DNS(t)
			set(host, "CNAME", target)(a, b)
			b.Trouble(place, how)
			s := branding.NewDomains(branding.DomainOptions{
				Target: target,
				Views: []branding.View{
					branding.NameServers{Servers: []string{a.Addr}},
					branding.NameServers{Servers: []string{b.Addr}},
				},
			})
			if got := s.CheckDNS(t.Context(),
				&branding.Domain{Host: host, Token: "x"}); got.Proof != branding.Unknown ||
				got.Route != branding.Right {
				t.Errorf("TXT %s, CNAME %s", got.Proof, got.Route)
			}
			if b.Asked(place) < 2 {
				t.Error("it was not asked again")
			}
		})
	}
}

func TestTheSecondServerOfAResolverIsAskedWhereTheFirstIsGone(t *testing.T) {
	t.Parallel()
	n := testkit.DNS(t)
	set(place, "TXT", token)(n)
	gone, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	_ = gone.Close()
	s := branding.NewDomains(branding.DomainOptions{
		Target: target,
		Views:  []branding.View{branding.NameServers{Servers: []string{gone.LocalAddr().String(), n.Addr}}},
	})
	if got := s.CheckDNS(t.Context(),
		&branding.Domain{Host: host, Token: token[len("funnelwork-verify="):]}); got.Proof != branding.Right {
		t.Errorf("TXT %s", got.Proof)
	}
}

// TestTheZonesOwnServersAreAsked: the resolver's cache still has a record that its zone no longer has.
func TestTheZonesOwnServersAreAsked(t *testing.T) {
	t.Parallel()
	look := func(resolver, zone *testkit.NameServer, allow func(netip.Addr) bool) branding.DNSCheck {
		_, port, _ := net.SplitHostPort(zone.Addr)
		via := branding.NameServers{Servers: []string{resolver.Addr}}
		s := branding.NewDomains(branding.DomainOptions{
			Target: target,
			Views:  []branding.View{via, branding.Authority{Via: via, Port: port, Allow: allow}},
		})
		return s.CheckDNS(t.Context(), &branding.Domain{Host: host, Token: token[len("funnelwork-verify="):]})
	}
	fresh := func() (resolver, zone *testkit.NameServer) {
		resolver, zone = testkit.DNS(t), testkit.DNS(t)
		set("acme.test", "NS", "ns1.acme.test")(resolver)
		set("ns1.acme.test", "A", "127.0.0.1")(resolver)
		set("funnel.test", "NS", "ns1.acme.test")(resolver)
		set(place, "TXT", token)(resolver)
		set(host, "CNAME", target)(resolver, zone)
		return resolver, zone
	}
	resolver, zone := fresh()
	if got := look(resolver, zone, nil); got.Proof != branding.Split || got.Route != branding.Right {
		t.Errorf("the zone has dropped the record: TXT %s, CNAME %s", got.Proof, got.Route)
	}
	set(place, "TXT", token)(zone)
	if got := look(resolver, zone, nil); got.Proof != branding.Right || got.Route != branding.Right {
		t.Errorf("both have it: TXT %s, CNAME %s", got.Proof, got.Route)
	}
	if got := look(resolver, zone, func(netip.Addr) bool { return false }); got.Proof != branding.Unknown {
		t.Errorf("the zone's servers may not be asked: TXT %s", got.Proof)
	}
	lameResolver, lame := fresh()
	lame.Disown()
	if got := look(lameResolver, lame, nil); got.Proof != branding.Unknown {
		t.Errorf("the zone's server does not know the zone: TXT %s", got.Proof)
	}
	lost, _ := fresh()
	lost.Trouble("acme.test", testkit.ServFail)
	if got := look(lost, zone, nil); got.Proof != branding.Unknown {
		t.Errorf("the zone cannot be found: TXT %s", got.Proof)
	}
}

func TestResolversAreReadFromTheSetting(t *testing.T) {
	t.Parallel()
	for setting, want := range map[string]int{
		"system": 1, "authority": 1, "9.9.9.9": 1, "127.0.0.1:53000": 1,
		"[2001:db8::1]:5353": 1, "resolver.example": 0, "": 0,
	} {
		views, err := branding.Views([]string{setting}, nil)
		if len(views) != want || (err == nil) != (want > 0) {
			t.Errorf("%q: %d views, %v", setting, len(views), err)
		}
	}
	views, err := branding.Views([]string{"authority", "127.0.0.1:53", "system"}, nil)
	if err != nil || len(views) != 3 {
		t.Fatalf("%d views, %v", len(views), err)
	}
	if a, ok := views[2].(branding.Authority); !ok || len(a.Via.(branding.NameServers).Servers) != 1 {
		t.Errorf("%#v does not find zones by the first resolver", views[2])
	}
}

func TestALookEndsThoughNobodyAnswers(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		s := branding.NewDomains(branding.DomainOptions{Target: target, Views: []branding.View{deaf{}}})
		if got := s.CheckDNS(t.Context(), &branding.Domain{Host: host, Token: "x"}); got.Proof != branding.Unknown ||
			got.Route != branding.Unknown {
			t.Errorf("TXT %s, CNAME %s", got.Proof, got.Route)
		}
		if took := time.Since(began); took > 7*time.Second {
			t.Errorf("after %s", took)
		}
	})
}

// deaf responds only after the timeout.
type deaf struct{}

func (deaf) Ask(ctx context.Context, _ string, _ dnsmessage.Type) ([]dnsmessage.Resource, error) {
	<-ctx.Done()
	return nil, ctx.Err()
}
