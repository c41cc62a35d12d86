package store

import "github.com/funnelwork/funnelwork/internal/queue"

// Aliases maps the alias of each kind that is being renamed to the kind's name. Rows, tasks and pauses may have either;
// metrics, logs and operators see the name alone. A nil Aliases has no aliases. jobs/README.md describes how a kind is
// renamed.
type Aliases map[string]string

// AliasesOf returns the aliases of the handlers' kinds.
func AliasesOf(handlers []queue.Handler) Aliases {
	out := make(Aliases)
	for _, h := range handlers {
		if h.Options.Alias != "" {
			out[h.Options.Alias] = h.Kind
		}
	}
	return out
}

// Name returns the name of the kind with the given name or alias.
func (a Aliases) Name(kind string) string {
	if name, is := a[kind]; is {
		return name
	}
	return kind
}

// Names returns the name and the alias of the kind with the given name or alias.
func (a Aliases) Names(kind string) []string {
	out := []string{a.Name(kind)}
	for alias, name := range a {
		if name == out[0] {
			out = append(out, alias)
		}
	}
	return out
}
