package oauth

import (
	"net/http"

	"github.com/funnelwork/funnelwork/internal/sandbox/inprocess"
)

// Transport returns a RoundTripper that calls the sandbox without a network. A request that was begun is completed even
// if the caller gives up; a response that a fault drops is io.ErrUnexpectedEOF.
func (s *Sandbox) Transport() http.RoundTripper {
	return inprocess.Transport{Handler: s.routes, Calls: &s.calls}
}
