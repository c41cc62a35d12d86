package api_test

import (
	"io"
	"net/http"

	"github.com/funnelwork/funnelwork/internal/testkit/aged"
)

// agedCaller reads in an org of an aged database.
type agedCaller struct {
	*service
	org   aged.Org
	token string // of an owner: API keys may not read all
}

// get sends one read.
func (w *agedCaller) get(path string) (int, []byte) {
	w.Helper()
	req, err := http.NewRequestWithContext(w.Context(), http.MethodGet, w.URL+path, nil)
	if err != nil {
		w.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+w.token)
	res, err := keepAlive.Do(req)
	if err != nil {
		w.Fatalf("%s: %v", path, err)
	}
	defer func() { _ = res.Body.Close() }()
	b, err := io.ReadAll(res.Body)
	if err != nil {
		w.Fatalf("%s: %v", path, err)
	}
	return res.StatusCode, b
}
