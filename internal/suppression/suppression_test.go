package suppression_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/funnelwork/funnelwork/internal/fault"
	"github.com/funnelwork/funnelwork/internal/form"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/suppression"
)

func TestASuppressionRefusesTheMailsOfItsPurposeToItsAddresses(t *testing.T) {
	t.Parallel()
	d := open(t)
	d.add(d.org, suppression.New{Email: "Eve@Example.com", Purpose: suppression.Marketing, Reason: "unsubscribe"})
	d.add(d.org, suppression.New{Email: "bob@example.com", Purpose: suppression.All, Reason: "hard_bounce"})
	d.add(d.org, suppression.New{Domain: "Bücher.example.", Purpose: suppression.All, Reason: "manual"})
	for _, c := range []struct {
		address             string
		marketing, personal string
	}{
		{"eve@EXAMPLE.com", "unsubscribe", ""},
		{"EVE@example.com", "unsubscribe", ""},
		{"bob@example.com", "hard_bounce", "hard_bounce"},
		{"ada@example.com", "", ""},
		{"ada@bücher.example", "manual", "manual"},
		{"ada@XN--BCHER-KVA.example", "manual", "manual"},
		{"ada@shop.bücher.example", "", ""},
		{"eve@example.com.example", "", ""},
	} {
		if got := d.refuses(d.org, c.address, true); got != c.marketing {
			t.Errorf("marketing to %s: %q, want %q", c.address, got, c.marketing)
		}
		if got := d.refuses(d.org, c.address, false); got != c.personal {
			t.Errorf("personal mail to %s: %q, want %q", c.address, got, c.personal)
		}
		if got := d.refuses(id.New(), c.address, true); got != "" {
			t.Errorf("another org's mail to %s: %q", c.address, got)
		}
	}
}

func TestTwoPurposesOfOneAddressAreTwoSuppressionsAndNoneIsDoubled(t *testing.T) {
	t.Parallel()
	d := open(t)
	eve := suppression.New{Email: "eve@example.com", Purpose: suppression.Marketing, Reason: "unsubscribe"}
	first, added := d.add(d.org, eve)
	if again, twice := d.add(d.org, eve); !added || twice || again.ID != first.ID {
		t.Errorf("added %v, then %v: %s and %s", added, twice, first.ID, again.ID)
	}
	eve.Purpose = suppression.All
	if other, added := d.add(d.org, eve); !added || other.ID == first.ID {
		t.Errorf("for all: added %v, %s", added, other.ID)
	}
}

func TestAHashOutlivesItsAddress(t *testing.T) {
	t.Parallel()
	d := open(t)
	d.add(d.org, suppression.New{
		Email: "Eve@example.com", Purpose: suppression.All, Reason: "complaint", Note: "Eve Moneypenny of MI6",
	})
	d.in(d.org, func(ctx context.Context, tx *postgres.Tx) error { return d.service.Erase(ctx, tx, "eve@EXAMPLE.com") })
	if got := d.refuses(d.org, "eve@example.com", false); got != "complaint" {
		t.Errorf("after the purge: %q", got)
	}
	if n := d.count(`suppression WHERE suppression::text ILIKE '%eve%'
		OR suppression::text ILIKE '%example.com%'`); n != 0 {
		t.Error("the row still has the address")
	}
	d.in(d.org, func(ctx context.Context, tx *postgres.Tx) error {
		found, err := d.service.List(ctx, tx, suppression.Filter{Email: "EVE@example.com"}, id.ID{}, 10)
		if len(found) != 1 || found[0].Email != nil || found[0].Note != "" {
			t.Errorf("found %+v", found)
		}
		return err
	})
	// A dump of the table and a list of addresses do not say who it was: the key is the org's, and sealed.
	if n := d.count(`suppression WHERE hash = sha256('eve@example.com')
		OR hash = sha256('suppression.email' || '\000'::bytea || 'eve@example.com')`); n != 0 {
		t.Error("the hash has no key")
	}
	if _, added := d.add(d.org, suppression.New{Email: "eve@example.com", Purpose: suppression.All}); added {
		t.Error("the address was added again")
	}
}

