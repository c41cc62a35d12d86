package limits

import (
	"strings"
	"time"

	"github.com/redis/go-redis/v9"
)

// At makes the limiter live in a time of the test's own, in microseconds.
func (l *Limiter) At(now func() int64) {
	l.at = func() (int64, bool) { return now(), true }
	l.clock = func() time.Time { return l.local.began.Add(time.Duration(now()) * time.Microsecond) }
}

// Patient makes the limiter wait for a Redis that a busy machine keeps from answering.
func (l *Limiter) Patient() { l.silence = time.Minute }

// WithoutMemory makes every step ask Redis, also one that this process knows to be refused.
func (l *Limiter) WithoutMemory() { l.denied, l.askFull = nil, true }

// Open tells whether the breaker is open.
func (l *Limiter) Open() bool { return l.breaker.isOpen() }

// RedisAt gives Redis another clock than the process has, which At sets.
func (l *Limiter) RedisAt(now func() int64) { l.at = func() (int64, bool) { return now(), true } }

// RedisClock makes the script read Redis's clock, in microseconds, from a key at the time it runs.
func (l *Limiter) RedisClock(key string) {
	l.at = func() (int64, bool) { return 0, false }
	l.ferry.script = redis.NewScript(strings.Replace(source, "redis.call('TIME')", "{ 0, redis.call('GET', '"+key+"') }", 1))
}

// Settled reports whether Redis decides, and has counted all that this process admitted alone.
func (l *Limiter) Settled() bool { return !l.Open() && !l.local.owes() }
