package api

import (
	"context"
	"fmt"
	"net/http"
	"time"
)

// Answers waits until the API at base answers as it should, or ctx ends, whose error it then returns: a process
// that is ending must not say that it is ready. Its question has the signing key made, so that the first login
// need not wait for it.
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

// Greeting is what a newcomer reads at the first start: a login, and one line for the shell that creates a
// contact with it.
func Greeting(base, ops, email, password string) string {
	return fmt.Sprintf(`
demo login: %[3]s / %[4]s (shown this once)
create a contact:
  curl -s %[1]s/api/v1/crm/contacts -H 'Content-Type: application/json' -H "Authorization: Bearer $(curl -s %[1]s/api/v1/auth/login -H 'Content-Type: application/json' -d '{"email":"%[3]s","password":"%[4]s"}' | sed 's/.*"access_token":"\([^"]*\)".*/\1/')" -d '{"email":"ada@example.com","first_name":"Ada","last_name":"Lovelace"}'
API reference: %[1]s/docs   operations: %[2]s/
`, base, ops, email, password)
}
