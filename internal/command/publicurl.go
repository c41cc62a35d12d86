package command

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/funnelwork/funnelwork/internal/auth"
)

// Limits of the look at the public URL.
const (
	publicTries = 4
	publicPause = 10 * time.Second // between tries: other processes and proxies may still be starting
	publicTime  = 5 * time.Second  // of one request
	publicBytes = 64 << 10         // of its answer
)

// errNotOurs means that another service, or another installation, is at the public URL.
var errNotOurs = errors.New("another service or installation is there")

// watchPublicURL adds a task that warns once if the public URL does not lead to this installation. Links in mails and
// redirects would lead there. The process serves meanwhile, whatever the outcome.
func (p *process) watchPublicURL() {
	if p.PublicURL == "" {
		return
	}

	base := strings.TrimSuffix(p.PublicURL, "/")
	p.tasks = append(p.tasks, func(ctx context.Context) error {
		err := p.tryPublicURL(ctx, base, publicPause)
		if err != nil && ctx.Err() == nil {
			p.log.WarnContext(ctx, "public url does not lead to this installation", "setting", "FUNNELWORK_PUBLIC_URL",
				"url", base, "error", err)
		}
		return nil
	})
}

// tryPublicURL returns nil once the API at base is found to be this installation's, and the last try's error otherwise.
func (p *process) tryPublicURL(ctx context.Context, base string, pause time.Duration) (err error) {
	wait := time.NewTimer(pause)
	defer wait.Stop()

	for range publicTries {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-wait.C:
			wait.Reset(pause)
		}

		if err = p.checkPublicURL(ctx, base); err == nil {
			return nil
		}
	}

	return err
}

// checkPublicURL returns errNotOurs unless the API at base publishes one of this installation's keys of access tokens.
func (p *process) checkPublicURL(ctx context.Context, base string) error {
	ctx, cancel := context.WithTimeout(ctx, publicTime)
	defer cancel()

	ours, err := p.auth.PublicKeys(ctx)
	if err != nil {
		return err
	}

	req, err := http.NewRequestWithContext(ctx, http.MethodGet, base+"/.well-known/jwks.json", nil)
	if err != nil {
		return err
	}

	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return err
	}

	defer func() { _ = res.Body.Close() }()
	var found struct {
		Keys []auth.JWK `json:"keys"`
	}
	err = json.NewDecoder(io.LimitReader(res.Body, publicBytes)).Decode(&found)
	switch {
	case res.StatusCode >= http.StatusInternalServerError:
		return fmt.Errorf("it answers %s", res.Status)
	case err != nil, res.StatusCode != http.StatusOK, !haveKeyInCommon(ours, found.Keys):
		return errNotOurs
	default:
		return nil
	}
}

func haveKeyInCommon(a, b []auth.JWK) bool {
	return slices.ContainsFunc(a, func(one auth.JWK) bool {
		return slices.ContainsFunc(b, func(other auth.JWK) bool { return one.KeyID == other.KeyID && one.X == other.X })
	})
}
