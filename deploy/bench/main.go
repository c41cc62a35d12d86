// Command bench measures the claims of this repository, each against a floor or a peer, in one run. Run it from the
// project's root with go run -C deploy/bench . NAME, where NAME is one of:
//
//	score            a lead score with its reasons
//	learning         a training on 100,000 outcomes
//	limiter          one rate limit decision, against redis_rate's
//	api              the service, against the same SQL in a bare loop
//	billing          a change of plan without the payment processor's time, and an event's acknowledgement
//	entitlements     an org's entitlements, at 1,000 requests per second
//	webhooklog       lists of webhook deliveries at 5 million attempts, and their retention;
//	                 the first run builds them, in minutes; webhooklog=100000 is a small trial
//	webhooks         deliveries, against a bare client that records nothing
//	feeder           a round of the jobs' feeder with a million jobs, beside a plain round trip
//	deadjobs         searches of a million dead jobs by every set of fields; deadjobs=50000 is a small trial
//	oauth            claims of due tokens out of a million; building them takes some minutes
//	ask              checks for certificates, at 10,000 custom domains, also with Postgres stopped
//	crm              the CRM at a million contacts of one org among 200: crm=list or any of its sections alone; the
//	                 first run builds them, in minutes; crm=list,contacts:20000 is a small trial
//	console          the console in Chromium, beside a page of static rows, in the orgs of crm;
//	                 console=20000 is a small trial
//	scorer -data FILE  models that orgs learn from the outcomes in a file, through the product; a relative FILE is
//	                 relative to deploy/bench
//	tracking         opens and clicks of emails, beside bare inserts
//	inbound          replies by HTTP, until email.replied is committed
//	inbound -corpus DIR  classes of the mails in DIR/reports, beside what DIR/sisimai.tsv says of them
//	mail             emails through one SMTP server, beside a floor that only speaks SMTP
//	broadcast        a broadcast to 10,000 contacts, and one whose worker is killed; broadcast=100000 is the full size
//	sequences        kills beside the rules of listmonk and Notifuse; enrolment, due steps, fairness and ticks at a
//	                 million contacts: sequences=kills or any of kills, enrol, due, fair, closed alone;
//	                 sequences=due,contacts:20000 is a small trial
//	way              a contact's whole way, from its POST to its webhook's delivery, beside bare SQL and a bare client
//	aged             every GET operation with its filters and orders, in small to huge orgs of a database with
//	                 2,006 orgs, a year of history and statistics of yesterday; aged=test is a small trial
//	traces           what tracing costs a contact's way: off, 1 % of the traces, all
//	idle             what all roles cost while nothing happens, with the statements that cost most, and how soon the
//	                 roles pick up a job then; idle=100000 has that many orgs, idle=20000,60 is 60 idle seconds long
//	events           the most events that contacts make, and POST at a steady rate below that for 540 s, beside bare
//	                 inserts; events=30 takes 30 s
//	drop             POST while retention drops a day of 10 million events, and while as many bytes of plain files are
//	                 removed; drop=100000 is a small trial
//	sizes            bytes per contact, event, delivery, attempt and job
//	archive          days of 200,000 events that are archived and dropped, beside COPY through gzip; archive=20000
//	                 is a small trial
//	queue            durable jobs, beside plain asynq and River
//	steady           what the statements read that find jobs by key, under a steady load of 30 minutes; steady=2 is a
//	                 small trial
//
// way, mail, webhooks, api and queue take -against REV: then the working tree and that commit, built in a temporary git
// worktree and measured by this bench, take turns, each on servers of its own, and the figures are ratios.
//
// It is a module of its own, so that the peers it measures against are no dependencies of the product.
//
// A machine's speed varies from minute to minute, so no figure is compared with one of another run. Contenders take
// turns in short slices of random order. Each ratio is that of two slices of one round, and the output is the median of
// the rounds with its quartiles. Servers are private ones on loopback or unix sockets. The service runs as the built
// binary, never in the process that loads it.
package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/signal"
	"runtime"
	"strings"
	"syscall"
	"time"
)

// atMost is the timeout of a benchmark.
const atMost = 3 * time.Minute

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, os.Args[1:])
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

// toBuild is the timeout of a benchmark that builds a large data set first.
const toBuild = time.Hour

// commandLine is printed for -h and as the error of a wrong command line.
const commandLine = "usage: go run -C deploy/bench . " +
	"aged[=bench|test|year]|archive[=events]|ask|broadcast[=contacts]|console[=contacts]|" +
	"crm[=sections]|score|learning|limiter|api|billing|entitlements|" +
	"drop[=events]|events[=seconds]|feeder|deadjobs[=jobs]|idle[=orgs[,seconds]]|inbound|" +
	"inbound -corpus DIR|mail|oauth|" +
	"queue|" +
	"scorer -data FILE|sequences[=sections]|sizes|steady[=minutes]|traces|tracking|way|webhooks|" +
	"webhooklog[=attempts], or way|mail|webhooks|api|queue -against REV"

