package enrolments

// What a tick reads first, for EXPLAIN.
const (
	Planning     = planning
	GroupsSQL    = groupsSQL
	GroupsAtOnce = groupsAtOnce
)
