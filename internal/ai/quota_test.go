package ai_test

import (
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/funnelwork/funnelwork/internal/ai"
	"github.com/funnelwork/funnelwork/internal/fault"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/testkit"
)

// shop is a test org with an account.
type shop struct {
	*testkit.Database
	t   *testing.T
	org id.ID
}

func open(t *testing.T) *shop {
	t.Helper()
	s := &shop{testkit.DB(t), t, id.New()}
	if err := s.System.Tx(t.Context(), s.org, func(tx *postgres.Tx) error {
		tx.Queue(`INSERT INTO org (id, name) VALUES ($1, 'Shop')`, s.org)
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	return s
}

func (s *shop) reserve(estimate, limit int64) (r ai.Reservation, err error) {
	err = s.App.Tx(s.t.Context(), s.org, func(tx *postgres.Tx) (err error) {
		r, err = ai.Reserve(s.t.Context(), tx,
			ai.Want{Operation: "draft_email", Estimate: estimate, Limit: limit, Timeout: time.Minute, RequestID: "r"})
		return err
	})
	return r, err
}

func (s *shop) settle(r id.ID, used int64) error {
	return s.App.Tx(s.t.Context(), s.org, func(tx *postgres.Tx) error { return ai.Settle(s.t.Context(), tx, r, used) })
}

func (s *shop) sweep() (n int) {
	s.t.Helper()
	if err := s.App.Tx(s.t.Context(), s.org, func(tx *postgres.Tx) (err error) {
		n, err = ai.Sweep(s.t.Context(), tx, 100)
		return err
	}); err != nil {
		s.t.Fatal(err)
	}
	return n
}

// month returns the account and checks that it agrees with the reservations.
func (s *shop) month() (m ai.Month) {
	s.t.Helper()
	var used, reserved int64
	if err := s.App.ReadTx(s.t.Context(), s.org, func(tx *postgres.Tx) (err error) {
		if m, err = ai.ThisMonth(s.t.Context(), tx); err != nil {
			return err
		}
		return tx.QueryRow(s.t.Context(),
			`SELECT coalesce(sum(charged), 0)::bigint, coalesce(sum(estimate) FILTER (WHERE state = 'open'),
				0)::bigint FROM ai_reservation WHERE org_id = $1`,
			[]any{s.org}, &used, &reserved)
	}); err != nil {
		s.t.Fatal(err)
	}
	if m.Used != used || m.Reserved != reserved {
		s.t.Fatalf("the account has %d used and %d reserved, its reservations say %d and %d", m.Used, m.Reserved,
			used, reserved)
	}
	return m
}

// lose makes open reservations expire.
func (s *shop) lose() {
	s.t.Helper()
	conn := testkit.Pgx(s.t, s.URL)
	if _, err := conn.Exec(s.t.Context(),
		`UPDATE ai_reservation SET expires_at = now() - interval '1 second' WHERE org_id = $1`, s.org); err != nil {
		s.t.Fatal(err)
	}
}

// Each of 200 concurrent callers reserves, settles at its estimate and frees its slot. The month has room for 50, so
// exactly 50 succeed.
func TestOf200AtOnceExactlyAsManyFindRoomAsThereIs(t *testing.T) {
	t.Parallel()
	s := open(t)
	const estimate, limit = 100, 50*100 + 99
	var (
		got, over atomic.Int64
		all       sync.WaitGroup
	)
	for range 200 {
		all.Go(func() {
			for {
				r, err := s.reserve(estimate, limit)
				switch {
				case fault.Is(err, fault.AIRateLimited):
					continue // five are in flight: the sixth retries
				case fault.Is(err, fault.AIQuotaExhausted):
					over.Add(1)
					return
				case err != nil:
					t.Error(err)
					return
				case r.Month.Used+r.Month.Reserved > limit:
					t.Errorf("used %d and reserved %d of %d", r.Month.Used, r.Month.Reserved, limit)
				}
				got.Add(1)
				if err := s.settle(r.ID, estimate); err != nil {
					t.Error(err)
				}
				return
			}
		})
	}
	all.Wait()
	if got.Load() != 50 || over.Load() != 150 {
		t.Errorf("%d found room and %d did not; there was room for 50", got.Load(), over.Load())
	}
	if m := s.month(); m.Used != 5000 || m.Reserved != 0 {
		t.Errorf("the account is %+v", m)
	}
}

func TestAtMostFiveAreUnderWay(t *testing.T) {
	t.Parallel()
	s := open(t)
	var last ai.Reservation
	for range ai.InFlight {
		var err error
		if last, err = s.reserve(10, ai.Unlimited); err != nil {
			t.Fatal(err)
		}
	}
	_, err := s.reserve(10, ai.Unlimited)
	f := fault.Of(err)
	if f == nil || f.Code != fault.AIRateLimited {
		t.Fatalf("a sixth: %v, want %s", err, fault.AIRateLimited)
	}
	if f.RetryAfter <= 0 {
		t.Fatalf("a sixth: retry after %v, want a positive time", f.RetryAfter)
	}
	if err := s.settle(last.ID, 3); err != nil {
		t.Fatal(err)
	}
	if _, err := s.reserve(10, ai.Unlimited); err != nil {
		t.Errorf("after one has ended: %v", err)
	}
}

func TestWhatThereIsNoRoomForIsSaidWithWhenThereWillBe(t *testing.T) {
	t.Parallel()
	s := open(t)
	if _, err := s.reserve(101, 100); !fault.Is(err, fault.AIRequestTooLarge) {
		t.Errorf("more than a month has: %v", err)
	}
	if _, err := s.reserve(60, 100); err != nil {
		t.Fatal(err)
	}
	_, err := s.reserve(60, 100)
	f := fault.Of(err)
	if f == nil || f.Code != fault.AIQuotaExhausted {
		t.Fatalf("over the limit: %v", err)
	}
	next := s.month().Resets()
	if at := time.Now().Add(f.RetryAfter); at.Sub(next).Abs() > time.Minute || next.Day() != 1 {
		t.Errorf("try again at %v, the next month begins at %v", at, next)
	}
}

// Random reservations, settlements (repeated, late or missing) and sweeps: the account always agrees with the
// reservations and, as estimates are never exceeded, stays within its limit.
func TestTheAccountAgreesWithItsReservationsWhateverHappens(t *testing.T) {
	t.Parallel()
	s := open(t)
	r := rand.New(rand.NewPCG(1, 2))
	const limit = 3000
	var known []id.ID
	used := map[id.ID]int64{}
	for range 150 {
		switch n := r.IntN(10); {
		case n < 5:
			estimate := int64(1 + r.IntN(200))
			got, err := s.reserve(estimate, limit)
			if err == nil {
				known = append(known, got.ID)
				used[got.ID] = int64(r.IntN(int(estimate) + 1))
			} else if !fault.Is(err, fault.AIRateLimited) && !fault.Is(err, fault.AIQuotaExhausted) {
				t.Fatal(err)
			}
		case n < 8 && len(known) > 0:
			one := known[r.IntN(len(known))]
			if err := s.settle(one, used[one]); err != nil {
				t.Fatal(err)
			}
		case n == 8:
			s.lose()
		default:
			s.sweep()
		}
		if m := s.month(); m.Used+m.Reserved > limit || m.Used < 0 {
			t.Fatalf("the account is %+v, its limit %d", m, limit)
		}
	}
}

func TestALostReservationIsChargedAndCorrectedWhenItsUsageIsKnown(t *testing.T) {
	t.Parallel()
	s := open(t)
	r, err := s.reserve(100, 1000)
	if err != nil {
		t.Fatal(err)
	}
	if n := s.sweep(); n != 0 {
		t.Fatalf("%d swept while the call is under way", n)
	}
	s.lose()
	if n := s.sweep(); n != 1 {
		t.Fatalf("%d swept, want 1", n)
	}
	if m := s.month(); m.Used != 100 || m.Reserved != 0 {
		t.Errorf("after the sweep: %+v", m)
	}
	for range 2 { // Settle is idempotent
		if err := s.settle(r.ID, 30); err != nil {
			t.Fatal(err)
		}
		if m := s.month(); m.Used != 30 || m.Reserved != 0 {
			t.Errorf("after it was settled: %+v", m)
		}
	}
	if err := s.settle(id.New(), 1); err == nil {
		t.Error("a reservation that never was is settled")
	}
}

func TestTwoWhoSettleAtOnceChargeOnce(t *testing.T) {
	t.Parallel()
	s := open(t)
	r, err := s.reserve(100, 1000)
	if err != nil {
		t.Fatal(err)
	}
	s.lose()
	var all sync.WaitGroup
	for i := range 8 {
		all.Go(func() {
			if i%2 == 0 {
				s.sweep()
			} else if err := s.settle(r.ID, 40); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if m := s.month(); m.Used != 40 || m.Reserved != 0 {
		t.Errorf("the account is %+v", m)
	}
}

func TestTheMonthIsToldAtFourFifthsAndWhenItIsUsedUpOnceEach(t *testing.T) {
	t.Parallel()
	s := open(t)
	told := func() (out string) {
		if err := testkit.Pgx(t, s.URL).QueryRow(t.Context(),
			`SELECT coalesce(string_agg(args ->> 'percent' || ':' || (args ->> 'used') || '/' || (args ->>
				'limit'), ' ' ORDER BY id), '')
			FROM job WHERE org_id = $1 AND kind = 'quota.announce' AND args ->> 'kind' = 'ai_tokens_month'`, s.org).
			Scan(&out); err != nil {
			t.Fatal(err)
		}
		return out
	}
	spend := func(tokens, limit int64) {
		r, err := s.reserve(tokens, limit)
		if err == nil {
			err = s.settle(r.ID, tokens)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, step := range []struct {
		tokens int64
		want   string
	}{{799, ""}, {1, "80:800/1000"}, {150, "80:800/1000"}} {
		if spend(step.tokens, 1000); told() != step.want {
			t.Errorf("after %d more %q is told, want %q", step.tokens, told(), step.want)
		}
	}
	for range 2 {
		r, err := s.reserve(60, 1000)
		if !fault.Is(err, fault.AIQuotaExhausted) {
			t.Fatal(err)
		}
		if err := s.App.Tx(t.Context(), s.org, func(tx *postgres.Tx) error {
			ai.Exhausted(tx, r.Month, 1000)
			return nil
		}); err != nil {
			t.Fatal(err)
		}
	}
	spend(50, 1000)
	if want := "80:800/1000 100:950/1000"; told() != want {
		t.Errorf("at the end %q is told, want %q", told(), want)
	}
	spend(5000, ai.Unlimited)
}
