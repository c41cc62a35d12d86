package oauth

import (
	"net/http"

	"github.com/funnelwork/funnelwork/internal/sandbox/inprocess"
)

// Transport carries requests into the sandbox without a network. A caller that goes away does not undo what was begun;
// an answer that a fault drops is io.ErrUnexpectedEOF.
func (s *Sandbox) Transport() http.RoundTripper {
	return inprocess.Transport{Handler: s.routes, Calls: &s.calls}
}
