package worker

import (
	"fmt"

	"github.com/funnelwork/funnelwork/internal/queue"
)

// mux maps kinds to handlers by exact name; asynq's own mux matches prefixes.
func mux(handlers []queue.Handler) (map[string]queue.Handler, error) {
	out := make(map[string]queue.Handler, len(handlers))
	for _, h := range handlers {
		if _, twice := out[h.Kind]; twice {
			return nil, fmt.Errorf("job kind %s has two handlers", h.Kind)
		}
		if (h.Call == nil) == (h.Tx == nil) {
			return nil, fmt.Errorf("job kind %s needs either Call or Tx", h.Kind)
		}
		out[h.Kind] = h
	}
	return out, nil
}