func TestALiftedSuppressionRefusesNothingAndSaysWhy(t *testing.T) {
	t.Parallel()
	d := open(t)
	eve := suppression.New{Email: "eve@example.com", Purpose: suppression.All, Reason: "complaint"}
	s, _ := d.add(d.org, eve)
	lift := func(may error) (out suppression.Suppression, lifted bool, err error) {
		err = d.App.Tx(t.Context(), d.org, func(tx *postgres.Tx) (err error) {
			out, lifted, err = d.service.Lift(t.Context(), tx, s.ID, "asked again", "user/ada",
				func(suppression.Suppression) error { return may })
			return err
		})
		return out, lifted, err
	}
	errNot := errors.New("not you")
	if _, _, err := lift(errNot); !errors.Is(err, errNot) || d.refuses(d.org, "eve@example.com", false) == "" {
		t.Errorf("without the right: %v", err)
	}
	for want := true; ; want = false {
		out, lifted, err := lift(nil)
		if err != nil || lifted != want || out.LiftReason == nil || *out.LiftReason != "asked again" {
			t.Errorf("lifted %v, %+v, %v", lifted, out, err)
		}
		if !want {
			break
		}
	}
	if got := d.refuses(d.org, "eve@example.com", false); got != "" {
		t.Errorf("still refused: %s", got)
	}
	if n := d.count(`suppression WHERE lifted_by = 'user/ada'`); n != 1 {
		t.Errorf("%d rows say who lifted", n)
	}
	if again, added := d.add(d.org, eve); !added || again.ID == s.ID {
		t.Error("a lifted suppression cannot be made again")
	}
	err := d.App.Tx(t.Context(), id.New(), func(tx *postgres.Tx) error {
		_, _, err := d.service.Lift(t.Context(), tx, s.ID, "x", "", func(suppression.Suppression) error { return nil })
		return err
	})
	if !fault.Is(err, fault.NotFound) {
		t.Errorf("another org lifts it: %v", err)
	}
}

func TestAContactWhoConsentsAnewLiftsItsOwnUnsubscribingOnly(t *testing.T) {
	t.Parallel()
	d := open(t)
	d.add(d.org, suppression.New{Email: "eve@example.com", Purpose: suppression.Marketing, Reason: "unsubscribe"})
	d.add(d.org, suppression.New{Email: "bob@example.com", Purpose: suppression.All, Reason: "complaint"})
	for _, address := range []string{"Eve@example.com", "bob@example.com"} {
		d.in(d.org, func(ctx context.Context, tx *postgres.Tx) error { return d.service.Resubscribe(ctx, tx, address) })
	}
	got := []string{d.refuses(d.org, "eve@example.com", true), d.refuses(d.org, "bob@example.com", true)}
	if diff := cmp.Diff([]string{"", "complaint"}, got); diff != "" {
		t.Error(diff)
	}
}

func TestABatchAddsWhatIsNewAndLeavesTheRest(t *testing.T) {
	t.Parallel()
	d := open(t)
	d.add(d.org, suppression.New{
		Email: "eve@example.com", Purpose: suppression.All, Reason: "complaint", Note: "first",
	})
	all := []suppression.New{
		{Email: "EVE@example.com", Purpose: suppression.All, Reason: "manual"},
		{Email: "eve@example.com", Purpose: suppression.Marketing, Reason: "manual"},
		{Email: "bob@example.com", Purpose: suppression.All, Reason: "hard_bounce", Note: "one"},
		{Email: "Bob@example.com", Purpose: suppression.All, Reason: "manual", Note: "two"},
		{Domain: "spam.example", Purpose: suppression.All, Reason: "manual", Source: "import", By: "user/ada"},
	}
	for _, want := range []int{3, 0} {
		d.in(d.org, func(ctx context.Context, tx *postgres.Tx) error {
			n, err := d.service.AddAll(ctx, tx, all)
			if n != want {
				t.Errorf("%d added, want %d", n, want)
			}
			return err
		})
	}
	got := []string{
		d.refuses(d.org, "eve@example.com", false), d.refuses(d.org, "bob@example.com", false),
		d.refuses(d.org, "any@spam.example", false),
	}
	if diff := cmp.Diff([]string{"complaint", "hard_bounce", "manual"}, got); diff != "" {
		t.Error(diff)
	}
	if n := d.count(`suppression WHERE note IN ('first', 'one')`); n != 2 {
		t.Errorf("%d of the first notes are left", n)
	}
}

