package events

import "context"

// Origin identifies who makes a change. It becomes the event's actor and request_id.
type Origin struct {
	ActorType string // user, api_key or system
	ActorID   string
	RequestID string
}

type originKey struct{}

// WithOrigin returns a context that carries o to Announce.
func WithOrigin(ctx context.Context, o Origin) context.Context {
	return context.WithValue(ctx, originKey{}, o)
}

// OriginOf returns the origin in ctx, or the platform itself if there is none.
func OriginOf(ctx context.Context) Origin {
	if o, ok := ctx.Value(originKey{}).(Origin); ok {
		return o
	}
	return Origin{ActorType: "system"}
}
