package limits

import (
	"sync"
	"time"
)

// local holds this process's state of its subjects: its admissions, those of them that Redis has yet to count, and
// Redis's last reply. It is safe for concurrent use.
type local struct {
	began    time.Time // start of its clock, which never goes back
	subjects *sharded[*state]

	mu        sync.Mutex
	uncharged map[string]bool // subjects with admissions that Redis may not have counted
}

// state is the state of one subject.
type state struct {
	rule Rule
	// own is everything that this process admitted, whether Redis or the process decided. An admission by Redis has the
	// time at which its request was sent, so that own never refuses what a Redis with all its data admits.
	own admissions
	// uncharged are the admissions of own that Redis may not have counted, except charging, which is being sent.
	uncharged admissions
	charging  *admissions
	others    others
}

func newLocal() *local {
	return &local{began: time.Now(), subjects: newSharded[*state](), uncharged: map[string]bool{}}
}

// us returns t on the local clock, in microseconds.
func (l *local) us(t time.Time) int64 { return t.Sub(l.began).Microseconds() }

// full returns the refusal of a request for which own alone has no room: Redis would refuse it as well.
func (l *local) full(subject string, r Rule, now time.Time) (d Decision, full bool) {
	us := l.us(now)
	l.subjects.with(subject, func(m map[string]*state) {
		if s := m[subject]; s != nil && s.rule == r {
			d = s.own.decide(r, us, others{})
			full = !d.Allowed
		}
	})
	return d, full
}

// with calls fn with the subject's state under its lock, at the local time now.
func (l *local) with(subject string, r Rule, now time.Time, fn func(s *state, us int64)) {
	us := l.us(now)
	l.subjects.with(subject, func(m map[string]*state) {
		s := m[subject]
		if s == nil {
			if len(m) >= crowd {
				forget(m, us)
			}
			s = &state{rule: r}
			m[subject] = s
		}
		if r.step() < s.rule.step() { // requests were taken from the bucket, and a request now takes less
			s.own.rescale(us, s.rule.step(), r.step())
			s.others = others{}
		}
		s.rule = r
		fn(s, us)
	})
}

// forget drops the subjects without any effect on a decision.
func forget(m map[string]*state, now int64) {
	for k, s := range m {
		if s.own.empty(now) && s.uncharged.empty(now) && s.charging == nil {
			delete(m, k)
		}
	}
}

// judge completes Redis's decision on a request that was sent at sent: the request is admitted only if the process's
// own admissions leave room as well. They do, unless Redis lost data.
func (s *state) judge(d Decision, sent, now int64) Decision {
	own := s.own.decide(d.Rule, now, others{})
	room := own.Remaining
	if own.Allowed {
		room++
	}
	switch {
	case d.Allowed && !own.Allowed:
		s.know(d.Rule, now, room, d.Remaining)
		return own
	case d.Allowed:
		s.own.add(sent, d.Rule.step())
		s.know(d.Rule, now, room-1, d.Remaining)
		if own.Remaining < d.Remaining {
			return own
		}
	default:
		s.know(d.Rule, now, room, 0)
		if !own.Allowed && own.Grows > d.Grows {
			return own
		}
	}
	return d
}

// know records that Redis has room for at most remaining, while this process's own admissions leave room for room. If
// Redis becomes unavailable, the process continues from there.
func (s *state) know(r Rule, now, room, remaining int64) {
	s.others = others{}
	if room > remaining {
		s.others = others{
			n: max(0, r.Burst-int64(len(s.own.log))-remaining), at: now, tat: now + (r.Burst-remaining)*r.step(),
		}
	}
}

// alone decides without Redis.
func (s *state) alone(r Rule, now int64) Decision {
	d := s.own.decide(r, now, s.others)
	d.Degraded = true
	if d.Allowed {
		s.own.add(now, r.step())
		if s.others.tat > 0 {
			s.others.tat = max(s.others.tat, now) + r.step()
		}
	}
	return d
}

func us(n int64) time.Duration { return time.Duration(n) * time.Microsecond }
