package api

import (
	"context"
	"fmt"
	"net/http"
	"time"
)

// Answers waits until the API at base responds with 200, or until ctx ends, and then returns ctx's error: a process
// that is shutting down must not report that it is ready. Its request makes the API create the signing key, so that the
// first login need not wait for it.
func Answers(ctx context.Context, base string) error {
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()

	for {
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, base+"/.well-known/jwks.json", nil)
		if err != nil {
			return fmt.Errorf("public address: %w", err)
		}
		if res, err := http.DefaultClient.Do(req); err == nil {
			_ = res.Body.Close()
			if res.StatusCode == http.StatusOK && ctx.Err() == nil {
				return nil
			}
		}

		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-tick.C:
		}
	}
}
