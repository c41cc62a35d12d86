package steps

import (
	"strconv"

	"github.com/funnelwork/funnelwork/internal/outreach/schedule"
)

// Complete sets the members of the steps that were not given: keys, delays, threads, weights and lists.
func Complete(list []Step) {
	for i := range list {
		s := &list[i]
		if s.Key == "" {
			s.Key = freeKey(list, s.Kind)
		}
		if s.Delay.Unit == "" {
			s.Delay.Unit = schedule.Days
		}
		if s.Email != nil {
			s.Email.fillDefaults()
		}
		if s.Task != nil && s.Task.Type == "" {
			s.Task.Type = Todo
		}
		if c := s.Condition; c != nil && c.Within != nil && c.Within.Unit == "" {
			c.Within.Unit = schedule.Days
		}
		if u := s.Update; u != nil {
			if u.Set == nil {
				u.Set = map[string]any{}
			}
			u.AddTags, u.RemoveTags = orEmpty(u.AddTags), orEmpty(u.RemoveTags)
		}
	}
}

// orEmpty returns l, or an empty list for nil.
func orEmpty(l []string) []string {
	if l == nil {
		return []string{}
	}
	return l
}

func (e *Email) fillDefaults() {
	if e.Thread == "" {
		e.Thread = Reply
	}
	if e.Variants == nil {
		e.Variants = []Variant{}
	}
	for i := range e.Variants {
		if e.Variants[i].Weight == 0 {
			e.Variants[i].Weight = 1
		}
	}
}

// freeKey returns the kind with the first number that makes an unused key.
func freeKey(list []Step, kind string) string {
	for n := 1; ; n++ {
		if key := kind + "-" + strconv.Itoa(n); stepIndex(list, key) < 0 {
			return key
		}
	}
}
