// Package filter is the filter language of lists, segments, bulk actions and exports:
//
//	{"all": [
//	    {"field": "stage", "op": "in", "value": ["sql", "opportunity"]},
//	    {"any": [
//	        {"field": "lead_score", "op": "gte", "value": 60},
//	        {"field": "attributes.plan", "op": "starts_with", "value": "pro"}]},
//	    {"not": {"field": "tag", "op": "eq", "value": "do-not-call"}}]}
//
// A domain package defines the fields with their types; this package knows no tables. A parsed Filter can be evaluated
// on rows in SQL, where values are always arguments, and on one record in memory, with the same result.
//
// # What is true
//
// There are two truth values, true and false. A missing value equals nothing, is neither above nor below anything and
// contains nothing, so every op except exists is false for it. ne and not_in are the exact negations of eq and in, and
// not is the exact negation of its part: for a missing value they are true. {"all": []} matches everything and {"any":
// []} matches nothing.
//
// # How values compare
//
//	Text      folded (compare.Text), by bytes  eq ne in not_in gt gte lt lte starts_with contains exists
//	Address   folded (compare.Address)         the same
//	Key       as a Text                        the same
//	Keys      each as a Text; one is enough    eq ne in not_in starts_with contains exists
//	Number    as float64                       eq ne in not_in gt gte lt lte exists
//	Date      YYYY-MM-DD, by the calendar      eq ne in not_in gt gte lt lte exists
//	Time      RFC 3339, cut to microseconds    eq ne in not_in gt gte lt lte exists
//	ID        UUID, in either case             eq ne in not_in exists
//	Boolean                                    eq ne exists
//
// The value of exists is true or false. The value of in and not_in is a list of 1 to 200 values. Every other op has one
// value, never null.
//
// A Key is stored as it was written first. A domain package resolves the names of a filter to those that are stored
// (Resolve), since an index has the stored names and not the folded ones.
//
// # Limits
//
// all, any and not nest at most five deep around a leaf. A filter has at most 50 leaves and 64 KiB, and a text at most
// 400 characters. An invalid filter is an Error that names the place by a JSON pointer into the filter.
package filter
