package events

// TimelineQuery is the SQL of a page of a timeline, for EXPLAIN.
var TimelineQuery = timelineQuery
