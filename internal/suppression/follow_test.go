package suppression_test

import (
	"context"
	"testing"

	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/suppression"
)

func TestThePersonsWishFollowsToTheNewAddressAndTheBounceStays(t *testing.T) {
	t.Parallel()
	for reason, purpose := range map[string]string{
		suppression.Unsubscribe: suppression.Marketing, suppression.Complaint: suppression.All,
		suppression.Manual: suppression.All, suppression.HardBounce: "",
	} {
		d := open(t)
		n := suppression.New{Email: "ada@old.example", Purpose: suppression.All, Reason: reason, Source: "link"}
		if purpose != "" {
			n.Purpose = purpose
		}
		d.add(d.org, n)
		d.add(d.org, suppression.New{Domain: "old.example", Purpose: suppression.All, Reason: suppression.Manual})
		follow := func(from, to string) {
			d.in(d.org, func(ctx context.Context, tx *postgres.Tx) error { return d.service.Follow(ctx, tx, from, to) })
		}
		for range 2 {
			follow("Ada@OLD.example", "ada@new.example")
		}
		follow("ada@new.example", "ada@third.example")
		follow("nobody@old.example", "nobody@new.example")

		marketing := reason
		if purpose == "" {
			marketing = ""
		}
		one := marketing
		if purpose == suppression.Marketing {
			one = ""
		}
		for _, address := range []string{"ada@new.example", "ADA@third.example"} {
			if got := d.refuses(d.org, address, true); got != marketing {
				t.Errorf("%s at %s: marketing is refused by %q, want %q", reason, address, got, marketing)
			}
			if got := d.refuses(d.org, address, false); got != one {
				t.Errorf("%s at %s: a personal mail is refused by %q, want %q", reason, address, got, one)
			}
		}
		if got := d.refuses(d.org, "ada@old.example", true); got == "" {
			t.Errorf("%s: the old address is free for whoever takes it", reason)
		}
		if got := d.refuses(d.org, "nobody@new.example", true); got != "" {
			t.Errorf("%s: somebody who wished nothing is refused by %q", reason, got)
		}
	}
}
