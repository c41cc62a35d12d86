package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"text/tabwriter"
	"time"
)

// againstRounds is the rounds of two commits, after one that warms up.
const againstRounds = 7

// figures are the results of one turn, by name.
type figures map[string]float64

// Figures of every bench.
const (
	rate          = "per second"
	processorTime = "processor, us" // of one operation, in all processes
	walBytes      = "WAL, bytes"    // of one operation
	redisTrips    = "Redis reads"   // of one operation
)

// turner starts a bench and returns its turns.
type turner func(ctx context.Context, log *slog.Logger) (turn func(context.Context) (figures, error), end func(),
	err error)

func turners() map[string]turner {
	type turn = func(context.Context) (figures, error)
	return map[string]turner{
		"way": func(ctx context.Context, log *slog.Logger) (turn, func(), error) {
			s, err := openWay(ctx, log, wayCompared)
			if err != nil {
				return nil, nil, err
			}
			return s.figures, s.close, nil
		},
		"webhooks": func(ctx context.Context, log *slog.Logger) (turn, func(), error) {
			x, err := openExchange(ctx, log)
			if err != nil {
				return nil, nil, err
			}
			return x.figures, x.close, nil
		},
		"mail": func(ctx context.Context, log *slog.Logger) (turn, func(), error) {
			p, err := openPost(ctx, log, mailsCompared)
			if err != nil {
				return nil, nil, err
			}
			return p.figures, p.close, nil
		},
		"api": func(ctx context.Context, log *slog.Logger) (turn, func(), error) {
			h, err := openAPI(ctx, log)
			if err != nil {
				return nil, nil, err
			}
			return h.figures, h.close, nil
		},
		"queue": func(ctx context.Context, log *slog.Logger) (turn, func(), error) {
			b, err := newBenchQueue(ctx, log)
			return b.figures, b.close, err
		},
	}
}

// takeTurns starts a bench, and for each line of the standard input takes a turn and prints its figures as one line.
func takeTurns(ctx context.Context, name string) error {
	turn, end, err := turners()[name](ctx, slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{
		Level: slog.LevelWarn,
	})))
	if end != nil {
		defer end()
	}
	if err != nil {
		return err
	}
	out := json.NewEncoder(os.Stdout)
	if err := out.Encode(figures{}); err != nil { // it is ready
		return err
	}
	for in := bufio.NewScanner(os.Stdin); in.Scan(); {
		f, err := turn(ctx)
		if err != nil {
			return err
		}
		if err := out.Encode(f); err != nil {
			return err
		}
	}
	return nil
}

// against compares the working tree with the commit rev, and prints the figures of both and their ratios by round.
func against(name, rev string) func(context.Context, *slog.Logger) error {
	return func(ctx context.Context, _ *slog.Logger) error {
		dir, err := os.MkdirTemp("", "funnelwork-against-")
		if err != nil {
			return err
		}
		defer func() { _ = os.RemoveAll(dir) }()
		other, remove, err := checkOut(ctx, rev, filepath.Join(dir, "tree"))
		if err != nil {
			return err
		}
		defer remove()
		var sides [2]*side
		for i, tree := range []string{other, "."} {
			if sides[i], err = startSide(ctx, tree, filepath.Join(dir, fmt.Sprint("bench", i)), name); err != nil {
				return err
			}
			defer sides[i].stop()
		}
		var results [2][]figures
		for round := range againstRounds + 1 {
			for _, i := range rand.Perm(len(sides)) {
				f, err := sides[i].turn()
				if err != nil {
					return err
				}
				if round > 0 {
					results[i] = append(results[i], f)
				}
			}
		}
		return compare(rev, results)
	}
}

// checkOut makes a worktree of rev, with this bench in place of its own, and returns the bench's directory in it.
func checkOut(ctx context.Context, rev, tree string) (bench string, remove func(), err error) {
	git := func(args ...string) error {
		out, err := exec.CommandContext(ctx, "git", args...).CombinedOutput()
		if err != nil {
			return fmt.Errorf("git %s: %w: %s", strings.Join(args, " "), err, out)
		}
		return nil
	}
	if err := git("worktree", "add", "--detach", tree, rev); err != nil {
		return "", nil, err
	}
	remove = func() {
		ctx = context.WithoutCancel(ctx)
		_ = git("worktree", "remove", "--force", tree)
	}
	bench = filepath.Join(tree, "deploy", "bench")
	if err = os.RemoveAll(bench); err == nil {
		err = os.CopyFS(bench, os.DirFS("."))
	}
	if err != nil {
		remove()
	}
	return bench, remove, err
}

// side is the bench of one commit, in a process of its own.
type side struct {
	cmd *exec.Cmd
	in  io.WriteCloser
	out *json.Decoder
}

// startSide builds the bench in tree, whose go.mod takes the product from the tree around it, and starts it.
func startSide(ctx context.Context, tree, binary, name string) (*side, error) {
	build := exec.CommandContext(ctx, "go", "build", "-o", binary, ".")
	build.Dir = tree
	if out, err := build.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("build the bench in %s: %w\n%s", tree, err, out)
	}
	s := &side{cmd: exec.CommandContext(ctx, binary, "turns", name)}
	s.cmd.Dir, s.cmd.Stderr = tree, os.Stderr
	s.cmd.Cancel = func() error { return s.cmd.Process.Signal(os.Interrupt) }
	s.cmd.WaitDelay = 10 * time.Second
	var err error
	if s.in, err = s.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	out, err := s.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	s.out = json.NewDecoder(out)
	if err := s.cmd.Start(); err != nil {
		return nil, err
	}
	if err := s.out.Decode(&figures{}); err != nil {
		s.stop()
		return nil, fmt.Errorf("start the bench of %s: %w", tree, err)
	}
	return s, nil
}

func (s *side) turn() (f figures, err error) {
	if _, err := fmt.Fprintln(s.in, "turn"); err != nil {
		return nil, err
	}
	err = s.out.Decode(&f)
	return f, err
}

// stop ends the process and waits for it.
func (s *side) stop() {
	_ = s.in.Close()
	_ = s.cmd.Wait()
}

// compare prints each figure of both sides with its quartiles, and the ratio of each round's two.
func compare(rev string, results [2][]figures) error {
	if len(results[0]) == 0 {
		return errors.New("no rounds")
	}
	load, _ := os.ReadFile("/proc/loadavg")
	fmt.Printf("%d alternating rounds, median [quartiles]; load %s\n", len(results[0]), strings.TrimSpace(string(load)))
	t := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintf(t, "\t%s\tworking tree\tratio, by round\n", rev)
	for _, name := range slices.Sorted(maps.Keys(results[0][0])) {
		at := func(f figures) float64 { return f[name] }
		ratio := make([]float64, len(results[0]))
		for i := range ratio {
			ratio[i] = results[1][i][name] / results[0][i][name]
		}
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\n", name, spreadOf(each(results[0], at)), spreadOf(each(results[1], at)),
			spreadOf(ratio))
	}
	return t.Flush()
}
