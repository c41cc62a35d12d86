package events

import (
	"context"

	"github.com/funnelwork/funnelwork/internal/postgres"
)

// Event is one thing that happened to one object.
type Event interface {
	// Type is the name on the wire, such as contact.created.
	Type() string
	// Data answers the object after the change and, for an update, the changed fields as they were.
	Data() (object, previous any)
}

// Origin says on whose behalf a change is made; it becomes the event's actor and request_id.
type Origin struct {
	ActorType string // user, api_key or system
	ActorID   string
	RequestID string
}

type originKey struct{}

// WithOrigin carries o to Announce.
func WithOrigin(ctx context.Context, o Origin) context.Context {
	return context.WithValue(ctx, originKey{}, o)
}

// OriginOf is the origin of ctx; without one the platform itself acts.
func OriginOf(ctx context.Context) Origin {
	if o, ok := ctx.Value(originKey{}).(Origin); ok {
		return o
	}
	return Origin{ActorType: "system"}
}

// Announce writes e and one delivery with its job for each endpoint of the org that wants it, all in tx.
func Announce(ctx context.Context, tx *postgres.Tx, e Event) error {
	panic("written with the webhooks")
}
