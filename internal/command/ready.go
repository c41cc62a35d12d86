package command

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"
)

// ready asks the ops listener of another process whether that process is ready. It is the health check of a container,
// whose image has no other program.
type ready struct {
	Exclude []string `help:"Checks that are left out, such as redis."`
}

// readyLimit is longer than the listener's own limit of its checks.
const readyLimit = 5 * time.Second

// maxChecks bounds what is read of the answer, in bytes.
const maxChecks = 64 << 10

var errNotReady = errors.New("not ready")

// Run implements the kong command. It returns an error unless the process is ready.
func (r ready) Run(ctx context.Context, s *settings, out io.Writer) error {
	ctx, cancel := context.WithTimeout(ctx, readyLimit)
	defer cancel()

	at := baseOf(cmp.Or(s.OpsAddr, opsAddr)) + "/readyz?" + url.Values{"exclude": r.Exclude}.Encode()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, at, nil)
	if err != nil {
		return err
	}

	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return fmt.Errorf("%w: %w", errNotReady, err)
	}

	defer func() { _ = res.Body.Close() }()

	var answer struct {
		Checks map[string]struct {
			OK     bool   `json:"ok"`
			Reason string `json:"reason"`
		} `json:"checks"`
	}

	err = json.NewDecoder(io.LimitReader(res.Body, maxChecks)).Decode(&answer)
	if res.StatusCode == http.StatusOK && err == nil {
		_, err = fmt.Fprintln(out, "ready")
		return err
	}

	reasons := []string{res.Status}
	for _, name := range slices.Sorted(maps.Keys(answer.Checks)) {
		if c := answer.Checks[name]; !c.OK {
			reasons = append(reasons, name+": "+c.Reason)
		}
	}

	return fmt.Errorf("%w: %s", errNotReady, strings.Join(reasons, "; "))
}
