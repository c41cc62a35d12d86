package command

import (
	"context"
	"log/slog"
	"regexp"
	"slices"
	"strings"

	"github.com/alecthomas/kong"

	"github.com/funnelwork/funnelwork/internal/fault"
)

// serviceLink matches the variables that Kubernetes sets for a service whose name begins with funnelwork.
var serviceLink = regexp.MustCompile(`_(SERVICE_HOST|SERVICE_PORT(_.*)?|PORT(_\d+_(TCP|UDP)(_.*)?)?)$`)

// warnUnknown logs a warning for each variable of the environment that is named like a setting and is none, with the
// nearest names: a setting with a typing error would otherwise be ignored in silence.
func warnUnknown(ctx context.Context, log *slog.Logger, app *kong.Application, environ []string) {
	known := declaredVariables(app)
	for _, pair := range environ {
		name, _, _ := strings.Cut(pair, "=")
		if !strings.HasPrefix(name, "FUNNELWORK_") || slices.Contains(known, name) || serviceLink.MatchString(name) {
			continue
		}
		log.WarnContext(ctx, "unknown setting in the environment is ignored", "variable", name,
			"hint", strings.TrimSpace(fault.Choices("", name, known)))
	}
}

// declaredVariables returns the names of the environment variables that a flag of any command reads, sorted.
func declaredVariables(app *kong.Application) (names []string) {
	_ = kong.Visit(app, func(node kong.Visitable, next kong.Next) error {
		if flag, ok := node.(*kong.Flag); ok {
			names = append(names, flag.Envs...)
		}
		return next(nil)
	})
	slices.Sort(names)
	return slices.Compact(names)
}
