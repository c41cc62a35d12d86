package command

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/alecthomas/kong"

	"github.com/funnelwork/funnelwork/internal/redisx"
	"github.com/funnelwork/funnelwork/internal/telemetry"
)

type cli struct {
	settings `group:"Settings"`

	Version kong.VersionFlag `help:"Print the version."`

	Up        up           `cmd:"" help:"Run everything in one process, with private servers where none are given."`
	API       role         `cmd:"" name:"api" help:"Run the API."`
	Worker    role         `cmd:"" help:"Run jobs."`
	Scheduler reminder     `cmd:"" help:"Add the jobs that are due by the clock. Any number may run."`
	Migrate   migrate      `cmd:"" help:"Bring the database to this version's schema."`
	Ready     ready        `cmd:"" help:"Ask the process at --ops-addr whether it is ready, as a health check."`
	User      userGroup    `cmd:"" help:"People."`
	Jobs      jobsGroup    `cmd:"" help:"Jobs: search, run again, drop, pause."`
	Keys      keysGroup    `cmd:"" help:"Keys that sign and seal."`
	Billing   billingGroup `cmd:"" help:"Plans and payments."`

	Orgs         orgsGroup         `cmd:"" help:"Orgs: search, suspend, resume, rights, usage."`
	Suppressions suppressionsGroup `cmd:"" help:"Addresses and domains to which no org writes."`

	Demo    demoData  `cmd:"" help:"Fill an org with half a year of made-up data."`
	OpenAPI openapi   `cmd:"" name:"openapi" help:"Print the API's document."`
	Events  catalogue `cmd:"" help:"Print the types of events with their schemas and samples."`
	Help    helpTopic `cmd:"" help:"Print every setting, or the help of a command."`
}

// Run is the process: args are those after its name. It returns the exit status: 0 is success, 1 an error that one line
// on stderr describes. Without arguments it prints an overview of the commands on stdout, which is a success.
func Run(args []string, stdout, stderr *os.File) int {
	var c cli
	exit := -1
	parser := kong.Must(&c, kong.Name("funnelwork"), kong.Description(about+" Try it: funnelwork up"),
		kong.Vars{"version": versionLine()}, kong.PostBuild(setHelp), helpGroups(), kong.Help(printHelp),
		kong.Writers(stdout, stderr),
		kong.Exit(func(code int) { exit = code }))
	if len(args) == 0 {
		if err := writeOverview(stdout, parser.Model); err != nil {
			return 1
		}
		return 0
	}

	forgetEmpty(parser)
	k, err := parser.Parse(helpArgs(args))
	if exit >= 0 {
		return exit
	}
	if err == nil {
		ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
		context.AfterFunc(ctx, stop) // a second signal ends the process at once
		k.BindTo(ctx, (*context.Context)(nil))
		k.BindTo(stdout, (*io.Writer)(nil))
		log := c.newLogger(stderr)
		warnUnknown(ctx, log, parser.Model, os.Environ())
		err = k.Run(&c.settings, log, c.Jobs.storeOpener(&c.settings, log, stdout), parser.Model)
		if ctx.Err() != nil && errors.Is(err, context.Canceled) {
			err = nil // stopped on request before it was up
		}

		stop()
	}
	if err != nil {
		_, _ = fmt.Fprintln(stderr, "funnelwork:", strings.Join(strings.Fields(explainParse(err).Error()), " "))
		return 1
	}

	return 0
}

// forgetEmpty removes empty settings from the environment, so that they count as not set: a compose file or a manifest
// that passes a setting on cannot omit it.
func forgetEmpty(parser *kong.Kong) {
	declared := map[string]bool{}
	_ = kong.Visit(parser.Model, func(node kong.Visitable, next kong.Next) error {
		if flag, ok := node.(*kong.Flag); ok {
			for _, name := range flag.Envs {
				declared[name] = true
			}
		}
		return next(nil)
	})

	for _, pair := range os.Environ() {
		if name, value, _ := strings.Cut(pair, "="); value == "" && declared[name] {
			_ = os.Unsetenv(name)
		}
	}
}

func (s *settings) newLogger(to *os.File) *slog.Logger {
	var level slog.Level
	_ = level.UnmarshalText([]byte(s.LogLevel)) // kong has checked it
	info, err := to.Stat()
	terminal := err == nil && info.Mode()&os.ModeCharDevice != 0
	log := telemetry.NewLogger(to, s.LogFormat == "text" || s.LogFormat == "auto" && terminal, level)
	redisx.LogTo(log)
	return log
}
