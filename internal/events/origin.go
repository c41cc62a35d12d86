package events

import "context"

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
