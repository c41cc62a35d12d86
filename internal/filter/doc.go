// Package filter is the language in which lists, segments, bulk actions and exports say which rows they mean:
//
//	{"all": [
//	    {"field": "stage", "op": "in", "value": ["sql", "opportunity"]},
//	    {"any": [
//	        {"field": "lead_score", "op": "gte", "value": 60},
//	        {"field": "attributes.plan", "op": "starts_with", "value": "pro"}]},
//	    {"not": {"field": "tag", "op": "eq", "value": "do-not-call"}}]}
//
// A noun brings its fields with their types; nothing here knows a table. One parsed Filter is asked of rows in SQL, where
// values are only ever arguments, and of one record in memory, with the same verdict.
//
// # What is true
//
// There are two values, true and false, and no third. A missing value equals nothing, is neither above nor below
// anything and holds nothing, so of every op but exists it is false. ne and not_in are exactly what eq and in are not,
// and not is exactly what its part is not: of a missing value they are true. {"all": []} is everyone and {"any": []} is
// nobody.
//
// # How values compare
//
//	Text      folded (see Fold), by bytes      eq ne in not_in gt gte lt lte starts_with contains exists
//	Key       as it is, by bytes               the same
//	Keys      each as it is; one is enough     eq ne in not_in starts_with contains exists
//	Number    as float64                       eq ne in not_in gt gte lt lte exists
//	Date      YYYY-MM-DD, by the calendar      eq ne in not_in gt gte lt lte exists
//	Time      RFC 3339, cut to microseconds    eq ne in not_in gt gte lt lte exists
//	ID        UUID, in either case             eq ne in not_in exists
//	Boolean                                    eq ne exists
//
// The value of exists is true or false; of in and not_in a list of 1 to 200; of the others one value, never null.
//
// # Bounds
//
// all, any and not nest five deep around a leaf; a filter has at most 50 leaves and 64 KiB; a text at most 400
// characters. What is not in the language is an Error that names the place by a JSON pointer into the filter.
package filter
