package limits

import (
	"context"
	"slices"
	"time"
)

// newCall returns a call of the script for one request of the subject. It also charges what the process admitted alone.
func (l *Limiter) newCall(subject string, r Rule, now time.Time) *call {
	c := &call{subject: subject, key: key(subject), args: l.args(r), reply: make(chan reply, 1)}
	if _, charges := l.local.beginCharge(subject, now); charges != nil {
		l.load(c, 1, charges)
	}
	return c
}

// newCharge returns a call without a request, which only charges; nil if there is nothing to charge.
func (l *Limiter) newCharge(subject string) *call {
	r, charges := l.local.beginCharge(subject, l.clock())
	if charges == nil {
		return nil
	}
	c := &call{subject: subject, key: key(subject), args: l.args(r), reply: make(chan reply, 1)}
	l.load(c, 0, charges)
	return c
}

func key(subject string) string { return "rl:{" + subject + "}" }

func (l *Limiter) args(r Rule) []any {
	args := []any{r.step(), r.Burst, window.Microseconds()}
	if us, given := l.at(); given {
		args = append(args, us)
	}
	return args
}

// load appends the arguments that only a call with charges has.
func (l *Limiter) load(c *call, requests int64, charges []any) {
	if len(c.args) == 3 {
		c.args = append(c.args, "") // the server's clock
	}
	c.args = append(append(c.args, requests), charges...)
	c.charges = true
}

// arrived handles the outcome of each call, after its caller got it.
func (l *Limiter) arrived(c *call, got reply) {
	if c.charges {
		l.local.endCharge(c.subject, l.clock(), got.err == nil)
	}
	if got.err == nil && got.values[0] == 1 && c.left.Load() {
		l.local.settleLateReply(c)
	}
}

// recover probes Redis with the key of the last failed call: in a cluster another node may be available. It then
// charges what this process admitted alone, before Redis decides anything again.
func (l *Limiter) recover(ctx context.Context) error {
	probing, cancel := context.WithTimeout(ctx, max(patience, min(l.silence, longest)))
	defer cancel()
	err := error(nil)
	if k := l.failing.Load(); k != nil {
		err = l.redis.Exists(probing, *k).Err()
	} else {
		err = l.redis.Ping(probing).Err()
	}
	if err != nil {
		return err
	}
	ctx, end := context.WithTimeout(ctx, longest)
	defer end()
	return l.settle(ctx)
}

// settle charges what the process admitted alone, for all subjects, and returns the first error.
func (l *Limiter) settle(ctx context.Context) (err error) {
	for chunk := range slices.Chunk(l.local.unchargedSubjects(), boatLoad) {
		calls := make([]*call, 0, len(chunk))
		for _, subject := range chunk {
			if c := l.newCharge(subject); c != nil {
				calls = append(calls, c)
			}
		}
		if len(calls) == 0 {
			continue
		}
		for i, got := range l.ferry.run(ctx, calls) {
			l.arrived(calls[i], got)
			if err == nil {
				err = got.err
			}
		}
		if err != nil {
			return err
		}
	}
	return nil
}