var errUsage = errors.New(commandLine)

func run(ctx context.Context, args []string) error {
	if len(args) == 3 && args[0] == "scorer" && args[1] == "-data" {
		return timed(ctx, args[0], toBuild, scorer(args[2]))
	}
	if len(args) == 3 && args[0] == "inbound" && args[1] == "-corpus" {
		return timed(ctx, args[0]+" corpus", atMost, reports(args[2]))
	}
	if len(args) == 3 && args[1] == "-against" && turners()[args[0]] != nil {
		return timed(ctx, args[0]+" against "+args[2], toBuild, against(args[0], args[2]))
	}
	if len(args) == 2 && args[0] == "turns" && turners()[args[1]] != nil { // a child of -against
		return takeTurns(ctx, args[1])
	}
	if len(args) == 2 && args[0] == "sink" { // a child of mail
		return sink(ctx, args[1])
	}
	if len(args) == 4 && args[0] == "model" { // a child of sequences
		return model(ctx, args[1], args[2], args[3])
	}
	if len(args) != 1 {
		return errUsage
	}
	if args[0] == "-h" || args[0] == "--help" {
		fmt.Println(commandLine)
		return nil
	}
	benches := map[string]func(context.Context, *slog.Logger) error{
		"ask": asks, "score": score, "learning": learning, "limiter": limiter, "api": service, "billing": bills,
		"entitlements": entitlements, "feeder": feeder, "oauth": tokens, "queue": jobQueue, "webhooks": hooks,
		"way": ways, "traces": traces, "sizes": sizes, "tracking": visits, "mail": mails, "inbound": replies,
	}
	limit := atMost
	if args[0] == "feeder" || args[0] == "mail" || args[0] == "sizes" || args[0] == "traces" || args[0] == "oauth" ||
		args[0] == "inbound" {
		limit = toBuild
	}
	for _, b := range []struct {
		name         string
		usual, least int
		run          func(context.Context, *slog.Logger, int) error
	}{
		{"archive", archiveRows, 1, archives},
		{"events", 540, 1, eventFlow},
		{"drop", 10_000_000, 1, drops},
		{"steady", steadyMinutes, 1, steady},
		{"held", heldMinutes, 1, held},
		{"webhooklog", 5_000_000, logDays, webhookLog},
		{"deadjobs", 1_000_000, 1000, deadJobs},
		{"broadcast", 10_000, 1000, broadcastBench},
		{"console", crmContacts, 2 * scrolledRows, consoleBench},
	} {
		if n, ok := sized(args[0], b.name, b.usual, b.least); ok {
			limit = toBuild
			benches[args[0]] = func(ctx context.Context, log *slog.Logger) error { return b.run(ctx, log, n) }
		}
	}
	if size, ok := agedArgs(args[0]); ok {
		limit = toBuild
		benches[args[0]] = func(ctx context.Context, log *slog.Logger) error { return agedBench(ctx, log, size) }
	}
	if orgs, length, ok := idleArgs(args[0]); ok {
		limit = toBuild
		benches[args[0]] = func(ctx context.Context, log *slog.Logger) error { return idle(ctx, log, orgs, length) }
	}
	if sections, ok := strings.CutPrefix(args[0], "sequences"); ok {
		n, names, err := sequencesArgs(sections)
		if err != nil {
			return err
		}
		limit = toBuild
		benches[args[0]] = func(ctx context.Context, log *slog.Logger) error {
			return sequencesBench(ctx, log, n, names)
		}
	}
	if sections, ok := strings.CutPrefix(args[0], "crm"); ok {
		n, names, err := crmArgs(sections)
		if err != nil {
			return err
		}
		limit = toBuild
		benches[args[0]] = func(ctx context.Context, log *slog.Logger) error { return crmBench(ctx, log, n, names) }
	}
	bench, ok := benches[args[0]]
	if !ok {
		return errUsage
	}
	return timed(ctx, args[0], limit, bench)
}

// timed prints the environment, and runs it for at most limit.
func timed(ctx context.Context, name string, limit time.Duration,
	bench func(context.Context, *slog.Logger) error,
) error {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	fmt.Printf("%s, %s/%s, %d CPUs, %s\n", name, runtime.GOOS, runtime.GOARCH, runtime.NumCPU(), time.Now().UTC().
		Format(time.RFC3339))
	return bench(ctx, slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelWarn})))
}
