package queue

import (
	"context"
	"time"

	"github.com/funnelwork/funnelwork/internal/id"
)

const (
	// patience is the minimum delay between two searches of a function that Sparingly returns.
	patience = time.Second
	// share is the part of the time that a worker may spend on such searches: one in share.
	share = 50
	// rarePatience and rareShare are those of a function that Rarely returns.
	rarePatience = time.Minute
	rareShare    = 1000
)

// Sparingly returns find as a function that does nothing until some time after its last call has passed: a second, or
// fifty times as long as the call took. The function must not be called concurrently.
func Sparingly(find func(context.Context) ([]id.ID, error)) func(context.Context) ([]id.ID, error) {
	return pacedFind(find, time.Time{}, patience, share)
}

// Rarely returns find as a function for searches that walk over all orgs and are not urgent. It does nothing in the
// first minute, and then until some time after its last call has passed: a minute, or a thousand times as long as the
// call took. The function must not be called concurrently.
func Rarely(find func(context.Context) ([]id.ID, error)) func(context.Context) ([]id.ID, error) {
	return pacedFind(find, time.Now().Add(rarePatience), rarePatience, rareShare)
}

func pacedFind(find func(context.Context) ([]id.ID, error), next time.Time, patience time.Duration, share int,
) func(context.Context) ([]id.ID, error) {
	return func(ctx context.Context) ([]id.ID, error) {
		begun := time.Now()
		if begun.Before(next) {
			return nil, nil
		}
		found, err := find(ctx)
		next = time.Now().Add(max(patience, time.Duration(share)*time.Since(begun)))
		return found, err
	}
}
