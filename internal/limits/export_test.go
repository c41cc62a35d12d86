package limits

import "time"

// At makes the limiter live in a time of the test's own, in microseconds.
func (l *Limiter) At(now func() int64) {
	l.at = func() (int64, bool) { return now(), true }
	l.clock = func() time.Time { return l.local.began.Add(time.Duration(now()) * time.Microsecond) }
}

// Patient makes the limiter wait for a Redis that a busy machine keeps from answering.
func (l *Limiter) Patient() { l.silence = time.Minute }

// WithoutMemory turns the deny cache off, so that every step is asked.
func (l *Limiter) WithoutMemory() { l.denied = nil }

// Open tells whether the breaker is open.
func (l *Limiter) Open() bool { return l.breaker.isOpen() }
