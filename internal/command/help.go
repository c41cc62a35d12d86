package command

import (
	"errors"
	"fmt"
	"io"
	"regexp"
	"runtime"
	"runtime/debug"
	"strings"
	"text/tabwriter"

	"github.com/alecthomas/kong"
)

const about = "Contacts, lead scores, webhooks, billing, accounts and white label."

// version is the release, such as v1.4.0. A release's build sets it:
// -ldflags "-X github.com/funnelwork/funnelwork/internal/command.version=v1.4.0". Other builds have the module's.
var version string

// versionLine returns what --version prints: "funnelwork v1.4.0 (go1.26.8, linux/amd64)". A build without a version is
// "devel".
func versionLine() string {
	shown := version
	if info, ok := debug.ReadBuildInfo(); ok && shown == "" {
		shown = strings.Trim(info.Main.Version, "()")
	}
	if shown == "" {
		shown = "devel"
	}

	return fmt.Sprintf("funnelwork %s (%s, %s/%s)", shown, runtime.Version(), runtime.GOOS, runtime.GOARCH)
}

// writeOverview writes what funnelwork prints without arguments: its commands, and where the rest of the help is. The
// settings, which are many, are left to --help.
func writeOverview(to io.Writer, app *kong.Application) error {
	out := tabwriter.NewWriter(to, 0, 0, 3, ' ', 0)
	fmt.Fprintf(out, "Usage: funnelwork <command> [flags]\n\n%s\n\nTry it: funnelwork up\n\nCommands:\n", about)
	for _, command := range app.Children {
		if !command.Hidden {
			fmt.Fprintf(out, "  %s\t%s\n", command.Name, command.Help)
		}
	}

	fmt.Fprint(out, "\nfunnelwork <command> --help: a command's arguments and flags\n"+
		"funnelwork help settings: every setting\nfunnelwork --version: the version\n")

	return out.Flush()
}

// flagAtBegin matches an error of the parser about a flag's value.
var flagAtBegin = regexp.MustCompile(`^--([a-z0-9-]+)(:| must be )`)

// explainParse returns the parser's error with more help. One about a command that is missing or unknown gets the names
// of the commands that exist, if none is near enough to be suggested; one about the value of a flag gets the
// environment variable that may have set it. Other errors are returned as they are.
func explainParse(err error) error {
	parse, ok := errors.AsType[*kong.ParseError](err)
	if !ok {
		return err
	}
	if m := flagAtBegin.FindStringSubmatch(err.Error()); m != nil {
		for _, flag := range parse.Context.Flags() {
			if flag.Name == m[1] && len(flag.Envs) > 0 && !strings.Contains(err.Error(), flag.Envs[0]) {
				return fmt.Errorf("--%s (%s)%s", m[1], flag.Envs[0], strings.TrimPrefix(err.Error(), "--"+m[1]))
			}
		}
		return err
	}

	node := parse.Context.Model.Node
	prefix := ""
	if selected := parse.Context.Selected(); selected != nil {
		node, prefix = selected, selected.Path()+": "
	}

	var names []string
	for _, child := range node.Children {
		names = append(names, child.Name)
	}

	if len(names) == 0 {
		return err
	}

	commands := "want one of " + strings.Join(names, ", ")
	word, unknown := strings.CutPrefix(err.Error(), "unexpected argument ")
	switch {
	case unknown && strings.Contains(word, "did you mean"):
		return fmt.Errorf("%sunknown command %s", prefix, word)
	case unknown:
		return fmt.Errorf("%sunknown command %s; %s", prefix, word, commands)
	case strings.HasPrefix(err.Error(), "expected "):
		return fmt.Errorf("%sthe command is missing; %s", prefix, commands)
	default:
		return err
	}
}
