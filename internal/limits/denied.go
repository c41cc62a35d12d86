package limits

import "time"

// denyCap bounds how long a refusal is cached, so that a raised limit or a Redis that lost its data takes effect within
// a second.
const denyCap = time.Second

// denied caches refusals. Until the wait is over no request of the subject can be admitted, so Redis need not be asked.
// The cache takes the load of a flood off the one hot key. A nil *denied caches nothing.
type denied struct{ subjects *sharded[refusal] }

type refusal struct {
	Decision
	until time.Time // end of the wait
	kept  time.Time // expiry in the cache
}

func newDenied() *denied { return &denied{newSharded[refusal]()} }

func (d *denied) get(subject string, r Rule, now time.Time) (dec Decision, ok bool) {
	if d == nil {
		return dec, false
	}
	d.subjects.with(subject, func(m map[string]refusal) {
		one, found := m[subject]
		switch {
		case !found:
		case !now.Before(one.kept) || one.Rule != r:
			delete(m, subject)
		default:
			dec, ok = one.Decision, true
			dec.Grows = one.until.Sub(now)
		}
	})
	return dec, ok
}

func (d *denied) put(subject string, r Rule, now time.Time, dec Decision) {
	if d == nil {
		return
	}
	d.subjects.with(subject, func(m map[string]refusal) {
		if len(m) >= crowd {
			for k, one := range m {
				if !now.Before(one.kept) {
					delete(m, k)
				}
			}
		}
		dec.Rule = r
		m[subject] = refusal{Decision: dec, until: now.Add(dec.Grows), kept: now.Add(min(dec.Grows, denyCap))}
	})
}
