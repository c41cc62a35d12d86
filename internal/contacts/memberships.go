package contacts

// contact_score.segments holds the static segments of a contact as last written. An org that has, or had, a dynamic or
// an archived segment has a row in segment_watch; for such an org segment_member holds the remaining memberships. A
// membership that a million contacts share is therefore not written to a million contacts.

// memberships selects the remaining memberships of contact c of the org $1: the keys of its dynamic segments, each
// after a plus, and the keys of its archived static segments, each after a minus. It is NULL if the org has no
// segment_watch row. The rows of a contact are read by its id before their segments, and the archived keys once in a
// statement: otherwise each contact would read all segments of the org.
const memberships = `CASE WHEN EXISTS (SELECT FROM segment_watch w WHERE w.org_id = $1) THEN
	ARRAY(SELECT '+' || g.key
		FROM (SELECT m.segment_id FROM segment_member m WHERE m.org_id = $1 AND m.contact_id = c.id OFFSET 0) m
		CROSS JOIN LATERAL (SELECT g.key FROM segment g WHERE g.org_id = $1 AND g.id = m.segment_id
			AND g.kind = 'dynamic' AND g.archived_at IS NULL LIMIT 1) g ORDER BY g.key)
	|| ARRAY(SELECT '-' || k FROM unnest(s.segments) AS k WHERE (k IN (
		SELECT g.key FROM segment g WHERE g.org_id = $1 AND g.archived_at IS NOT NULL)) IS TRUE
		ORDER BY k COLLATE "C") END`

// computed selects the second part of the ETag for contact_score s of the org $1. The epoch is incremented when
// thousands of contacts enter or leave a segment.
const computed = `s.computed + coalesce((SELECT w.epoch FROM segment_watch w WHERE w.org_id = $1), 0)`

// setSegments sets the segments of r from the stored static segments and the result of memberships.
func (r *Row) setSegments(stored, says []string) {
	r.Segment = stored
	r.Dynamic = nil
	r.Shelved = nil
	if says == nil {
		return
	}

	r.Dynamic = []string{}
	for _, s := range says {
		if s[0] == '+' {
			r.Dynamic = append(r.Dynamic, s[1:])
		} else {
			r.Shelved = append(r.Shelved, s[1:])
		}
	}

	r.Segment = r.mergeSegments(withoutKeys(stored, r.Shelved))
}

// mergeSegments returns the value of Segment for requested keys: requests neither add nor remove dynamic segments.
func (r *Row) mergeSegments(named []string) []string {
	return append(copyNonNil(withoutKeys(named, r.Dynamic)), r.Dynamic...)
}

// storedSegments returns the value of contact_score.segments for the shown segments.
func (r *Row) storedSegments(shown []string) []string {
	return append(copyNonNil(withoutKeys(shown, r.Dynamic)), r.Shelved...)
}

// Static returns the keys of the static segments that contain the contact.
func (r *Row) Static() []string { return r.StaticOf(r.Segment) }

// StaticOf returns keys without the keys of the contact's dynamic segments.
func (r *Row) StaticOf(keys []string) []string { return copyNonNil(withoutKeys(keys, r.Dynamic)) }

// WithDynamic returns the value of Segment if keys become the contact's static segments.
func (r *Row) WithDynamic(keys []string) []string { return r.mergeSegments(keys) }