func TestWhatCannotBeSuppressedIsRefused(t *testing.T) {
	t.Parallel()
	for _, n := range []suppression.New{
		{},
		{Email: "eve"},
		{Email: "eve@example.com", Domain: "example.com"},
		{Domain: "example"},
		{Domain: "a b.example"},
		{Email: "eve@example.com", Purpose: "none"},
		{Email: "eve@example.com", Reason: "whim"},
		{Email: "eve@example.com", Note: strings.Repeat("é", 501)},
		{Email: "eve@example.com", Note: "\x00"},
	} {
		f := form.At("")
		if n.Check(f); f.OK() {
			t.Errorf("%+v is taken", n)
		}
	}
	f, n := form.At(""), suppression.New{Email: " eve@example.com ", Note: strings.Repeat("é", 500)}
	n.Check(f)
	want := suppression.New{Email: "eve@example.com", Purpose: "all", Reason: "manual", Note: n.Note}
	if diff := cmp.Diff(want, n); diff != "" || !f.OK() {
		t.Errorf("%v (-want +got):\n%s", f.Fault(), diff)
	}
}

func TestThePlatformsSuppressionsBindEveryOrgAndNoOrgChangesThem(t *testing.T) {
	t.Parallel()
	d := open(t)
	other := id.New()
	d.add(d.org, suppression.New{Email: "eve@example.com", Purpose: suppression.Marketing, Reason: "unsubscribe"})
	s, added := d.add(id.ID{}, suppression.New{Email: "Eve@Example.com", Purpose: suppression.All, Reason: "complaint"})
	d.add(id.ID{}, suppression.New{Domain: "trap.example", Purpose: suppression.Marketing, Reason: "manual"})
	if !added {
		t.Fatal("not added")
	}
	for _, org := range []id.ID{d.org, other, {}} {
		got := []string{
			d.refuses(org, "eve@example.com", false), d.refuses(org, "x@trap.example", true),
			d.refuses(org, "x@trap.example", false), d.refuses(org, "ada@example.com", true),
		}
		if diff := cmp.Diff([]string{"complaint", "manual", "", ""}, got); diff != "" {
			t.Errorf("org %s (-want +got):\n%s", org, diff)
		}
	}
	if got := d.refuses(d.org, "eve@example.com", true); got != "unsubscribe" {
		t.Errorf("of the org's own and the platform's, %q is named", got)
	}
	d.in(other, func(ctx context.Context, tx *postgres.Tx) error {
		n, err := d.service.Count(ctx, tx, suppression.Filter{})
		if n != 0 {
			t.Errorf("an org lists %d of the platform's", n)
		}
		return errors.Join(err, d.service.Resubscribe(ctx, tx, "eve@example.com"))
	})
	err := d.App.Tx(t.Context(), other, func(tx *postgres.Tx) error {
		n, err := tx.Exec(t.Context(), `UPDATE suppression SET lifted_at = now()`)
		if n != 0 {
			t.Errorf("an org changed %d rows of the platform", n)
		}
		return err
	})
	if err != nil || d.refuses(other, "eve@example.com", false) != "complaint" {
		t.Errorf("an org lifted it: %v", err)
	}
	d.in(id.ID{}, func(ctx context.Context, tx *postgres.Tx) error {
		_, lifted, err := d.service.Lift(ctx, tx, s.ID, "a mistake", "operator/ada",
			func(suppression.Suppression) error { return nil })
		if !lifted {
			t.Error("not lifted")
		}
		return err
	})
	if got := d.refuses(other, "eve@example.com", false); got != "" {
		t.Errorf("after lifting: %q", got)
	}
}
