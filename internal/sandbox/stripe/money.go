package stripe

import (
	"math/bits"
	"time"
)

// Amounts are in minor units of their currency, as int64; there are no floating point numbers.

// shareOfAmount returns amount * over / of, rounded half away from zero: the share of an amount for a part of its
// period, in seconds. The product has 128 bits. It is the only place where proration rounds: previews and charges both
// use it, so they agree to the minor unit, and a credit equals the debit that it reverses. of must be positive, and
// over between 0 and of.
func shareOfAmount(amount, over, of int64) int64 {
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

// minimumCharge returns the minimum charge of a currency; a smaller amount is added to the customer's balance.
func minimumCharge(currency string) int64 {
	switch currency {
	case "gbp":
		return 30
	case "jpy":
		return 50
	default:
		return 50
	}
}

// settlement is how an invoice total is split between a payment and the customer's balance. A negative balance is
// credit.
type settlement struct {
	due            int64 // to be paid
	before, after  int64 // the customer's balance
	belowSmallest  bool  // due was below the minimum charge and was added to the balance
	appliedBalance int64 // after - before
}

// splitTotal computes the settlement; the preview and the finalisation of an invoice share it.
func splitTotal(total, balance int64, currency string) settlement {
	s := settlement{before: balance}
	switch sum := total + balance; {
	case sum <= 0:
		s.after = sum
	case sum < minimumCharge(currency):
		s.after = sum
		s.belowSmallest = true
	default:
		s.due = sum
	}

	s.appliedBalance = s.after - s.before

	return s
}

// cycle is the billing interval of a price.
type cycle struct {
	Interval string `json:"interval"`
	Count    int64  `json:"interval_count"`
}

// boundary returns the n-th boundary of the cycles with the given anchor. It is clipped to the end of the month: an
// anchor on the 31st yields the 30th in April and the 31st again in May.
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

// maxSeconds returns an upper bound of the length of one cycle, in seconds.
func (c cycle) maxSeconds() int64 {
	days := map[string]int64{"day": 1, "week": 7, "month": 31, "year": 366}[c.Interval]
	return days * c.Count * 86400
}

// endAfter returns the first boundary after the given time.
func (c cycle) endAfter(anchor, after int64) int64 {
	n := (after - anchor) / c.maxSeconds() // never beyond the result
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
