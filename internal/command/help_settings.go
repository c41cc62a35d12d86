package command

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/alecthomas/kong"
)

// helpTopic is the help command: `help` is the overview, `help settings` every setting, `help COMMAND` the command's.
type helpTopic struct {
	Topic string `arg:"" optional:"" help:"settings, or a command."`
}

// Run implements the kong command. helpArgs has turned the help of a command into its --help.
func (h *helpTopic) Run(out io.Writer, app *kong.Application) error {
	if h.Topic == "settings" {
		return writeSettings(out, app)
	}
	return writeOverview(out, app)
}

// helpArgs returns args with `help COMMAND` as `COMMAND --help`.
func helpArgs(args []string) []string {
	if len(args) < 2 || args[0] != "help" || args[1] == "settings" || strings.HasPrefix(args[1], "-") {
		return args
	}
	return append(slices.Clone(args[1:]), "--help")
}

// ownSettings returns the names of the settings that a command's --help shows.
func ownSettings(command string) []string {
	data := []string{"home", "database-url", "database-pooler", "keyset", "log-level", "log-format"}
	role := append(slices.Clone(data), "redis-url", "ops-addr", "ops-user", "ops-password", "public-url",
		"sandboxes")
	switch command {
	case "up":
		return append(role, "addr", "signup", "rate-limit", "inbound-addr", "smtp-url")
	case "api":
		return append(role, "addr", "signup", "rate-limit", "trusted-proxies", "cors-origins", "drain-delay",
			"read-database-url", "inbound-addr")
	case "worker":
		return append(role, "concurrency", "spool", "smtp-url", "mail-from", "mail-helo", "read-database-url")
	case "scheduler":
		return role
	case "ready":
		return []string{"ops-addr"}
	case "openapi", "events", "keys new", "help":
		return nil
	default:
		return data
	}
}

// printHelp is kong's help, with a command's own settings alone.
func printHelp(options kong.HelpOptions, ctx *kong.Context) error {
	selected := ctx.Selected()
	if selected == nil {
		return kong.DefaultHelpPrinter(options, ctx)
	}

	own := ownSettings(strings.TrimPrefix(selected.Path(), ctx.Model.Name+" "))
	for _, flag := range ctx.Model.Flags {
		if !slices.Contains(own, flag.Name) && flag.Name != "help" {
			flag.Hidden = true
		}
	}
	if err := kong.DefaultHelpPrinter(options, ctx); err != nil {
		return err
	}

	_, err := fmt.Fprintf(ctx.Stdout, "\n%s help settings: every setting\n", ctx.Model.Name)

	return err
}

// writeSettings writes every setting: its flag, its variable, its default, and what it is for.
func writeSettings(out io.Writer, app *kong.Application) error {
	var text strings.Builder
	title := ""
	for _, flag := range app.Flags {
		if len(flag.Envs) == 0 {
			continue
		}
		if flag.Group != nil && flag.Group.Title != title {
			title = flag.Group.Title
			fmt.Fprintf(&text, "%s\n\n", title)
		}

		fmt.Fprintf(&text, "  --%s, %s", flag.Name, strings.Join(flag.Envs, ", "))
		if flag.HasDefault {
			fmt.Fprintf(&text, " (%s)", flag.Default)
		}
		fmt.Fprintf(&text, "\n      %s\n\n", flag.Help)
	}

	_, err := io.WriteString(out, strings.TrimSuffix(text.String(), "\n"))

	return err
}
