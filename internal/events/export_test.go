package events

// TimelineQuery returns the SQL of a page of a timeline, for EXPLAIN.
var TimelineQuery = timelineQuery
