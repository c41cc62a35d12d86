package stripe

import (
	"math/bits"
	"time"
)

// Money is counted in minor units of its currency, in int64; nothing here is a floating point number.

// part is amount * over / of, rounded half away from zero: what a line of that amount comes to for a share of its
// period, in seconds. The product is taken in 128 bits. It is the one place where proration rounds: previews and
// charges both come from here, so they agree to the minor unit, and a credit is exactly the debit it takes back.
// of must be positive, and over between 0 and of.
func part(amount, over, of int64) int64 {
	if over <= 0 || of <= 0 {
		return 0
	}
	negative := amount < 0
	if negative {
		amount = -amount
	}
	hi, lo := bits.Mul64(uint64(amount), uint64(over))
	quotient, rest := bits.Div64(hi, lo, uint64(of))
	if rest >= uint64(of)-rest {
		quotient++
	}
	if negative {
		return -int64(quotient)
	}
	return int64(quotient)
}

// smallest is the least amount that a card is charged, by currency; less goes to the customer's balance.
func smallest(currency string) int64 {
	switch currency {
	case "gbp":
		return 30
	case "jpy":
		return 50
	default:
		return 50
	}
}

// settlement is what an invoice of some total takes from or leaves on the customer's balance. A negative balance
// is credit.
type settlement struct {
	due            int64 // to be paid
	before, after  int64 // the customer's balance
	belowSmallest  bool  // the rest was too little to charge, and became a debt on the balance
	appliedBalance int64 // after - before
}

// settle is used by the preview and by the finalisation of an invoice alike.
func settle(total, balance int64, currency string) settlement {
	s := settlement{before: balance}
	switch sum := total + balance; {
	case sum <= 0:
		s.after = sum
	case sum < smallest(currency):
		s.after, s.belowSmallest = sum, true
	default:
		s.due = sum
	}
	s.appliedBalance = s.after - s.before
	return s
}

// cycle is how often a price recurs.
type cycle struct {
	Interval string `json:"interval"`
	Count    int64  `json:"interval_count"`
}

// boundary is the n-th border of the cycles that are anchored at a moment. Months end where they end: an anchor
// on the 31st falls on the 30th in April and on the 31st again in May.
func (c cycle) boundary(anchor, n int64) int64 {
	switch c.Interval {
	case "day":
		return anchor + n*c.Count*86400
	case "week":
		return anchor + n*c.Count*7*86400
	}
	months := n * c.Count
	if c.Interval == "year" {
		months *= 12
	}
	a := time.Unix(anchor, 0).UTC()
	first := time.Date(a.Year(), a.Month()+time.Month(months), 1, a.Hour(), a.Minute(), a.Second(), 0, time.UTC)
	last := first.AddDate(0, 1, -1).Day()
	return first.AddDate(0, 0, min(a.Day(), last)-1).Unix()
}

// longest is at least as long as any one cycle, in seconds.
func (c cycle) longest() int64 {
	days := map[string]int64{"day": 1, "week": 7, "month": 31, "year": 366}[c.Interval]
	return days * c.Count * 86400
}

// end is the first border after a moment.
func (c cycle) end(anchor, after int64) int64 {
	n := (after - anchor) / c.longest() // never beyond the one that is sought
	if after < anchor {
		n--
		for n--; c.boundary(anchor, n) > after; n-- {
			continue
		}
	}
	for c.boundary(anchor, n) <= after {
		n++
	}
	return c.boundary(anchor, n)
}
