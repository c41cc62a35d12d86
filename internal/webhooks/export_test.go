package webhooks

// The statements whose plans are tested.
const (
	DeliveriesSQL         = deliveriesSQL
	DeliveriesOfStatusSQL = deliveriesOfStatusSQL
	AttemptsSQL           = attemptsSQL
	LoadSQL               = loadSQL
)
