package steps

import (
	"crypto/sha256"
	"encoding/binary"
	"slices"

	"github.com/funnelwork/funnelwork/internal/id"
)

// Find returns the step with the key, or nil.
func Find(list []Step, key string) *Step {
	if i := stepIndex(list, key); i >= 0 {
		return &list[i]
	}
	return nil
}

func stepIndex(list []Step, key string) int {
	return slices.IndexFunc(list, func(s Step) bool { return s.Key == key })
}

// After returns the step behind the one with the key; nil: it is the last one, or there is none with the key.
func After(list []Step, key string) *Step {
	if i := stepIndex(list, key); i >= 0 && i+1 < len(list) {
		return &list[i+1]
	}
	return nil
}

// Branch returns the step with which the condition s goes on; nil: it ends the enrolment.
func Branch(list []Step, s *Step, matches bool) *Step {
	target := s.Condition.Else
	if matches {
		target = s.Condition.Then
	}
	switch target {
	case "":
		return After(list, s.Key)
	case End:
		return nil
	default:
		return Find(list, target)
	}
}

// successors returns the positions of the steps that can follow the one at position i.
func successors(list []Step, i int) (next []int) {
	s := &list[i]
	targets := []string{""}
	if s.Condition != nil {
		targets = []string{s.Condition.Then, s.Condition.Else}
	}
	for _, target := range targets {
		at := i + 1
		if target != "" {
			at = stepIndex(list, target)
		}
		if at >= 0 && at < len(list) {
			next = append(next, at)
		}
	}

	return next
}

// Landing returns where an enrolment that is at the step key of the version from goes on in the version to: at the step
// that chosen names for key, else at the step with the same key, else at the first step behind it in from that is left
// in to. "": it goes on nowhere, and is finished. chosen must name steps of to, or End.
func Landing(from, to []Step, key string, chosen map[string]string) string {
	if target, ok := chosen[key]; ok {
		if target == End {
			return ""
		}
		return target
	}

	at := stepIndex(from, key)
	if at < 0 {
		return ""
	}

	for i := range from[at:] {
		if next := from[at+i].Key; Find(to, next) != nil {
			return next
		}
	}

	return ""
}

// Variant returns the variant of the step's email for an enrolment; "": it has none. The choice depends on the
// enrolment and the key of the step alone: it is the same in every retry, and even over many enrolments. Variants that
// were stopped are left out, unless all were.
func (s *Step) Variant(enrolment id.ID, stopped []string) string {
	if s.Email == nil {
		return ""
	}

	open := slices.DeleteFunc(slices.Clone(s.Email.Variants), func(v Variant) bool {
		return slices.Contains(stopped, v.Key)
	})
	if len(open) == 0 {
		open = s.Email.Variants
	}
	total := 0
	for _, v := range open {
		total += v.Weight
	}

	if total == 0 {
		return ""
	}

	sum := sha256.Sum256(append(enrolment[:], s.Key...))
	n := int(binary.BigEndian.Uint64(sum[:8]) % uint64(total))
	for _, v := range open {
		if n < v.Weight {
			return v.Key
		}
		n -= v.Weight
	}

	return ""
}
