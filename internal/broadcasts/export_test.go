package broadcasts

// PlansByKey and AddressedSQL are statements of a step.
const (
	PlansByKey   = plansByKey
	AddressedSQL = addressedSQL
)
