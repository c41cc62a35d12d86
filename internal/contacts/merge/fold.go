package merge

import (
	"maps"
	"reflect"
	"slices"

	"github.com/funnelwork/funnelwork/internal/contacts"
	"github.com/funnelwork/funnelwork/internal/externalid"
)

// folded returns the survivor with its missing values filled from the losers, in order.
func folded(survivor *contacts.Row, losers []*contacts.Row) contacts.Contact {
	c := survivor.Contact
	c.Tag, c.Attributes = slices.Clone(c.Tag), maps.Clone(c.Attributes)
	c.ExternalIDs = externalid.IDs{}
	maps.Copy(c.ExternalIDs, survivor.ExternalIDs)
	segments := slices.Clone(survivor.Static())
	for _, l := range losers {
		for _, t := range contacts.Texts() {
			fill(t.Of(&c), *t.Of(&l.Contact))
		}
		fill(&c.CompanyID, l.CompanyID)
		fill(&c.OwnerID, l.OwnerID)
		for _, k := range l.ExternalIDs.Keys() {
			if _, has := c.ExternalIDs[k.System]; !has && len(c.ExternalIDs) < externalid.MaxIDs {
				c.ExternalIDs[k.System] = k.Value
			}
		}
		c.Tag = unite(c.Tag, l.Tag)
		segments = unite(segments, l.Static())
		for key, v := range l.Attributes {
			if _, has := c.Attributes[key]; !has {
				c.Attributes[key] = v
			}
		}
	}
	c.Segment = survivor.WithDynamic(segments)
	if len(c.ExternalIDs) == 0 {
		c.ExternalIDs = nil
	}
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
	c.ExternalIDs = backIDs(c.ExternalIDs, before.ExternalIDs, after.ExternalIDs)
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

// backIDs returns now without the external ids that the merge added.
func backIDs(now, before, after externalid.IDs) externalid.IDs {
	out := externalid.IDs{}
	for system, value := range now {
		_, had := before[system]
		if had || after[system] != value {
			out[system] = value
		}
	}
	if len(out) == 0 {
		return nil
	}
	return out
}

// takenIDs returns the external ids of a that b lacks.
func takenIDs(a, b externalid.IDs) (keys []externalid.Key) {
	for _, k := range a.Keys() {
		if b[k.System] != k.Value {
			keys = append(keys, k)
		}
	}
	return keys
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
