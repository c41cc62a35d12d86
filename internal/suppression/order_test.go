package suppression_test

import (
	"context"
	"testing"

	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/suppression"
)

// ways are the ways to suppress eve@example.com.
var ways = map[string]func(*suppression.Service, context.Context, *postgres.Tx) error{
	"one": func(s *suppression.Service, ctx context.Context, tx *postgres.Tx) error {
		_, _, err := s.Add(ctx, tx, suppression.New{Email: "eve@example.com", Purpose: suppression.All})
		return err
	},
	"a batch": func(s *suppression.Service, ctx context.Context, tx *postgres.Tx) error {
		_, err := s.AddAll(ctx, tx, []suppression.New{
			{Email: "adam@example.com", Purpose: suppression.All},
			{Email: "eve@example.com", Purpose: suppression.All},
			{Domain: "spam.example", Purpose: suppression.All},
		})
		return err
	},
	"by the platform": func(s *suppression.Service, ctx context.Context, tx *postgres.Tx) error {
		return tx.In(ctx, id.ID{}, func() error {
			_, _, err := s.Add(ctx, tx, suppression.New{Email: "eve@example.com", Purpose: suppression.All})
			return err
		})
	},
	"the domain": func(s *suppression.Service, ctx context.Context, tx *postgres.Tx) error {
		_, _, err := s.Add(ctx, tx, suppression.New{Domain: "example.com", Purpose: suppression.All})
		return err
	},
}

// found is the transaction of a mark: it takes the locks and looks for a suppression of eve@example.com.
func (d *desk) found(at *bool) func(ctx context.Context, tx *postgres.Tx) error {
	return func(ctx context.Context, tx *postgres.Tx) error {
		keys, err := d.service.Keys(ctx, tx, "eve@example.com")
		if err != nil {
			return err
		}
		keys.Guard(tx)
		s, err := suppression.Find(ctx, tx, keys, false)
		*at = s != nil
		return err
	}
}

func TestAMarkWaitsForASuppressionThatIsUnderWayAndSeesIt(t *testing.T) {
	t.Parallel()
	for name, suppress := range ways {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := open(t)
			for _, org := range []id.ID{d.org, {}} { // creates the keys
				d.add(org, suppression.New{Email: "x@example.org", Purpose: suppression.All})
			}
			added, commit := d.begin(func(ctx context.Context, tx *postgres.Tx) error {
				return suppress(d.service, ctx, tx)
			})
			<-added
			var suppressed bool
			marked, end := d.begin(d.found(&suppressed))
			d.untilWaiting()
			commit()
			<-marked
			end()
			if !suppressed {
				t.Error("the mark did not see the suppression that was under way")
			}
		})
	}
}

func TestASuppressionWaitsForAMarkThatIsUnderWay(t *testing.T) {
	t.Parallel()
	for name, suppress := range ways {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := open(t)
			for _, org := range []id.ID{d.org, {}} { // creates the keys
				d.add(org, suppression.New{Email: "x@example.org", Purpose: suppression.All})
			}
			var suppressed bool
			marked, end := d.begin(d.found(&suppressed))
			<-marked
			added, commit := d.begin(func(ctx context.Context, tx *postgres.Tx) error {
				return suppress(d.service, ctx, tx)
			})
			d.untilWaiting()
			select {
			case <-added:
				t.Error("the suppression was written beside the mark")
			default:
			}
			end()
			<-added
			commit()
			if suppressed || d.count(`suppression`) < 3 {
				t.Errorf("the mark saw it: %v", suppressed)
			}
		})
	}
}
