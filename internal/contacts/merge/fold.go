package merge

import (
	"maps"
	"reflect"
	"slices"

	"github.com/funnelwork/funnelwork/internal/contacts"
)

// folded returns the survivor with its missing values filled from the losers, in order.
func folded(survivor *contacts.Row, losers []*contacts.Row) contacts.Contact {
	c := survivor.Contact
	c.Tag, c.Attributes = slices.Clone(c.Tag), maps.Clone(c.Attributes)
	segments := slices.Clone(survivor.Static())
	for _, l := range losers {
		for _, t := range contacts.Texts() {
			fill(t.Of(&c), *t.Of(&l.Contact))
		}
		fill(&c.CompanyID, l.CompanyID)
		fill(&c.OwnerID, l.OwnerID)
		c.Tag = unite(c.Tag, l.Tag)
		segments = unite(segments, l.Static())
		for key, v := range l.Attributes {
			if _, has := c.Attributes[key]; !has {
				c.Attributes[key] = v
			}
		}
	}
	c.Segment = survivor.WithDynamic(segments)
	return c
}

func fill[T any](at **T, from *T) {
	if *at == nil {
		*at = from
	}
}

func unite(a, b []string) []string {
	for _, s := range b {
		if !slices.Contains(a, s) {
			a = append(a, s)
		}
	}
	return a
}

// unfolded returns the current survivor without the values that the merge added. before and after are its states around
// the merge. Values that were edited since are kept.
func unfolded(now *contacts.Row, before, after *state) contacts.Contact {
	c := now.Contact
	for _, t := range contacts.Texts() {
		value := t.Of(&c)
		*value = back(*value, *t.Of(&before.Contact), *t.Of(&after.Contact))
	}
	c.CompanyID = back(c.CompanyID, before.CompanyID, after.CompanyID)
	c.OwnerID = back(c.OwnerID, before.OwnerID, after.OwnerID)
	c.Tag = backKeys(c.Tag, before.Tag, after.Tag)
	c.Segment = now.WithDynamic(backKeys(now.Static(), before.Segment, after.Segment))
	c.Attributes = maps.Clone(c.Attributes)
	for key, given := range after.Attributes {
		if _, had := before.Attributes[key]; had {
			continue
		}
		if v, has := c.Attributes[key]; has && reflect.DeepEqual(v, given) {
			delete(c.Attributes, key)
		}
	}
	return c
}

// back returns before if now still equals after, and now otherwise.
func back[T comparable](now, before, after *T) *T {
	if now == nil || after == nil || *now != *after {
		return now
	}
	return before
}

// backKeys returns now without the keys that the merge added.
func backKeys(now, before, after []string) []string {
	if slices.Equal(now, after) {
		return append([]string{}, before...)
	}
	out := []string{}
	for _, k := range now {
		if slices.Contains(before, k) || !slices.Contains(after, k) {
			out = append(out, k)
		}
	}
	return out
}
