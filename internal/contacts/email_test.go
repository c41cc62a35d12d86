package contacts_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/funnelwork/funnelwork/internal/compare"
	"github.com/funnelwork/funnelwork/internal/contacts"
)

func TestAddresses(t *testing.T) {
	t.Parallel()
	for _, ok := range []string{
		"a@b.co", "first.last+tag@sub.example.com", "o'brien@example.ie", "!#$%&'*+-/=?^_`{|}~@example.com",
		"用户@例子.广告", "dörte@sörensen.example",
		"x@xn--mnchen-3ya.example", "a@1.example", strings.Repeat("a", 64) + "@example.com",
	} {
		if !contacts.ValidEmail(ok) {
			t.Errorf("%q was refused", ok)
		}
	}
	for _, bad := range []string{
		"", "a", "@b.co", "a@", "a@b", "a b@c.co", "a@b..co", ".a@b.co", "a.@b.co", "a..b@c.co", "a@-b.co", "a@b-.co",
		"a@b.co.", "a@b@c.co", `"a b"@c.co`,
		"a@[127.0.0.1]", "a@127.0.0.1", " a@b.co", "a@b.co ", "a@b.co\n", "a\u0000@b.co", "a@b_c.co", "a@b.co,c@d.co",
		"<a@b.co>", "a\u2028b@c.co",
		strings.Repeat("a", 65) + "@example.com", "a@" + strings.Repeat("b", 64) + ".co",
		"a@" + strings.Repeat("bbbbbbb.", 40) + "co", "a\xff@b.co",
	} {
		if contacts.ValidEmail(bad) {
			t.Errorf("%q was taken", bad)
		}
	}
}

func TestWords(t *testing.T) {
	t.Parallel()
	for in, want := range map[string][]string{
		"":                          {},
		"Ada LOVELACE ada":          {"ada", "lovelace"},
		"jean-luc.picard@uss-e.org": {"jean", "luc", "picard", "uss", "e", "org"},
		"ÉMILE zoë":                 {"emile", "zoe"},
		strings.Repeat("x", 100):    {strings.Repeat("x", 40)},
		strings.Repeat("é", 100):    {strings.Repeat("e", 40)},
	} {
		if diff := cmp.Diff(want, compare.Words(in)); diff != "" {
			t.Errorf("%q: %s", in, diff)
		}
	}
	if n := len(compare.Words(strings.Join(strings.Split(strings.Repeat("abcdefghijklmnopqrstuvwxyz", 1), ""),
		" "))); n != 24 {
		t.Errorf("%d words kept, want 24", n)
	}
}
