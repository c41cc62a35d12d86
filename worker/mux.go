package worker

import (
	"fmt"

	"github.com/funnelwork/funnelwork/internal/queue"
)

// handlersByName maps the names and aliases of kinds to handlers, by exact name; asynq's own mux matches prefixes.
func handlersByName(handlers []queue.Handler) (map[string]queue.Handler, error) {
	out := make(map[string]queue.Handler, len(handlers))
	for _, h := range handlers {
		if (h.Call == nil) == (h.Tx == nil) {
			return nil, fmt.Errorf("job kind %s needs either Call or Tx", h.Kind)
		}
		names := []string{h.Kind}
		if h.Options.Alias != "" {
			names = append(names, h.Options.Alias)
		}
		for _, name := range names {
			if _, twice := out[name]; twice {
				return nil, fmt.Errorf("job kind %s has two handlers", name)
			}
			out[name] = h
		}
	}

	return out, nil
}
