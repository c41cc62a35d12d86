package limits

import "sort"

// admission is one admitted request. Times are microseconds of the process's own clock.
type admission struct {
	at  int64
	tat int64 // the bucket's theoretical arrival time (TAT) after it, when the bucket is full again
}

// admissions are the admitted requests of one subject. The zero value is empty.
type admissions struct {
	log  []admission // of the last window, oldest first
	base int64       // the TAT before the first of log
}

// tat returns the bucket's TAT after the last admission.
func (a *admissions) tat() int64 {
	if n := len(a.log); n > 0 {
		return a.log[n-1].tat
	}
	return a.base
}

// trim drops admissions that have left the window. It keeps their effect on the TAT.
func (a *admissions) trim(now int64) {
	gone := 0
	for gone < len(a.log) && a.log[gone].at <= now-window.Microseconds() {
		a.base = a.log[gone].tat
		gone++
	}
	a.log = a.log[gone:]
}

// add inserts an admission at its place in time. Redis's replies arrive in another order than the requests were sent,
// and a TAT computed in the order of arrival would be later than the one in Redis.
func (a *admissions) add(at, step int64) {
	a.log = append(a.log, admission{at: at})
	i := len(a.log) - 1
	for ; i > 0 && a.log[i-1].at > at; i-- {
		a.log[i] = a.log[i-1]
	}
	a.log[i].at = at
	a.compute(i, step)
}

// remove removes one admission at that time, and reports whether there was one.
func (a *admissions) remove(at, step int64) bool {
	i := sort.Search(len(a.log), func(i int) bool { return a.log[i].at >= at })
	if i == len(a.log) || a.log[i].at != at {
		return false
	}
	a.log = append(a.log[:i], a.log[i+1:]...)
	a.compute(i, step)
	return true
}

// merge adds other's admissions.
func (a *admissions) merge(other admissions, now, step int64) {
	if other.base > now {
		a.base = max(a.base, now) + other.base - now
		a.compute(0, step)
	}
	for _, one := range other.log {
		a.add(one.at, step)
	}
}

// rescale applies a rule under which a request takes step from the bucket instead of before.
func (a *admissions) rescale(now, before, step int64) {
	if a.base > now {
		a.base = now + (a.base-now)*step/before
	}
	a.compute(0, step)
}

// compute sets the TATs from the i-th admission on.
func (a *admissions) compute(i int, step int64) {
	tat := a.base
	if i > 0 {
		tat = a.log[i-1].tat
	}
	for ; i < len(a.log); i++ {
		tat = max(tat, a.log[i].at) + step
		a.log[i].tat = tat
	}
}

// empty reports whether the admissions no longer affect any decision.
func (a *admissions) empty(now int64) bool {
	return a.tat() <= now && (len(a.log) == 0 || a.log[len(a.log)-1].at <= now-window.Microseconds())
}

// others is the last known state in Redis beyond this process's own admissions.
type others struct {
	n   int64 // admissions in the window
	at  int64 // the assumed time of all of them, as their times are unknown
	tat int64 // of the bucket, all admissions included
}

// decide applies the rule at now to the admissions of this process and of others. It does not add an admission; it only
// drops those that have left the window.
func (a *admissions) decide(r Rule, now int64, o others) Decision {
	a.trim(now)
	step, size := r.step(), window.Microseconds()
	if o.at <= now-size {
		o.n = 0
	}
	n, tat := int64(len(a.log))+o.n, max(a.tat(), o.tat, now)
	waitBucket, waitWindow := tat+step-r.Burst*step-now, int64(0)
	if n >= r.Burst {
		waitWindow = a.nth(n-r.Burst, o) + size - now
	}
	if waitBucket > 0 || waitWindow > 0 {
		return Decision{Rule: r, Grows: us(max(waitBucket, waitWindow)), ByWindow: waitWindow >= waitBucket}
	}
	oldest := now
	if n > 0 {
		oldest = a.nth(0, o)
	}
	d := Decision{Rule: r, Allowed: true, Remaining: r.Burst - n - 1, Grows: us(oldest + size - now), ByWindow: true}
	used := tat + step - now
	inBucket, grows := (r.Burst*step-used)/step, used%step
	if grows == 0 {
		grows = step
	}
	if inBucket < d.Remaining || inBucket == d.Remaining && us(grows) > d.Grows {
		d.Remaining, d.Grows, d.ByWindow = inBucket, us(grows), false
	}
	return d
}

// nth returns the time of the i-th admission, including those of others.
func (a *admissions) nth(i int64, o others) int64 {
	before := int64(sort.Search(len(a.log), func(i int) bool { return a.log[i].at > o.at }))
	switch {
	case i < before:
		return a.log[i].at
	case i < before+o.n:
		return o.at
	}
	return a.log[i-o.n].at
}
