package overview

// What a look executes, for EXPLAIN.
const (
	Planning = planning
	LookSQL  = lookSQL
	DueSQL   = dueSQL
	LaterSQL = laterSQL
)
