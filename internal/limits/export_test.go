package limits

import (
	"strings"
	"time"

	"github.com/redis/go-redis/v9"
)

// At gives the limiter a test clock, in microseconds.
func (l *Limiter) At(now func() int64) {
	l.at = func() (int64, bool) { return now(), true }
	l.clock = func() time.Time { return l.local.began.Add(time.Duration(now()) * time.Microsecond) }
}

// Patient makes the limiter wait for a Redis on a busy machine.
func (l *Limiter) Patient() { l.silence = time.Minute }

// WithoutMemory makes every decision call Redis, even for a known refusal.
func (l *Limiter) WithoutMemory() { l.denied, l.askFull = nil, true }

// Open reports whether the circuit breaker is open.
func (l *Limiter) Open() bool { return l.breaker.isOpen() }

// RedisAt gives Redis a clock other than the process's, which At sets.
func (l *Limiter) RedisAt(now func() int64) { l.at = func() (int64, bool) { return now(), true } }

// RedisClock makes the script read Redis's clock, in microseconds, from a key when it runs.
func (l *Limiter) RedisClock(key string) {
	l.at = func() (int64, bool) { return 0, false }
	l.ferry.script = redis.NewScript(strings.Replace(source, "redis.call('TIME')",
		"{ 0, redis.call('GET', '"+key+"') }", 1))
}

// Settled reports whether Redis decides, and has counted everything that this process admitted alone.
func (l *Limiter) Settled() bool { return !l.Open() && !l.local.hasUncharged() }

// Last sets how long a lease lasts without a renewal.
func (l *Leases) Last(life time.Duration) { l.life = life }

// Die makes the process renew no lease, like a killed one.
func (l *Leases) Die() { l.stop = func() {} }
