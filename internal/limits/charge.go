package limits

import (
	"slices"
	"time"
)

// recordUncharged records that Redis may not have counted an admission of the subject at now. The caller must hold the
// state's lock.
func (l *local) recordUncharged(subject string, s *state, now int64) {
	s.uncharged.add(now, s.rule.step())
	l.mu.Lock()
	l.uncharged[subject] = true
	l.mu.Unlock()
}

// unchargedSubjects returns the subjects with admissions that Redis may not have counted.
func (l *local) unchargedSubjects() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	out := make([]string, 0, len(l.uncharged))
	for subject := range l.uncharged {
		out = append(out, subject)
	}
	slices.Sort(out)
	return out
}

// hasUncharged reports whether owing returns any subject.
func (l *local) hasUncharged() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.uncharged) > 0
}

// beginCharge returns the arguments with which the next call of the script charges admissions that Redis may not have
// counted: the amount to take from the bucket at now, and the age of each admission of the last window, oldest first,
// all in us. It returns nil if there are none or another call is charging them. The caller must call charged
// afterwards.
func (l *local) beginCharge(subject string, now time.Time) (r Rule, args []any) {
	us := l.us(now)
	l.subjects.with(subject, func(m map[string]*state) {
		s := m[subject]
		if s == nil || s.charging != nil {
			return
		}
		s.uncharged.trim(us)
		if s.uncharged.empty(us) {
			s.uncharged = admissions{}
			l.clearUncharged(subject)
			return
		}
		one := s.uncharged
		s.charging, s.uncharged = &one, admissions{}
		r, args = s.rule, append(args, max(0, one.tat()-us))
		for _, a := range one.log {
			args = append(args, us-a.at)
		}
	})
	return r, args
}

// endCharge completes a charge. Admissions that Redis did not confirm are charged again: an admission may be counted
// twice, but never not at all.
func (l *local) endCharge(subject string, now time.Time, confirmed bool) {
	us := l.us(now)
	l.subjects.with(subject, func(m map[string]*state) {
		s := m[subject]
		if s == nil || s.charging == nil {
			return
		}
		if !confirmed {
			s.charging.merge(s.uncharged, us, s.rule.step())
			s.uncharged = *s.charging
		}
		s.charging = nil
		if s.uncharged.empty(us) {
			l.clearUncharged(subject)
		}
	})
}

// settleLateReply handles the reply to a call that timed out: Redis counted a request that the process then admitted
// alone, so the request is not charged again.
func (l *local) settleLateReply(c *call) {
	l.subjects.with(c.subject, func(m map[string]*state) {
		if s := m[c.subject]; s != nil && c.alone != 0 {
			s.uncharged.remove(c.alone, s.rule.step())
		}
	})
}

// clearUncharged records that the subject has nothing left to charge. The caller must hold the state's lock.
func (l *local) clearUncharged(subject string) {
	l.mu.Lock()
	delete(l.uncharged, subject)
	l.mu.Unlock()
}
